import type { Micros } from './money.ts';
import type { BalanceAnswer, OutcomeKind } from './outcome.ts';

/** Which of the balances of an account: the id of a `BalanceDefinition`. */
export type Balance = string;

/**
 * A valid balance reading ("snapshot" to users): every balance that the account had at that time. `at`: milliseconds since 1970.
 */
export interface Reading extends BalanceAnswer {
  readonly at: number;
}

/** A value for each balance, by its id, in their order. */
export function ofEach<T>(
  balances: readonly BalanceDefinition[],
  value: (balance: Balance) => T,
): Readonly<Record<Balance, T>> {
  const found: Record<Balance, T> = {};
  for (const { id } of balances) found[id] = value(id);
  return found;
}

/** Each balance's value made into another one. */
export function mapEach<From, To>(
  values: Readonly<Record<Balance, From>>,
  to: (value: From) => To,
): Record<Balance, To> {
  return Object.fromEntries(Object.entries(values).map(([balance, value]) => [balance, to(value)]));
}

/** One balance of a reading of an account that has it. Throws where it has not: nothing is invented in its place. */
export function amountOf({ balances }: BalanceAnswer, balance: Balance): Micros {
  const micros = balances[balance];
  if (micros === undefined) throw new Error(`a reading without the balance ${balance} was used for it`);
  return micros;
}

/** Whether two readings are of the same balances, in the same order. */
export function hasSameBalances(
  { balances: left }: BalanceAnswer,
  { balances: right }: BalanceAnswer,
): boolean {
  if (left === right) return true;
  for (const balance in left) if (right[balance] === undefined) return false;
  for (const balance in right) if (left[balance] === undefined) return false;
  return true;
}

/** Whether a reading has all of these balances: one of another provider, or of before they were configured, has not. */
export function hasBalances({ balances }: BalanceAnswer, wanted: readonly BalanceDefinition[]): boolean {
  return wanted.every(({ id }) => balances[id] !== undefined);
}

/** One of the balances of an account, as its provider's kind defines it. Accounts of one entry share their list of these. */
export interface BalanceDefinition {
  /** Its key in readings, API, metrics and the `balance` of a rule, such as `sms`. */
  readonly id: string;
  /** For people, such as `SMS`. */
  readonly label: string;
  /** As `check` prints it, where it prints it otherwise since 0.1.0. */
  readonly checkLabel?: string;
  /** Whether running empty matters: an alert below zero is built in for it. */
  readonly alertsBelowZero: boolean;
}

/** One poll as it is stored: when it ended and how; with a reading exactly when the outcome is `ok`. */
export interface PollRecord {
  readonly at: number;
  readonly outcome: OutcomeKind;
  readonly reading: Reading | null;
}
