import { dayMs, describeDuration, describeHistory, minuteMs } from '../domain/duration.ts';
import type { Forecast } from '../domain/forecast.ts';
import type { Micros } from '../domain/money.ts';
import { plural } from '../domain/plural.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { type Burn, measureBurn, runwayOf } from '../spending/burn.ts';
import type { AccountFacts } from './evaluation.ts';

/** A rule as far as it goes by the mean burn. */
interface MeanRunwayRule extends MoneyRule {
  /** Null: how long it lasts is foretold. Else by the mean burn over so long. */
  readonly lookbackMs: number | null;
  readonly minimumHistoryMs: number;
  /** True when the file itself set `minimumHistory`: then it alone decides whether the rule may speak. */
  readonly minimumHistoryGiven: boolean;
}

/** Without a `lookback` the mean burn stands in until there is a day to foretell from. */
export function meanLookback(rule: MeanRunwayRule): number {
  return rule.lookbackMs ?? dayMs;
}

export function meanBurn(rule: MeanRunwayRule, { log }: AccountFacts): Burn {
  return measureBurn({ log, balance: rule.balance, lookbackMs: meanLookback(rule) });
}

/** Why the mean burn tells nothing yet; null where it does. */
function tooLittle(rule: MeanRunwayRule, burn: Burn): string | null {
  if (maySpeak(rule, burn)) return null;
  const seen = `${describeHistory(burn.observedMs)} in ${plural(burn.readings, 'reading')}`;
  if (rule.minimumHistoryGiven) {
    return `${seen}, needs ${describeDuration(Math.min(rule.minimumHistoryMs, meanLookback(rule)))}`;
  }
  const neededMs = Math.min(60 * minuteMs, meanLookback(rule) / 2);
  const enough = burn.observedMs >= neededMs && burn.readings >= 6;
  return enough
    ? `${seen}, most of it without polls (confidence ${burn.confidence})`
    : `${seen}, needs ${describeDuration(neededMs)} and 6 readings (confidence ${burn.confidence})`;
}

function maySpeak(rule: MeanRunwayRule, burn: Burn): boolean {
  if (burn.observedMs <= 0) return false;
  if (rule.minimumHistoryGiven) return burn.observedMs >= Math.min(rule.minimumHistoryMs, meanLookback(rule));
  return burn.confidence === 'medium' || burn.confidence === 'high';
}

/** A rule as far as it asks how long a balance lasts. */
export interface RunwayFloorRule extends MeanRunwayRule {
  /** Null: what is empty for the account, 0 or its credit limit. */
  readonly floorMicros: Micros | null;
}

/** How long the balance lasts, with the forecast where it is foretold; or why that cannot be said. */
export type RunwayEstimate =
  | { readonly kind: 'known'; readonly runwayMs: number; readonly forecast: Forecast | null }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * How long what is left above the floor lasts: foretold (spending/forecast.ts), or by the mean burn (`measureBurn`, `runwayOf`) where
 * the rule names a `lookback`, and as long as too little is known to foretell from.
 */
export function estimateRunway(rule: RunwayFloorRule, facts: AccountFacts, reading: Reading): RunwayEstimate {
  const left = leftOf(rule, facts, reading);
  const forecast = rule.lookbackMs === null ? facts.spending.forecastAt(reading, rule.balance, left) : null;
  if (forecast !== null) {
    const { emptyAt } = forecast;
    const runwayMs = emptyAt === null ? Number.POSITIVE_INFINITY : Math.round(emptyAt - reading.at);
    return { kind: 'known', runwayMs, forecast };
  }
  const burn = meanBurn(rule, facts);
  const why = tooLittle(rule, burn);
  if (why !== null) return { kind: 'unknown', why };
  return { kind: 'known', runwayMs: runwayOf(burn, left) ?? Number.POSITIVE_INFINITY, forecast: null };
}

/** Whether it surely lasts so long: a quick answer, false where that is not at once to be seen. */
export function surelyLastsFor(
  rule: RunwayFloorRule,
  facts: AccountFacts,
  { reading, forMs }: { readonly reading: Reading; readonly forMs: number },
): boolean {
  const left = leftOf(rule, facts, reading);
  if (left <= 0) return false;
  if (rule.lookbackMs === null && facts.spending.last?.at === reading.at) {
    // A second more than is asked for: what is foretold is not exact to the millisecond.
    const expected = facts.spending.expected(rule.balance, forMs + 1000);
    if (expected !== null) return expected < left;
  }
  return (runwayOf(meanBurn(rule, facts), left) ?? Number.POSITIVE_INFINITY) >= forMs;
}

export function leftOf(rule: RunwayFloorRule, facts: AccountFacts, reading: Reading): Micros {
  return amountOf(reading, rule.balance) - floorOf(rule, facts);
}

export function floorOf(rule: RunwayFloorRule, facts: AccountFacts): Micros {
  return rule.floorMicros ?? facts.floorMicros;
}

/** What is spent within a time, rounded up. */
export function expectedSpend(rule: RunwayFloorRule, facts: AccountFacts, withinMs: number): Micros {
  const predicted = rule.lookbackMs === null ? facts.spending.expected(rule.balance, withinMs) : null;
  if (predicted !== null) return Math.ceil(predicted);
  const burn = meanBurn(rule, facts);
  return burn.observedMs > 0 ? Math.ceil((withinMs * burn.spentMicros) / burn.observedMs) : 0;
}
