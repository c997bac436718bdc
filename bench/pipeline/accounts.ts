/** The accounts that both sides of the benchmark know, by number. */

/** Both balances move: SMS falls at every poll, VoIP stands still. */
export const startBalance = '5000';
export const burnPerHour = '12.5';
/** What the burn makes of 20 seconds, in millionths. */
export const burnPer20sMicros = 69_444;

export function accountId(number: number): string {
  return `account-${String(number).padStart(5, '0')}`;
}

export function accountSecret(number: number): string {
  return `bench-${String(number).padStart(5, '0')}-7f3c9d1e5b8a`;
}

/** The account that a request body or a message speaks of; null when none is named. */
export function accountNumber(text: string): number | null {
  const digits = /(?:account|bench)-(\d{5})/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
