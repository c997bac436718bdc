import { formatAmount, formatMoney } from '../domain/money.ts';
import { expectedBetween } from '../domain/operator.ts';
import { count, duration, type Fact, instant, listFacts, money, text } from '../domain/quantity.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { Ladder } from '../domain/rule.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { dayMs, formatDuration, hourMs, secondMs } from '../domain/time.ts';
import { amount, duration as durationKey } from '../schema/texts.ts';
import { burnPerDay } from '../spending/burn.ts';
import { isGuess, sayEmptyWhen, sayLength } from '../wording/forecast-wording.ts';
import { sayDuration } from '../wording/moments.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { balanceKind, type ReadFacts } from './balance-kind.ts';
import { type AccountFacts, type Evaluation, unknown, usableReading, why } from './evaluation.ts';
import { type KeyProblem, type KeyReader, ladderSeverityKey } from './kind.ts';
import * as ladder from './ladder.ts';
import * as estimate from './runway-estimate.ts';
import { nameBasis, spendingFacts } from './spending-facts.ts';
import {
  buildSteps,
  checkSteps,
  describeWithin,
  reachesStep,
  stepsAt,
  warnOfSteps,
  withinKey,
} from './within.ts';
import { nameBalance, sayBalanceOf, sayNeed, topUpAdvice, wholeSeconds } from './words.ts';

const says = phrases('runway', {
  subject: '{balance} running out',
  runningOut: '{balance} {amount} is running out',
  usedUp: '{balance} {amount} is used up',
  lasts: '{balance} {amount} lasts {lasts}',
  lastsLess: '{balance} {amount} lasts {lasts}, less than {limit}',
  uncertain: '{balance} {amount}, empty {when}',
  lastsRecovering: '{balance} {amount} lasts {lasts}, recovering from less than {limit}',
  recovering: '{balance} {amount}, recovering from less than {limit}',
  resolved: '{balance} {amount} lasts {lasts} again',
  longEnough: '{balance} {amount} lasts long enough again',
  recovery: 'Resolved: spending slowed down.',
  threshold: 'lasts less than {limit}',
});

const told = sentences('runway', {
  endless: 'does not run out',
  mean: 'the mean of {duration}',
  less: '{balance} lasts less than {steps}',
  lessAbove: '{balance} above {floor} lasts less than {steps}',
  byForecast: '{rule}, by the forecast',
  byMean: '{rule}; by the spending of {lookback}, {history} at least',
  atFloor: 'The balance is at its floor or under it; it would not fire with a floor below {amount}.',
  isBack:
    'The runway is past "within" again; it resolves at {factor} times of it, so with "within" of {duration} or shorter it would have resolved.',
  notWith: 'It would not fire with "within" of {duration} or shorter.',
});

const keys = {
  severity: ladderSeverityKey,
  within: withinKey('Fires when the balance lasts less than this, with `severity`.').optional(),
  thresholds: ladder.stepsKey(
    'Runway by severity: one alert whose severity moves. Use it instead of `within` and `severity`.',
    (word) => withinKey(`With less runway than this the alert is ${word}.`),
  ),
  floor: amount(
    'The balance that counts as empty. Default: 0, or below it by the `creditLimit` of the account.',
  ).optional(),
  lookback: durationKey('Use average spend over this period, in whole days, instead of the forecast.', {
    minMs: secondMs,
  }).optional(),
  minimumHistory: durationKey('No verdict on less history. Default: 1h and six readings.').optional(),
};

