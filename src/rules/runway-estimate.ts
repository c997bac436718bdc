import type { Micros } from '../domain/money.ts';
import type { Forecast } from '../domain/quantity.ts';
import { amountOf, emptyLevel, type Reading } from '../domain/reading.ts';
import type { Ladder, MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { dayMs, describeDuration, minuteMs } from '../domain/time.ts';
import { type Burn, measureBurn, runwayOf } from '../spending/burn.ts';
import { briefBurn, briefRunway } from '../spending/runway.ts';
import { sentences } from '../wording/phrase.ts';
import type { AccountFacts } from './evaluation.ts';

export interface RunwayRule extends MoneyRule {
  readonly type: 'runway';
  /** Milliseconds of runway by severity. */
  readonly thresholds: Ladder<number>;
  /** The steps to which the time is added that a payment made now takes to arrive. */
  readonly afterLeadTime: readonly Severity[];
  /** Null: the account's floor, 0 or below it by its credit limit. */
  readonly floorMicros: Micros | null;
  /** Null: by the forecast. Else by the mean burn over this time. */
  readonly lookbackMs: number | null;
  readonly minimumHistoryMs: number;
  /** True when the file set `minimumHistory`: then it alone decides whether there is a verdict. */
  readonly minimumHistoryGiven: boolean;
}

/** The number of readings from which `measureBurn` has at least medium confidence. */
const minReadings = 6;

/** Without a `lookback` the mean burn is used until there is a day of history. */
export function meanLookback(rule: RunwayRule): number {
  return rule.lookbackMs ?? dayMs;
}

export function meanBurn(rule: RunwayRule, { log }: AccountFacts): Burn {
  return measureBurn({ log, balance: rule.balance, lookbackMs: meanLookback(rule) });
}

/** The burn from which runways follow when there is no forecast. */
export function paceOf(rule: RunwayRule, facts: AccountFacts, reading: Reading | null): Burn {
  return rule.lookbackMs === null && reading !== null
    ? briefBurn({ ...facts, reading, balance: rule.balance })
    : meanBurn(rule, facts);
}

function maySpeak(rule: RunwayRule, burn: Burn): boolean {
  if (burn.observedMs <= 0) return false;
  if (rule.minimumHistoryGiven) return burn.observedMs >= Math.min(rule.minimumHistoryMs, meanLookback(rule));
  return burn.confidence === 'medium' || burn.confidence === 'high';
}

const told = sentences('tooLittle', {
  tooShort: 'not enough history: {seen} of {needed}',
  unwatched: 'not enough history: most of the last {seen} passed without polls',
  tooFew:
    'not enough history: {readings} of {count, plural, one {# reading} other {# readings}}, {seen} of {needed}',
});

/** Why the mean burn is not enough yet. */
export function whyUnknown(rule: RunwayRule, facts: AccountFacts): string {
  const burn = meanBurn(rule, facts);
  const neededMs = rule.minimumHistoryGiven
    ? Math.min(rule.minimumHistoryMs, meanLookback(rule))
    : Math.min(60 * minuteMs, meanLookback(rule) / 2);
  if (!rule.minimumHistoryGiven && burn.observedMs >= neededMs && burn.readings >= minReadings)
    return told.unwatched({ seen: describeDuration(burn.observedMs) });
  const observedMs = Math.min(burn.observedMs, neededMs);
  const seen = observedMs < 1000 ? '0' : describeDuration(observedMs);
  const needed = describeDuration(neededMs);
  return rule.minimumHistoryGiven
    ? told.tooShort({ seen, needed })
    : told.tooFew({ readings: Math.min(burn.readings, minReadings), count: minReadings, seen, needed });
}

/** The estimate by the forecast, or by the mean burn with a `lookback` or too little history; null when unknown (`whyUnknown`). */
export function estimateRunway(
  rule: RunwayRule,
  facts: AccountFacts,
  reading: Reading,
  creditMicros: Micros = 0,
): { readonly runwayMs: number; readonly forecast: Forecast | null } | null {
  const left = leftOf(rule, facts, reading) + creditMicros;
  const forecast = rule.lookbackMs === null ? facts.spending.forecastAt(reading, rule.balance, left) : null;
  if (forecast !== null) {
    const { emptyAt } = forecast;
    return {
      runwayMs: emptyAt === null ? Number.POSITIVE_INFINITY : Math.round(emptyAt - reading.at),
      forecast,
    };
  }
  return maySpeak(rule, meanBurn(rule, facts))
    ? { runwayMs: meanRunway(rule, facts, { reading, left }), forecast: null }
    : null;
}

/** A fast path: false if the answer needs the full estimate. */
export function surelyLastsFor(
  rule: RunwayRule,
  facts: AccountFacts,
  { reading, forMs }: { readonly reading: Reading; readonly forMs: number },
): boolean {
  const left = leftOf(rule, facts, reading);
  if (left <= 0) return false;
  const lasts =
    rule.lookbackMs === null ? facts.spending.lastsLonger(reading, rule.balance, { left, forMs }) : null;
  if (lasts !== null) return lasts;
  return meanRunway(rule, facts, { reading, left }) >= forMs;
}

function meanRunway(
  rule: RunwayRule,
  facts: AccountFacts,
  { reading, left }: { readonly reading: Reading; readonly left: Micros },
): number {
  const burn = paceOf(rule, facts, reading);
  const { balance, lookbackMs } = rule;
  const runwayMs =
    lookbackMs === null ? briefRunway(burn, left, { ...facts, balance }) : runwayOf(burn, left);
  return runwayMs ?? Number.POSITIVE_INFINITY;
}

export function leftOf(rule: RunwayRule, facts: AccountFacts, reading: Reading): Micros {
  return amountOf(reading, rule.balance) - floorOf(rule, facts);
}

export function floorOf(rule: RunwayRule, facts: AccountFacts): Micros {
  return rule.floorMicros ?? emptyLevel(facts, rule.balance);
}

/** The least amount that lasts this long, rounded up. */
export function neededFor(rule: RunwayRule, facts: AccountFacts, withinMs: number): Micros {
  const predicted = rule.lookbackMs === null ? facts.spending.needed(rule.balance, withinMs) : null;
  if (predicted !== null) return Math.ceil(predicted);
  const burn = paceOf(rule, facts, facts.reading);
  return burn.observedMs > 0 ? Math.ceil((withinMs * burn.spentMicros) / burn.observedMs) : 0;
}
