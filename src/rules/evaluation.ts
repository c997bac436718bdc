import { isSameCurrency, type Micros } from '../domain/money.ts';
import type { ExpectedTopUp } from '../domain/operator.ts';
import type { Fact, Quantity } from '../domain/quantity.ts';
import { amountOf, type Balance, type Outcome, type Reading } from '../domain/reading.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';

interface EvaluationNumbers {
  /** A balance, runway, spending or age. Null where nothing could be measured. */
  readonly value: Quantity | null;
  readonly threshold: Quantity | null;
  /** Every number behind the verdict; added by `explainRule`, because `evaluate` runs at each poll. */
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
  /** As configured; null where it is not. */
  readonly currency: string | null;
  readonly pollIntervalMs: number;
  /**
   * The mean gap between the polls due after the last reading; longer than the interval where a cron
   * expression rests at night.
   */
  readonly pollGapMs: number;
  readonly reading: Reading | null;
  readonly previous: Reading | null;
  /** As far back as any rule looks, newest last, `reading` included. */
  readonly log: ReadingLog;
  readonly spending: AccountSpending;
  readonly consecutiveFailures: number;
  /** 0, or below it by the credit limit. */
  readonly floorMicros: Micros;
  /** Whether the provider says that it tops the account up by itself; null where it does not say. */
  readonly autoRecharge: boolean | null;
  /** Top-ups that people announced and that are not there yet. */
  readonly expected: readonly ExpectedTopUp[];
  /** Null before the first poll. */
  readonly outcome: Outcome['kind'] | null;
  /** When it was last read, or first watched where it never was. */
  readonly readSince: number;
  /** Time since `readSince` in which lowwater did not watch: it is not staleness. */
  readonly unwatchedMs: number;
}

export interface Numbers {
  readonly value: Quantity | null;
  readonly threshold: Quantity | null;
}

const noFacts: readonly Fact[] = [];

export function ok({ value, threshold }: Numbers): Evaluation {
  return { kind: 'ok', value, threshold, facts: noFacts };
}

export function breached(severity: Severity, { value, threshold }: Numbers): Evaluation {
  return { kind: 'breached', severity, value, threshold, facts: noFacts };
}

export function happened(severity: Severity, { value, threshold }: Numbers): Evaluation {
  return { kind: 'event', severity, value, threshold, facts: noFacts };
}

/** `why` is a clause for people. */
export function unknown(why: string): Evaluation {
  return { kind: 'unknown', why, value: null, threshold: null, facts: noFacts };
}

export function money(micros: Micros): Quantity {
  return { unit: 'money', micros };
}

export function duration(ms: number): Quantity {
  return { unit: 'duration', ms };
}

export function text(words: string): Quantity {
  return { unit: 'text', text: words };
}

export function moneyFact(name: string, micros: Micros): Fact {
  return { name, value: money(micros) };
}

export function durationFact(name: string, ms: number): Fact {
  return { name, value: duration(ms) };
}

export function textFact(name: string, words: string): Fact {
  return { name, value: text(words) };
}

export function instantFact(name: string, at: number): Fact {
  return { name, value: { unit: 'instant', at } };
}

export function countFact(name: string, count: number): Fact {
  return { name, value: { unit: 'count', count } };
}

/** Why money rules cannot judge the account's newest reading; null when they can. */
export function unusable(facts: AccountFacts): string | null {
  if (facts.reading === null) return 'no reading yet';
  if (facts.currency !== null && !isSameCurrency(facts.currency, facts.reading.currency)) {
    return `the reading is in ${facts.reading.currency}, the account is configured in ${facts.currency}`;
  }
  return null;
}

export function usableReading(facts: AccountFacts): Reading | null {
  return unusable(facts) === null ? facts.reading : null;
}

/** The judged reading and the one before it: a jump may mean that the provider changed its unit. */
export function readingFacts(facts: AccountFacts, balance: Balance): Fact[] {
  const { reading, previous } = facts;
  if (reading === null) return [];
  const found = [
    moneyFact('balance', amountOf(reading, balance)),
    textFact('currency', reading.currency),
    instantFact('read at', reading.at),
  ];
  if (previous !== null && isSameCurrency(previous.currency, reading.currency)) {
    found.push(
      moneyFact('previous balance', amountOf(previous, balance)),
      instantFact('previously read at', previous.at),
    );
  }
  return found;
}