export const runway = balanceKind<estimate.RunwayRule, typeof keys>({
  type: 'runway',
  summary: 'A balance that will not last.',
  keys,
  emptinessRank: 2,
  // The default of `minimumHistory` is an hour, at most the `lookback`.
  build: (input, severity) => ({
    ...buildSteps(input, severity),
    floorMicros: input.floor ?? null,
    lookbackMs: input.lookback ?? null,
    minimumHistoryMs: input.minimumHistory ?? Math.min(hourMs, input.lookback ?? hourMs),
    minimumHistoryGiven: input.minimumHistory !== undefined,
  }),
  check: (reader) => [...checkSteps(reader), ...checkHistory(reader)],
  describe({ floorMicros, lookbackMs, minimumHistoryMs, ...rule }) {
    const given = { balance: nameBalance(rule), steps: describeWithin(rule) };
    const less =
      floorMicros === null || floorMicros === 0
        ? told.less(given)
        : told.lessAbove({ ...given, floor: formatMoney(floorMicros) });
    if (lookbackMs === null) return told.byForecast({ rule: less });
    const [lookback, history] = [formatDuration(lookbackMs), formatDuration(minimumHistoryMs)];
    return told.byMean({ rule: less, lookback, history });
  },
  warn: (rule, accounts) => [...warnOfSteps(rule, accounts), ...warnOfLookback(rule)],
  suggest: (_micros, { hasLeadTime }) => ({
    thresholds: { warning: '7d', critical: hasLeadTime ? 'leadTime + 1d' : '2d' },
  }),
  meantBefore: ({ lookbackMs }) =>
    lookbackMs === null
      ? {
          path: ['lookback'],
          message:
            'goes by the forecast of the week since 0.2.0, not by the mean of a day: "lookback": "24h" keeps the mean',
        }
      : null,
  lookBackMs: estimate.meanLookback,
  floorMicros: (rule, empty) => rule.floorMicros ?? empty,
  reachesStep,
  clearsAt(rule, facts) {
    const reading = usableReading(facts);
    if (reading === null) return null;
    const lastsMs = recoversAt(longestOf(stepsAt(rule, facts, reading)));
    // With less than this the alert goes on firing, however little is spent.
    const least = facts.spending.servedFrom(rule.balance, estimate.leftOf(rule, facts, reading));
    return estimate.floorOf(rule, facts) + Math.max(least, estimate.neededFor(rule, facts, lastsMs));
  },
  burnLookbackMs: (rule) => rule.lookbackMs,
  judge,
  isSurelyOk: (rule, facts) => {
    const reading = usableReading(facts);
    if (reading === null) return true;
    const forMs = longestOf(stepsAt(rule, facts, reading));
    return estimate.surelyLastsFor(rule, facts, { reading, forMs });
  },
  factsBehind,
  wouldNotFire(rule, facts) {
    const { reading } = facts;
    const runwayMs = estimate.estimateRunway(rule, facts, reading)?.runwayMs ?? 0;
    const within = ladder.firstThreshold(stepsAt(rule, facts, reading));
    if (!Number.isFinite(runwayMs) || runwayMs === 0) {
      // With a lower floor the balance lasts longer than the longest `within`.
      const neededWithin = estimate.neededFor(rule, facts, within ?? 0);
      const amount = formatAmount(amountOf(reading, rule.balance) - neededWithin, reading.currency);
      return told.atFloor({ amount });
    }
    if (within !== null && runwayMs >= within)
      return told.isBack({
        factor: recoveryFactor,
        duration: wholeSeconds(runwayMs / recoveryFactor, 'down'),
      });
    return told.notWith({ duration: wholeSeconds(runwayMs, 'down') });
  },
  subject: says.subject,
  firing(item, frame) {
    const { value, threshold } = item;
    const given = sayBalanceOf(item, frame);
    const lastsMs = value?.unit === 'duration' ? value.ms : null;
    const limitMs = threshold?.unit === 'duration' ? threshold.ms : null;
    const limit = limitMs === null ? '' : sayDuration(limitMs, frame);
    // The alert stays open until the balance lasts well past its threshold, and during `recoverFor`.
    if (limitMs !== null && lastsMs !== null && lastsMs >= limitMs)
      return say(says.lastsRecovering, { ...given, lasts: sayLength(lastsMs, frame), limit }, frame);
    if (limitMs !== null && value?.unit === 'text') return say(says.recovering, { ...given, limit }, frame);
    const need = sayNeed(item, frame);
    if (need !== null) return need;
    if (lastsMs === null) return say(says.runningOut, given, frame);
    if (lastsMs <= 0) return say(says.usedUp, given, frame);
    const runway = item.account?.runway ?? null;
    const when = isGuess(runway?.forecast ?? null, frame.now) ? sayEmptyWhen(runway, frame) : null;
    if (when !== null) return say(says.uncertain, { ...given, when }, frame);
    const lasts = sayLength(lastsMs, frame);
    return limitMs === null
      ? say(says.lasts, { ...given, lasts }, frame)
      : say(says.lastsLess, { ...given, lasts, limit }, frame);
  },
  resolved(item, frame) {
    const given = sayBalanceOf(item, frame);
    return item.value?.unit === 'duration'
      ? say(says.resolved, { ...given, lasts: sayLength(item.value.ms, frame) }, frame)
      : say(says.longEnough, given, frame);
  },
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  advice: topUpAdvice,
});

function checkHistory(reader: KeyReader): KeyProblem[] {
  const lookback = ladder.readDuration(reader.valueAt(['lookback']) ?? '24h');
  const minimum = ladder.readDuration(reader.valueAt(['minimumHistory']));
  if (lookback === null || minimum === null || minimum <= lookback) return [];
  const message =
    'must not be longer than lookback, or than 24h without one: no more history than that is looked at';
  return [{ path: ['minimumHistory'], message }];
}

function warnOfLookback({ lookbackMs }: estimate.RunwayRule) {
  if (lookbackMs === null || lookbackMs % dayMs === 0) return [];
  const message =
    'is not whole days: what it says swings with the time of day. Leave it out to go by the forecast';
  return [{ path: ['lookback'], message }];
}

