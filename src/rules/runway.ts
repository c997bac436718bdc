import { dayMs, formatDuration, hourMs, secondMs } from '../domain/duration.ts';
import type { Forecast } from '../domain/forecast.ts';
import type { MessageItem } from '../domain/message.ts';
import { roughDuration } from '../domain/moment.ts';
import { formatAmount, formatMoney, type Micros } from '../domain/money.ts';
import { expectedBetween } from '../domain/operator.ts';
import type { Fact } from '../domain/quantity.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { Ladder } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { amount, duration as durationKey } from '../schema/texts.ts';
import { burnPerDay } from '../spending/burn.ts';
import { roughRunway, type WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  countFact,
  duration,
  durationFact,
  type Evaluation,
  instantFact,
  moneyFact,
  readingFacts,
  text,
  textFact,
  unknown,
  unusable,
  usableReading,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import {
  type InputOf,
  type KeyProblem,
  type KeyReader,
  ladderSeverityKey,
  moneyKeys,
  type RuleKind,
} from './kind.ts';
import {
  breachedStep,
  buildLadder,
  checkLadder,
  describeLadder,
  firstThreshold,
  ladderKey,
  ladderSteps,
  readDuration,
  stepVerdict,
} from './ladder.ts';
import {
  estimateRunway,
  expectedSpend,
  floorOf,
  type KnownEstimate,
  leftOf,
  meanBurn,
  meanLookback,
  type RunwayEstimate,
  type RunwayFloorRule,
  surelyLastsFor,
} from './runway-estimate.ts';
import { basisWords, spendingFacts } from './spending-facts.ts';
import { currentAmount, moneyOf, nameBalance, topUpAdvice, wholeSeconds } from './words.ts';

export interface RunwayRule extends RunwayFloorRule {
  readonly type: 'runway';
  /** Milliseconds of runway by severity. */
  readonly thresholds: Ladder<number>;
}

const keys = {
  ...moneyKeys,
  severity: ladderSeverityKey,
  within: durationKey('Fires when the balance lasts less than this, with `severity`.', {
    minMs: secondMs,
  }).optional(),
  thresholds: ladderKey(
    'Runway by severity: one alert whose severity moves. Use it instead of `within` and `severity`.',
    (word) => durationKey(`With less runway than this the alert is ${word}.`, { minMs: secondMs }),
  ).optional(),
  floor: amount(
    'The balance that counts as empty. Default: 0, or below it by the `creditLimit` of the account.',
  ).optional(),
  lookback: durationKey('Use average spend over this period, in whole days, instead of the forecast.', {
    minMs: secondMs,
  }).optional(),
  minimumHistory: durationKey('The rule gives no verdict on less history than this. Default: 1h.').optional(),
};

export const runway: RuleKind<RunwayRule, InputOf<typeof keys>> = {
  type: 'runway',
  summary: 'A balance that will not last.',
  keys,
  needsReading: true,
  emptinessRank: 2,
  // The default of `minimumHistory` is an hour, at most the `lookback`.
  build: (input, severity) => ({
    ...buildLadder(input.thresholds, { threshold: input.within, severity }),
    floorMicros: input.floor ?? null,
    lookbackMs: input.lookback ?? null,
    minimumHistoryMs: input.minimumHistory ?? Math.min(hourMs, input.lookback ?? hourMs),
    minimumHistoryGiven: input.minimumHistory !== undefined,
  }),
  check: (reader) => [
    ...checkLadder(reader, { single: 'within', read: readDuration, worse: 'lower' }),
    ...checkHistory(reader),
  ],
  describe,
  warn: warnOfParts,
  suggest: () => ({ thresholds: { warning: '7d', critical: '2d' } }),
  meantBefore: ({ lookbackMs }) =>
    lookbackMs === null
      ? {
          path: ['lookback'],
          message:
            'goes by the forecast of the week since 0.2.0, not by the mean of a day: "lookback": "24h" keeps the mean',
        }
      : null,
  lookBackMs: meanLookback,
  floorMicros: (rule, empty) => rule.floorMicros ?? empty,
  burnLookbackMs: (rule) => rule.lookbackMs,
  evaluate,
  isSurelyOk: (rule, facts) => {
    const reading = usableReading(facts);
    return (
      reading === null ||
      surelyLastsFor(rule, facts, { reading, forMs: firstThreshold(rule.thresholds) ?? 0 })
    );
  },
  factsBehind,
  wouldNotFire,
  subject: (about) => `${moneyOf(about)} balance running out`,
  firing: wordFiring,
  resolved: (item, frame) => {
    const lasts =
      item.value?.unit === 'duration'
        ? `lasts ${roughRunway(item.value.ms)} again`
        : 'lasts long enough again';
    return `${moneyOf(item)} balance${currentAmount(item, frame)} ${lasts}`;
  },
  recovery: 'Resolved: spending slowed down.',
  figures: (item, frame) =>
    moneyFigures(item, frame, { threshold: (limit) => `lasts less than ${limit}`, valueIsBalance: true }),
  advice: topUpAdvice,
};

function checkHistory(reader: KeyReader): KeyProblem[] {
  const lookback = readDuration(reader.valueAt(['lookback']) ?? '24h');
  const minimum = readDuration(reader.valueAt(['minimumHistory']));
  if (lookback === null || minimum === null || minimum <= lookback) return [];
  return [
    {
      path: ['minimumHistory'],
      message: 'must not be longer than lookback: no more history than that is looked at',
    },
  ];
}

/** With parts of days the runway swings with the time of day. */
function warnOfParts(rule: RunwayRule): KeyProblem[] {
  if (rule.lookbackMs === null || rule.lookbackMs % dayMs === 0) return [];
  return [
    {
      path: ['lookback'],
      message:
        'is not whole days: what it says swings with the time of day. Leave it out to go by the forecast',
    },
  ];
}

function describe(rule: RunwayRule): string {
  const { floorMicros, lookbackMs } = rule;
  const floor = floorMicros === null || floorMicros === 0 ? '' : ` above ${formatMoney(floorMicros)}`;
  const lasts = `${nameBalance(rule)}${floor} lasts less than ${describeLadder(rule.thresholds, formatDuration)}`;
  return lookbackMs === null
    ? `${lasts}, by the forecast`
    : `${lasts}; by the spending of ${formatDuration(lookbackMs)}, ${formatDuration(rule.minimumHistoryMs)} at least`;
}

function wordFiring(item: MessageItem, frame: WordingFrame): string {
  const runwayMs = item.value?.unit === 'duration' ? item.value.ms : null;
  const start = `${moneyOf(item)} balance${currentAmount(item, frame)}`;
  if (runwayMs === null) return `${start} is running out`;
  if (runwayMs <= 0) return `${start} is used up`;
  const limit = item.threshold?.unit === 'duration' ? `, less than ${roughDuration(item.threshold.ms)}` : '';
  return `${start} lasts ${roughRunway(runwayMs)}${limit}`;
}

/**
 * What a person announced to arrive before the balance may be empty: with it nothing begins to fire. What fires goes on until the
 * money is there.
 */
function creditInTime(
  { balance }: RunwayRule,
  { expected }: AccountFacts,
  { reading, estimate }: { readonly reading: Reading; readonly estimate: KnownEstimate },
): Micros {
  if (expected.length === 0) return 0;
  const until = estimate.forecast?.earliest ?? reading.at + estimate.runwayMs;
  return expectedBetween(expected, { balance, at: reading.at, until });
}

/** A runway alert resolves at this multiple of `within`. */
const recoveryFactor = 1.2;

/**
 * Breached when balance − floor lasts less than `within`; resolved when it lasts at least 1.2 × `within`. By
 * the forecast (`spending/forecast.ts`), or by the mean burn with a `lookback` or under a day of history
 * (`measureBurn`, `runwayOf`).
 *
 * The mean burn needs medium or high confidence, or exactly `minimumHistory` of observed time (at most the
 * lookback) where the file gives that. Nothing spent is ok, unless the balance is below the floor, or at it
 * while the alert fires: an account that spends nothing because it is empty has not recovered.
 */
function evaluate(rule: RunwayRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const plain = estimateRunway(rule, facts, reading);
  if (plain.kind === 'unknown') return unknown(plain.why);
  const credit = firing === null ? creditInTime(rule, facts, { reading, estimate: plain }) : 0;
  const estimate = credit === 0 ? plain : estimateRunway(rule, facts, reading, credit);
  if (estimate.kind === 'unknown') return unknown(estimate.why);
  const drained = leftOf(rule, facts, reading) === 0 && firing !== null;
  const runwayMs = drained ? 0 : estimate.runwayMs;
  const severity = breachedStep({ ladder: rule.thresholds, value: runwayMs, firing, resolvesAt: recoversAt });
  const value = Number.isFinite(runwayMs) ? duration(runwayMs) : text('does not run out');
  return stepVerdict(rule.thresholds, severity, { value, limit: duration });
}

function recoversAt(withinMs: number): number {
  return Math.round(withinMs * recoveryFactor);
}

function factsBehind(rule: RunwayRule, facts: AccountFacts): readonly Fact[] {
  const burn = meanBurn(rule, facts);
  const perDay = burnPerDay(burn);
  const reading = usableReading(facts);
  const found = [
    ...readingFacts(facts, rule.balance),
    moneyFact('floor', floorOf(rule, facts)),
    durationFact('lookback', meanLookback(rule)),
    durationFact('observed', burn.observedMs),
    durationFact('in gaps', burn.blindMs),
    countFact('readings', burn.readings),
    textFact('confidence', burn.confidence),
    moneyFact('spent', burn.spentMicros),
  ];
  if (perDay !== null) found.push(moneyFact('burn per day', perDay));
  if (reading !== null) found.push(...estimateFacts(rule, estimateRunway(rule, facts, reading), reading));
  if (rule.lookbackMs === null) found.push(...spendingFacts(facts.spending, rule.balance));
  for (const { severity, threshold } of ladderSteps(rule.thresholds)) {
    found.push(durationFact(`${severity} within`, threshold));
    found.push(durationFact(`${severity} resolves at`, recoversAt(threshold)));
  }
  return found;
}

function estimateFacts(rule: RunwayRule, estimate: RunwayEstimate, reading: Reading): Fact[] {
  if (estimate.kind === 'unknown') return [];
  const { runwayMs, forecast } = estimate;
  const found = [textFact('reckoned by', basisOf(rule, forecast))];
  if (Number.isFinite(runwayMs)) found.push(durationFact('runway', runwayMs));
  if (Number.isFinite(runwayMs) && runwayMs > 0) {
    found.push(instantFact('reaches the floor at', reading.at + runwayMs));
  }
  if (forecast?.earliest != null) found.push(instantFact('hardly before', forecast.earliest));
  if (forecast?.latest != null) found.push(instantFact('hardly after', forecast.latest));
  return found;
}

function basisOf({ lookbackMs }: RunwayRule, forecast: Forecast | null): string {
  if (forecast !== null) return basisWords[forecast.basis];
  return lookbackMs === null ? basisWords['mean-burn'] : `the mean of ${formatDuration(lookbackMs)}`;
}

function wouldNotFire(rule: RunwayRule, facts: AccountFacts): string | null {
  const { reading } = facts;
  if (reading === null) return null;
  const estimate = estimateRunway(rule, facts, reading);
  const runwayMs = estimate.kind === 'known' ? estimate.runwayMs : 0;
  const within = firstThreshold(rule.thresholds);
  if (!Number.isFinite(runwayMs) || runwayMs === 0) {
    // With a lower floor the balance lasts longer than the longest `within`.
    const usedWithin = expectedSpend(rule, facts, within ?? 0);
    const floor = formatAmount(amountOf(reading, rule.balance) - usedWithin, reading.currency);
    return `The balance is at its floor or under it; it would not fire with a floor below ${floor}.`;
  }
  if (within !== null && runwayMs >= within) {
    return `The runway is past "within" again; it resolves at ${recoveryFactor} times of it, so with "within" of ${wholeSeconds(runwayMs / recoveryFactor, 'down')} or shorter it would have resolved.`;
  }
  return `It would not fire with "within" of ${wholeSeconds(runwayMs, 'down')} or shorter.`;
}
