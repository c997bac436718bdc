import { formatExact, type Micros } from '../domain/money.ts';
import { listFacts, money } from '../domain/quantity.ts';
import { amountOf } from '../domain/reading.ts';
import type { AmountOrShare, Ladder, MoneyRule } from '../domain/rule.ts';
import { amount, amountOrShare } from '../schema/texts.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayLimit } from '../wording/quantity-wording.ts';
import { balanceKind } from './balance-kind.ts';
import { usableReading } from './evaluation.ts';
import { ladderSeverityKey } from './kind.ts';
import * as ladder from './ladder.ts';
import * as words from './words.ts';

export interface BelowRule extends MoneyRule {
  readonly type: 'below';
  readonly thresholds: Ladder<Micros>;
  readonly hysteresis: AmountOrShare;
}

const says = phrases('below', {
  subject: '{balance} low',
  resolved: '{balance} {amount}, no longer below {limit}',
  resolvedAnyway: '{balance} {amount}, no longer below its threshold',
  recovery: 'Resolved: the balance is at the threshold or above it.',
  threshold: 'below {limit}',
});

const told = sentences('below', {
  describes: '{balance} below {steps}',
  notWith: 'It would not fire with a threshold of {amount} or less.',
  isBack:
    'The balance is back at the threshold; with a hysteresis of {amount} or less it would have resolved.',
});

const keys = {
  severity: ladderSeverityKey,
  threshold: amount('The balance under which the rule fires, with `severity`.').optional(),
  thresholds: ladder.stepsKey(
    'Balance by severity: one alert whose severity moves. Use it instead of `threshold` and `severity`.',
    (word) => amount(`Under this balance the alert is ${word}.`),
  ),
  thresholdsByCurrency: ladder.currencyStepsKey((word) => amount(`Under this balance the alert is ${word}.`)),
  hysteresis: amountOrShare(
    'How far past the threshold the balance must rise before the alert resolves: an amount, or a percentage of the threshold.',
    { sign: 'not-negative', maxPercent: 1000 },
  ).prefault(0),
};

export const below = balanceKind<BelowRule, typeof keys>({
  type: 'below',
  // A forecast has no verdict in its first hour, but these steps have one.
  suggest: (micros) =>
    micros > 0
      ? {
          thresholds: { warning: roundDown(micros / 5), critical: roundDown(micros / 20) },
          hysteresis: '10%',
        }
      : null,
  summary: 'A balance under a threshold, or under several by severity.',
  keys,
  floorMicros: (_, empty) => empty,
  emptinessRank: 1,
  accountThresholds: true,
  build: (input, severity) => ({
    ...ladder.buildLadder(input, { threshold: input.threshold, severity }),
    hysteresis: input.hysteresis,
  }),
  check: (reader) =>
    ladder.checkLadder(reader, { single: 'threshold', read: ladder.readAmount, worse: 'lower' }),
  describe: (rule) =>
    words.describeHysteresis(
      told.describes({ balance: words.nameBalance(rule), steps: ladder.describeLadders(rule, formatExact) }),
      rule.hysteresis,
    ),
  /**
   * Breached when balance < threshold, compared exactly in millionths; resolved when balance ≥
   * threshold + hysteresis. With a ladder the worst breached step is the severity.
   */
  judge(rule, { reading }, firing) {
    const balance = amountOf(reading, rule.balance);
    const severity = ladder.breachedStep(rule.thresholds, { value: balance, firing }, (threshold) =>
      resolvesAt(rule, threshold),
    );
    return ladder.stepVerdict(rule.thresholds, severity, { value: money(balance), limit: money });
  },
  isSurelyOk: ({ balance, thresholds }, { reading }) =>
    reading === null ||
    amountOf(reading, balance) >= (ladder.firstThreshold(thresholds) ?? Number.NEGATIVE_INFINITY),
  factsBehind: (rule) =>
    ladder.ladderSteps(rule.thresholds).flatMap(({ severity, threshold }) =>
      listFacts({
        [ladder.told.below({ severity })]: money(threshold),
        [ladder.told.resolvesAt({ severity })]: money(resolvesAt(rule, threshold)),
      }),
    ),
  wouldNotFire(rule, { reading }) {
    const balance = amountOf(reading, rule.balance);
    const threshold = ladder.firstThreshold(rule.thresholds);
    if (threshold === null || balance < threshold)
      return told.notWith({ amount: words.exactAmount(balance, reading.currency) });
    return told.isBack({ amount: words.exactAmount(balance - threshold, reading.currency) });
  },
  clearsAt: (rule, facts) =>
    usableReading(facts) &&
    Math.max(...Object.values(rule.thresholds).map((threshold) => resolvesAt(rule, threshold))),
  levels: (rule) => rule.thresholds,
  subject: says.subject,
  firing: (item, frame) => words.sayLowBalance(item, sayLimit(item, frame) ?? '', frame),
  resolved(item, frame) {
    const limit = sayLimit(item, frame);
    const given = words.sayBalanceOf(item, frame);
    return limit === null
      ? say(says.resolvedAnyway, given, frame)
      : say(says.resolved, { ...given, limit }, frame);
  },
  // It does not say that the balance rose: the threshold may have been lowered instead.
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  advice: words.topUpAdvice,
});

/** The balance at which a breached threshold is left: a share is one of the threshold's magnitude. */
function resolvesAt({ hysteresis }: BelowRule, threshold: Micros): Micros {
  if (hysteresis.kind === 'amount') return threshold + hysteresis.micros;
  return threshold + Math.round(Math.abs(threshold) * hysteresis.share);
}

/** An amount that a person would write: 1, 2 or 5 times a power of ten, at least 0.01. */
function roundDown(micros: Micros): number {
  const amount = Math.max(0.01, micros / 1_000_000);
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = [5, 2, 1].find((candidate) => candidate * power <= amount) ?? 1;
  return Number((step * power).toPrecision(1));
}
