import type { Alert } from '../domain/alert.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import type { AnnouncedRun, ExpectedTopUp } from '../domain/operator.ts';
import { type Fact, instant, listFacts, money, type Quantity, text } from '../domain/quantity.ts';
import {
  type AccountState,
  amountOf,
  type Balance,
  type BalanceDefinition,
  isInCurrency,
  type OutcomeKind,
  type Reading,
} from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { describeDuration } from '../domain/time.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { sentences } from '../wording/phrase.ts';

/**
 * The verdict of one rule on one account at one instant.
 *
 * `unknown` is no verdict: the alert keeps its state. `why` says so in words ("42 minutes of history, needs 1 hour").
 * `event` is something that happened and has no end. Facts are added later (`factsBehind`), because `evaluate` runs at each poll.
 */
export type Evaluation = Pick<Alert, 'value' | 'threshold' | 'facts'> &
  (
    | { readonly kind: 'ok' }
    | { readonly kind: 'breached'; readonly severity: Severity }
    | { readonly kind: 'unknown'; readonly why: string }
    | { readonly kind: 'event'; readonly severity: Severity }
  );

/** Everything that a rule may look at. Instants are milliseconds since 1970. */
export interface AccountFacts
  extends Pick<AccountState, 'reading' | 'previous' | 'consecutiveFailures' | 'outcome' | 'unwatchedMs'> {
  readonly now: number;
  /** All rules that watch the account. */
  readonly rules: readonly Rule[];
  readonly balances: readonly BalanceDefinition[];
  /** The configured currency; null when there is none. */
  readonly currency: string | null;
  readonly pollIntervalMs: number;
  /** The mean gap between the polls due after the last reading; longer than the interval if a cron expression rests at night. */
  readonly pollGapMs: number;
  /** Reaches as far back as any rule looks, newest last, `reading` included. */
  readonly log: ReadingLog;
  readonly spending: AccountSpending;
  /** 0, or below it by the credit limit; of one balance: `emptyLevel`. */
  readonly floorMicros: Micros;
  /** The time a payment takes to arrive, in hours of working days; null when nobody said. */
  readonly leadTimeMs: number | null;
  /** Whether the provider says that it tops the account up by itself; null when it does not say. */
  readonly autoRecharge: boolean | null;
  /** Top-ups that people announced and that are not there yet. */
  readonly expected: readonly ExpectedTopUp[];
  /** Runs that people announced, from then until a day after their end. */
  readonly announced: readonly AnnouncedRun[];
  /** When it was last read, or first watched if it never was. */
  readonly readSince: number;
}

const noFacts: readonly Fact[] = [];

/** Breached with a severity, ok with null. */
export function verdict(
  severity: Severity | null,
  value: Quantity | null,
  threshold: Quantity | null = null,
): Evaluation {
  return severity === null
    ? { kind: 'ok', value, threshold, facts: noFacts }
    : { kind: 'breached', severity, value, threshold, facts: noFacts };
}

const outcomes = sentences('outcome', {
  ok: 'ok',
  rate_limited: 'rate_limited',
  auth_failed: 'auth_failed',
  api_error: 'api_error',
  invalid_response: 'invalid_response',
  http_error: 'http_error',
  timeout: 'timeout',
  network_error: 'network_error',
});

export function outcomeFact(outcome: OutcomeKind | null): Quantity {
  return text(outcome === null ? why.notPolled() : outcomes[outcome]());
}

/** `why` is a clause for people. */
export function unknown(why: string): Evaluation {
  return { kind: 'unknown', why, value: null, threshold: null, facts: noFacts };
}

/** The reasons for which several kinds give no verdict. */
export const why = sentences('why', {
  noReading: 'no reading yet',
  notPolled: 'not polled yet',
  noHistory: 'no history yet, needs {needed}',
  tooShort: '{seen} of history, needs {needed}',
  learning: 'spending is still being learned from stored history',
  otherCurrency: 'the reading is in {currency}, the account is configured in {configured}',
});

export function describeHistory(seenMs: number, neededMs: number): string {
  const needed = describeDuration(neededMs);
  return seenMs < 1 ? why.noHistory({ needed }) : why.tooShort({ seen: describeDuration(seenMs), needed });
}

/** Why rules about money cannot judge the account's newest reading; null when they can. */
export function whyUnusable({ reading, currency }: AccountFacts): string | null {
  if (reading === null) return why.noReading();
  return currency === null || isInCurrency({ currency }, reading)
    ? null
    : why.otherCurrency({ currency: reading.currency, configured: currency });
}

export function usableReading(facts: AccountFacts): Reading | null {
  return whyUnusable(facts) === null ? facts.reading : null;
}

/** The judged reading and the one before it: a jump may mean that the provider changed its unit. */
export function readingFacts({ reading, previous }: AccountFacts, balance: Balance): Fact[] {
  if (reading === null) return [];
  const before = previous !== null && isSameCurrency(previous.currency, reading.currency) ? previous : null;
  return listFacts({
    balance: money(amountOf(reading, balance)),
    currency: text(reading.currency),
    'read at': instant(reading.at),
    'previous balance': before && money(amountOf(before, balance)),
    'previously read at': before && instant(before.at),
  });
}
