import type { Micros } from './money.ts';
import type { Balance } from './reading.ts';

/** A number with its unit; `text` is for anything else, such as a currency. */
export type Quantity =
  | { readonly unit: 'money'; readonly micros: Micros }
  | { readonly unit: 'duration'; readonly ms: number }
  | { readonly unit: 'text'; readonly text: string };

type FactValue =
  | Quantity
  | { readonly unit: 'instant'; readonly at: number }
  | { readonly unit: 'count'; readonly count: number };

export interface Fact {
  readonly name: string;
  readonly value: FactValue;
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

export function instant(at: number): FactValue {
  return { unit: 'instant', at };
}

export function count(count: number): FactValue {
  return { unit: 'count', count };
}

/** The name of the fact that says which balance the amounts are of, in a rule about a whole account. */
export const ofBalance = 'to balance';

/** The balance whose unit the amounts of a verdict have. */
export function balanceOf(balance: Balance | null | undefined, facts: readonly Fact[]): Balance | null {
  const said = facts.find(({ name }) => name === ofBalance)?.value;
  return balance ?? (said?.unit === 'text' ? said.text : null);
}

/** Facts in the order given, without those that are null. */
export function listFacts(values: Readonly<Record<string, FactValue | null>>): Fact[] {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
}

/** The trust in the history behind a burn rate. */
export type Confidence = 'none' | 'low' | 'medium' | 'high';

/** The mean burn (under a day of history), the hour of the day (under a week), or the hour of the week. */
export const forecastBases = ['mean-burn', 'hour-of-day', 'hour-of-week'] as const;

export type ForecastBasis = (typeof forecastBases)[number];

/** The spending to come: the median and the 80 % range. */
export type ExpectedSpending = Readonly<Record<'micros' | 'low' | 'high', Micros>>;

/** The spending of several balances of one currency in a period. */
export interface PeriodTogether {
  readonly spent: Micros;
  /** At its end. */
  readonly total: ExpectedSpending;
  /** Whether all of it was watched from its beginning. */
  readonly isWhole: boolean;
}

/** The error of one balance's forecasts that came due in the last two weeks. */
export interface ForecastRecord {
  readonly aheadMs: number;
  readonly count: number;
  /** 0.04: the median forecast was 4 % too high or too low. */
  readonly medianError: number;
  readonly tooLow: number;
}

/** The median, and the interval that holds four times in five. Null is unknown, or too far ahead to predict. */
export interface Forecast {
  readonly emptyAt: number | null;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly basis: ForecastBasis;
}
