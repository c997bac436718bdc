import type { Micros } from '../domain/money.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Fact, Quantity } from '../domain/quantity.ts';
import type { Reading } from '../domain/reading.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';

interface EvaluationNumbers {
  /** What was judged: a balance, a runway, a spending, an age. Null where nothing could be measured. */
  readonly value: Quantity | null;
  /** What it was held against. */
  readonly threshold: Quantity | null;
  /**
   * Every number behind the verdict. Empty as `evaluate` gives it, which runs at each poll; `explainRule`
   * fills it in.
   */
  readonly facts: readonly Fact[];
}

/**
 * What one rule says of one account at one instant.
 *
 * `unknown` is no verdict: the alert keeps its state. `why` says so in words ("42 minutes of history, needs 1 hour").
 * `event` is a thing that happened, without a state to leave again.
 */
export type Evaluation = EvaluationNumbers &
  (
    | { readonly kind: 'ok' }
    | { readonly kind: 'breached'; readonly severity: Severity }
    | { readonly kind: 'unknown'; readonly why: string }
    | { readonly kind: 'event'; readonly severity: Severity }
  );

/** Everything that a rule may look at. Instants are milliseconds since 1970. */
export interface AccountFacts {
  readonly now: number;
  /** The currency that the configuration names for the account; null where it names none. */
  readonly currency: string | null;
  readonly pollIntervalMs: number;
  /**
   * The mean gap between the polls that are due after the last reading; longer than the interval over a
   * cron's night.
   */
  readonly pollGapMs: number;
  /** The newest `ok` reading, and the one before it. */
  readonly reading: Reading | null;
  readonly previous: Reading | null;
  /** Readings of the longest window that any rule looks back on, newest last, the newest `reading` included. */
  readonly log: ReadingLog;
  /** What is known of the account's spending, and foretold from it. */
  readonly spending: AccountSpending;
  /** How many polls failed since the last that did not. */
  readonly consecutiveFailures: number;
  /** What is empty for the account: 0, or below it by its credit limit. */
  readonly floorMicros: Micros;
  /** How the last poll ended; null before the first. */
  readonly outcome: Outcome['kind'] | null;
  /** When the account was last read, or first watched where it never was. */
  readonly readSince: number;
  /** Time since `readSince` in which lowwater itself was not watching: it counts as no staleness. */
  readonly unwatchedMs: number;
}