/** A runway alert resolves at this multiple of `within`. */
const recoveryFactor = 1.2;

/**
 * Breached when balance − floor lasts less than `within`; resolved when it lasts at least 1.2 × `within`. By
 * the forecast (`spending/forecast.ts`), or by the mean burn with a `lookback` or under a day of history
 * (`measureBurn`, `runwayOf`).
 *
 * The mean burn needs medium or high confidence, or exactly `minimumHistory` of observed time (at most the
 * lookback) if the file gives that. Nothing spent is ok, unless the balance is below the floor, or, while
 * the alert fires, less is above it than half a mean hour or a message takes: a balance that stands still because it is empty has not recovered.
 */
function judge(rule: estimate.RunwayRule, facts: ReadFacts, firing: Severity | null): Evaluation {
  const { reading, expected } = facts;
  const plain = estimate.estimateRunway(rule, facts, reading);
  if (plain === null) return unknown(estimate.whyUnknown(rule, facts));
  // If announced money arrives before the balance may be empty, nothing begins to fire. An alert that fires goes on until the
  // money is there.
  const until = plain.forecast?.earliest ?? reading.at + plain.runwayMs;
  const credit =
    firing === null ? expectedBetween(expected, { balance: rule.balance, at: reading.at, until }) : 0;
  const credited = credit === 0 ? plain : estimate.estimateRunway(rule, facts, reading, credit);
  if (credited === null) return unknown(estimate.whyUnknown(rule, facts));
  const left = estimate.leftOf(rule, facts, reading);
  const isStill = firing !== null && !Number.isFinite(credited.runwayMs);
  const stillMs = left === 0 ? 0 : facts.spending.lastsAtRest(rule.balance, left);
  const runwayMs = isStill ? stillMs : credited.runwayMs;
  const steps = stepsAt(rule, facts, reading);
  const severity = ladder.breachedStep(steps, { value: runwayMs, firing }, recoversAt);
  // While the week is learned from stored history the mean replaces the forecast, but it ends no alert that fires by the forecast.
  const isLearning = rule.lookbackMs === null && !facts.spending.knows(reading);
  const isMilder = firing !== null && (severity === null || isWorse(firing, severity));
  if (isLearning && isMilder) return unknown(why.learning());
  const value = Number.isFinite(runwayMs) ? duration(runwayMs) : text(told.endless());
  return ladder.stepVerdict(steps, severity, { value, limit: duration });
}

/** The longest step, found by its length: steps of different sorts may be in another order on some days. */
function longestOf(steps: Ladder<number>): number {
  return Math.max(0, ...Object.values(steps));
}

function recoversAt(withinMs: number): number {
  return Math.round(withinMs * recoveryFactor);
}

function factsBehind(rule: estimate.RunwayRule, facts: AccountFacts): readonly Fact[] {
  const reading = usableReading(facts);
  const burn = estimate.paceOf(rule, facts, reading);
  const perDay = burnPerDay(burn);
  return [
    ...listFacts({
      floor: money(estimate.floorOf(rule, facts)),
      lookback: duration(estimate.meanLookback(rule)),
      observed: duration(burn.observedMs),
      'in gaps': duration(burn.blindMs),
      readings: count(burn.readings),
      confidence: text(burn.confidence),
      spent: money(burn.spentMicros),
      'burn per day': perDay === null ? null : money(perDay),
    }),
    ...(reading === null ? [] : estimateFacts(rule, facts, reading)),
    ...(rule.lookbackMs === null ? spendingFacts(facts.spending, rule.balance) : []),
    ...ladder
      .ladderSteps(reading === null ? rule.thresholds : stepsAt(rule, facts, reading))
      .flatMap(({ severity, threshold }) =>
        listFacts({
          [ladder.told.within({ severity })]: duration(threshold),
          [ladder.told.resolvesAt({ severity })]: duration(recoversAt(threshold)),
        }),
      ),
  ];
}

function estimateFacts(rule: estimate.RunwayRule, facts: AccountFacts, reading: Reading): Fact[] {
  const known = estimate.estimateRunway(rule, facts, reading);
  if (known === null) return [];
  const { runwayMs, forecast } = known;
  const ends = Number.isFinite(runwayMs);
  const mean = rule.lookbackMs === null ? null : told.mean({ duration: formatDuration(rule.lookbackMs) });
  return listFacts({
    'reckoned by': text(
      forecast === null && mean !== null ? mean : nameBasis(forecast?.basis ?? 'mean-burn'),
    ),
    runway: ends ? duration(runwayMs) : null,
    'reaches the floor at': ends && runwayMs > 0 ? instant(reading.at + runwayMs) : null,
    'hardly before': forecast?.earliest == null ? null : instant(forecast.earliest),
    'hardly after': forecast?.latest == null ? null : instant(forecast.latest),
  });
}
