import { formatBare, formatExact, type Micros } from '../domain/money.ts';
import { amountOf } from '../domain/reading.ts';
import type { AmountOrShare, Ladder, MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { amount, amountOrShare } from '../schema/texts.ts';
import {
  type AccountFacts,
  type Evaluation,
  money,
  moneyFact,
  readingFacts,
  unknown,
  unusable,
  usableReading,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, ladderSeverityKey, moneyKeys, type RuleKind } from './kind.ts';
import {
  breachedStep,
  buildLadder,
  checkLadder,
  describeLadder,
  firstThreshold,
  ladderKey,
  ladderSteps,
  readAmount,
  stepVerdict,
} from './ladder.ts';
import {
  currentAmount,
  describeHysteresis,
  exactAmount,
  moneyOf,
  nameBalance,
  topUpAdvice,
  wordLimit,
  wordLowBalance,
} from './words.ts';

export interface BelowRule extends MoneyRule {
  readonly type: 'below';
  readonly thresholds: Ladder<Micros>;
  readonly hysteresis: AmountOrShare;
}

const keys = {
  ...moneyKeys,
  severity: ladderSeverityKey,
  threshold: amount('The balance under which the rule fires, with `severity`.').optional(),
  thresholds: ladderKey(
    'Balance by severity: one alert whose severity moves. Use it instead of `threshold` and `severity`.',
    (word) => amount(`Under this balance the alert is ${word}.`),
  ).optional(),
  hysteresis: amountOrShare(
    'How far past the threshold the balance must rise before the alert resolves: an amount, or a percentage of the threshold.',
    { sign: 'not-negative', maxPercent: 1000 },
  ).prefault(0),
};

export const below: RuleKind<BelowRule, InputOf<typeof keys>> = {
  type: 'below',
  // A forecast has no verdict in its first hour: these steps have.
  suggest: (micros) =>
    micros > 0
      ? {
          thresholds: { warning: roundDown(micros / 5), critical: roundDown(micros / 20) },
          hysteresis: '10%',
        }
      : null,
  summary: 'A balance under a threshold, or under several by severity.',
  keys,
  needsReading: true,
  floorMicros: (_, empty) => empty,
  emptinessRank: 1,
  build: (input, severity) => ({
    ...buildLadder(input.thresholds, { threshold: input.threshold, severity }),
    hysteresis: input.hysteresis,
  }),
  check: (reader) => checkLadder(reader, { single: 'threshold', read: readAmount, worse: 'lower' }),
  describe: (rule) =>
    `${nameBalance(rule)} below ${describeLadder(rule.thresholds, formatExact)}${describeHysteresis(rule.hysteresis)}`,
  evaluate,
  isSurelyOk: ({ balance, thresholds }, { reading }) =>
    reading === null ||
    amountOf(reading, balance) >= (firstThreshold(thresholds) ?? Number.NEGATIVE_INFINITY),
  factsBehind: (rule, facts) => [
    ...readingFacts(facts, rule.balance),
    ...ladderSteps(rule.thresholds).flatMap(({ severity, threshold }) => [
      moneyFact(`${severity} below`, threshold),
      moneyFact(`${severity} resolves at`, resolvesAt(rule, threshold)),
    ]),
  ],
  wouldNotFire,
  clearsAt: (rule) =>
    Math.max(...Object.values(rule.thresholds).map((threshold) => resolvesAt(rule, threshold))),
  levels: (rule) => rule.thresholds,
  subject: (about) => `${moneyOf(about)} balance low`,
  firing: (item, frame) => wordLowBalance(item, frame, (micros) => formatBare(micros, frame.currency)),
  resolved: (item, frame) =>
    `${moneyOf(item)} balance${currentAmount(item, frame)}, no longer below ${wordLimit(item, frame) ?? 'its threshold'}`,
  // The threshold may have been lowered instead.
  recovery: 'Resolved: the balance is at the threshold or above it.',
  figures: (item, frame) =>
    moneyFigures(item, frame, { threshold: (limit) => `below ${limit}`, valueIsBalance: true }),
  advice: topUpAdvice,
};

/**
 * Breached when balance < threshold, compared exactly in millionths; resolved when balance ≥
 * threshold + hysteresis. With a ladder the worst breached step is the severity.
 */
function evaluate(rule: BelowRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const balance = amountOf(reading, rule.balance);
  const severity = breachedStep({
    ladder: rule.thresholds,
    value: balance,
    firing,
    resolvesAt: (threshold) => resolvesAt(rule, threshold),
  });
  return stepVerdict(rule.thresholds, severity, { value: money(balance), limit: money });
}

/** The balance at which a breached threshold is left: a share counts of the threshold's magnitude. */
function resolvesAt({ hysteresis }: BelowRule, threshold: Micros): Micros {
  if (hysteresis.kind === 'amount') return threshold + hysteresis.micros;
  return threshold + Math.round(Math.abs(threshold) * hysteresis.share);
}

function wouldNotFire(rule: BelowRule, { reading }: AccountFacts): string | null {
  if (reading === null) return null;
  const balance = amountOf(reading, rule.balance);
  const threshold = firstThreshold(rule.thresholds);
  if (threshold !== null && balance >= threshold) {
    const room = exactAmount(balance - threshold, reading.currency);
    return `The balance is back at the threshold; with a hysteresis of ${room} or less it would have resolved.`;
  }
  return `It would not fire with a threshold of ${exactAmount(balance, reading.currency)} or less.`;
}

/** An amount that a person would write: 1, 2 or 5 times a power of ten, at least 0.01. */
function roundDown(micros: Micros): number {
  const amount = Math.max(0.01, micros / 1_000_000);
  const power = 10 ** Math.floor(Math.log10(amount));
  const step = [5, 2, 1].find((candidate) => candidate * power <= amount) ?? 1;
  return Number((step * power).toPrecision(1));
}
