import type { BalanceAnswer, OutcomeKind } from './outcome.ts';

/** Which of the two balances of an account. */
export const balances = ['sms', 'voip'] as const;

export type Balance = (typeof balances)[number];

/** A valid balance reading ("snapshot" to users). `at` is in milliseconds since 1970, UTC. */
export interface Reading extends BalanceAnswer {
  readonly at: number;
}

/** One poll as it is stored: when it ended and how; with a reading exactly when the outcome is `ok`. */
export interface PollRecord {
  readonly at: number;
  readonly outcome: OutcomeKind;
  readonly reading: Reading | null;
}
