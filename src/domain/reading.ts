import type { BalanceAnswer, OutcomeKind } from './outcome.ts';

/** Which of the two balances of an account. */
export const balances = ['sms', 'voip'] as const;

export type Balance = (typeof balances)[number];

/** A valid balance reading ("snapshot" to users). `at`: milliseconds since 1970. */
export interface Reading extends BalanceAnswer {
  readonly at: number;
}

/** One of the balances of an account, as its provider's kind defines it. Accounts of one entry share their list of these. */
export interface BalanceDefinition {
  /** Its key in readings, API, metrics and the `balance` of a rule, such as `sms`. */
  readonly id: string;
  /** For people, such as `SMS`. */
  readonly label: string;
  /** Whether running empty matters: an alert below zero is built in for it. */
  readonly alertsBelowZero: boolean;
}

/** One poll as it is stored: when it ended and how; with a reading exactly when the outcome is `ok`. */
export interface PollRecord {
  readonly at: number;
  readonly outcome: OutcomeKind;
  readonly reading: Reading | null;
}
