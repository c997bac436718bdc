import type { Balance } from '../domain/reading.ts';

/** `SMS`, `VoIP`. */
export function balanceLabel(balance: Balance): string {
  return balance === 'sms' ? 'SMS' : 'VoIP';
}
