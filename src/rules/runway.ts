import { describeDuration, describeHistory } from '../domain/duration.ts';
import type { Fact } from '../domain/quantity.ts';
import type { RunwayRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { type Burn, burnPerDay, measureBurn, runwayOf } from '../spending/burn.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { breachedStep, firstThreshold, ladderSteps } from './ladder.ts';
import { readingFacts, unusable, usableReading } from './snapshot.ts';
import {
  breached,
  countFact,
  duration,
  durationFact,
  instantFact,
  moneyFact,
  ok,
  text,
  textFact,
  unknown,
} from './verdict.ts';

/** A runway alert is left at this multiple of `within`. */
const recoveryFactor = 1.2;

/**
 * `runway`: breached when balance − floor lasts less than `within` at the burn rate; resolved when it lasts
 * at least 1.2 × `within` (formulas: `measureBurn`, `runwayOf`).
 *
 * It speaks at medium or high confidence; where the file gives `minimumHistory`, that span of observed time
 * (or the whole lookback, if shorter) alone decides. Nothing spent is ok, unless the balance is below the
 * floor, or at it while the alert fires: an account that spends nothing because it is empty has not
 * recovered.
 */
export function evaluateRunway(rule: RunwayRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const burn = measureBurn({ log: facts.log, balance: rule.balance, lookbackMs: rule.lookbackMs });
  if (!maySpeak(rule, burn)) return unknown(tooLittle(rule, burn));
  const availableMicros = reading[rule.balance] - rule.floorMicros;
  const drained = availableMicros === 0 && firing !== null;
  const runwayMs = drained ? 0 : (runwayOf(burn, availableMicros) ?? Number.POSITIVE_INFINITY);
  const severity = breachedStep({ ladder: rule.thresholds, value: runwayMs, firing, resolvesAt: recoversAt });
  const threshold = severity === null ? firstThreshold(rule.thresholds) : (rule.thresholds[severity] ?? null);
  const numbers = {
    value: Number.isFinite(runwayMs) ? duration(runwayMs) : text('does not run out'),
    threshold: threshold === null ? null : duration(threshold),
  };
  return severity === null ? ok(numbers) : breached(severity, numbers);
}

/** The runway at which a breached `within` is left. */
function recoversAt(withinMs: number): number {
  return Math.round(withinMs * recoveryFactor);
}

export function factsOfRunway(rule: RunwayRule, facts: AccountFacts): readonly Fact[] {
  const burn = measureBurn({ log: facts.log, balance: rule.balance, lookbackMs: rule.lookbackMs });
  const perDay = burnPerDay(burn);
  const reading = usableReading(facts);
  const runwayMs = reading === null ? null : runwayOf(burn, reading[rule.balance] - rule.floorMicros);
  const found = [
    ...readingFacts(facts, rule.balance),
    moneyFact('floor', rule.floorMicros),
    durationFact('lookback', rule.lookbackMs),
    durationFact('observed', burn.observedMs),
    durationFact('in gaps', burn.blindMs),
    countFact('readings', burn.readings),
    textFact('confidence', burn.confidence),
    moneyFact('spent', burn.spentMicros),
  ];
  if (perDay !== null) found.push(moneyFact('burn per day', perDay));
  if (runwayMs !== null && Number.isFinite(runwayMs)) {
    found.push(durationFact('runway', runwayMs));
    if (reading !== null && runwayMs > 0)
      found.push(instantFact('reaches the floor at', reading.at + runwayMs));
  }
  for (const { severity, threshold } of ladderSteps(rule.thresholds)) {
    found.push(durationFact(`${severity} within`, threshold));
    found.push(durationFact(`${severity} resolves at`, recoversAt(threshold)));
  }
  return found;
}

function maySpeak(rule: RunwayRule, burn: Burn): boolean {
  if (burn.observedMs <= 0) return false;
  if (rule.minimumHistoryGiven) return burn.observedMs >= Math.min(rule.minimumHistoryMs, rule.lookbackMs);
  return burn.confidence === 'medium' || burn.confidence === 'high';
}

function tooLittle(rule: RunwayRule, burn: Burn): string {
  const seen = `${describeHistory(burn.observedMs)} in ${burn.readings} reading${burn.readings === 1 ? '' : 's'}`;
  if (rule.minimumHistoryGiven) {
    return `${seen}, needs ${describeDuration(Math.min(rule.minimumHistoryMs, rule.lookbackMs))}`;
  }
  const neededMs = Math.min(60 * 60_000, rule.lookbackMs / 2);
  const enough = burn.observedMs >= neededMs && burn.readings >= 6;
  return enough
    ? `${seen}, most of it without polls (confidence ${burn.confidence})`
    : `${seen}, needs ${describeDuration(neededMs)} and 6 readings (confidence ${burn.confidence})`;
}
