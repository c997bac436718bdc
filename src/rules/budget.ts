import { hourMs } from '../domain/duration.ts';
import type { MessageItem } from '../domain/message.ts';
import { isoText } from '../domain/moment.ts';
import { formatExact, type Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Ladder, MoneyRule } from '../domain/rule.ts';
import { choice } from '../schema/shapes.ts';
import { amount } from '../schema/texts.ts';
import { type Period, type PeriodSum, periods } from '../spending/periods.ts';
import { formatComputed, type WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  type Evaluation,
  instantFact,
  money,
  moneyFact,
  readingFacts,
  textFact,
  unknown,
  unusable,
  usableReading,
} from './evaluation.ts';
import { figuresOf, moneyFigures } from './figures.ts';
import { type InputOf, ladderSeverityKey, moneyKeys, type RuleKind } from './kind.ts';
import {
  buildLadder,
  checkLadder,
  describeLadder,
  ladderKey,
  ladderSteps,
  reachedStep,
  readAmount,
  stepVerdict,
} from './ladder.ts';
import { exactAmount, factText, moneyOf, nameBalance, wordLimit, wordValue } from './words.ts';

export interface BudgetRule extends MoneyRule {
  readonly type: 'budget';
  readonly per: Period;
  readonly thresholds: Ladder<Micros>;
}

const keys = {
  ...moneyKeys,
  severity: ladderSeverityKey,
  per: choice(
    "The period of the account's time zone over which spending is summed up. Weeks begin on Monday.",
    periods,
  ),
  amount: amount('The spending at which the rule fires, with `severity`.', { sign: 'positive' }).optional(),
  thresholds: ladderKey(
    'Spending by severity: one alert whose severity moves. Use it instead of `amount` and `severity`.',
    (word) => amount(`From this spending on the alert is ${word}.`, { sign: 'positive' }),
  ).optional(),
};

export const budget: RuleKind<BudgetRule, InputOf<typeof keys>> = {
  type: 'budget',
  summary: 'Spending of a day, week or month that reaches its budget.',
  keys,
  needsReading: true,
  build: (input, severity) => ({
    ...buildLadder(input.thresholds, { threshold: input.amount, severity }),
    per: input.per,
  }),
  check: (reader) => checkLadder(reader, { single: 'amount', read: readAmount, worse: 'higher' }),
  describe: (rule) =>
    `spent of the ${nameBalance(rule)} since the ${rule.per} began reaches ${describeLadder(rule.thresholds, formatExact)}`,
  evaluate,
  factsBehind,
  wouldNotFire: (rule, { spending, reading }) => {
    const sum = spending.since(rule.per);
    return reading === null || sum === null
      ? null
      : `It would not fire with a budget of more than ${exactAmount(spentOf(sum, rule), reading.currency)}.`;
  },
  subject: (about) => `${moneyOf(about)} budget`,
  firing: (item, frame) => {
    const limit = wordLimit(item, frame);
    return `${wordSpent(item, frame)}${limit === null ? '' : `, budget ${limit}`}${wordTotal(item, frame)}`;
  },
  resolved: (item, frame) => {
    const limit = wordLimit(item, frame);
    return `${wordSpent(item, frame)}, within the budget${limit === null ? '' : ` of ${limit}`}`;
  },
  recovery: 'Resolved: the next period began, or the budget was raised.',
  figures: (item, frame) => [
    ...moneyFigures(item, frame, { threshold: (limit) => `${limit} spent`, valueIsBalance: false }),
    ...figuresOf(item, frame, shownFacts),
  ],
  advice: () => [
    'Find out what spends more than was planned. Nothing stops by itself: what goes on is spent beyond the budget.',
  ],
};

/** Names of facts that messages show. */
const began = 'period began';
const knownSince = 'known since';
const firstRead = 'first read in it';
const totalAtEnd = 'total at its end';
const reckonedBy = 'reckoned by';
const shownFacts: readonly string[] = [began, knownSince, firstRead, totalAtEnd, reckonedBy];

const notKnownYet = 'not known yet';

/** `SMS spending of the month 512.00 CNY`. */
function wordSpent(item: MessageItem, frame: WordingFrame): string {
  const per = factText(item, 'period', frame);
  const value = wordValue(item, frame);
  return `${moneyOf(item)} spending${per === null ? '' : ` of the ${per}`}${value === null ? '' : ` ${value}`}`;
}

function wordTotal(item: MessageItem, frame: WordingFrame): string {
  const fact = item.facts.find(({ name }) => name === totalAtEnd);
  if (fact === undefined) return '';
  if (fact.value.unit !== 'money') return `, its total is ${notKnownYet}`;
  const by = factText(item, reckonedBy, frame);
  return `, about ${formatComputed(fact.value.micros, frame.currency)} at its end${by === null ? '' : ` by ${by}`}`;
}

/**
 * Breached when the falls since the period began, in one currency, reach a threshold; a top-up is no negative spending.
 * Resolved by the first reading of the next period.
 *
 * Where the sum does not go back to the period's beginning, only a breach is certain: else it gives no verdict until the next
 * period, and an alert that fires goes on.
 */
function evaluate(rule: BudgetRule, facts: AccountFacts): Evaluation {
  const sum = sumOf(rule, facts);
  if (typeof sum === 'string') return unknown(sum);
  const spent = spentOf(sum, rule);
  const severity = reachedStep(rule.thresholds, spent);
  if (severity !== null || sum.knownSince <= sum.startsAt)
    return stepVerdict(rule.thresholds, severity, { value: money(spent), limit: money });
  const since = isoText(sum.knownSince);
  const seen = exactAmount(spent, facts.reading?.currency ?? '');
  return unknown(`spending is known since ${since} only (${seen}), not since the ${rule.per} began`);
}

/** What fell of the rule's balance; nothing of one that was never read in the period. */
function spentOf({ spent }: PeriodSum, { balance }: BudgetRule): Micros {
  return spent[balance] ?? 0;
}

/** The sum at the newest reading; in words, why there is none. */
function sumOf(rule: BudgetRule, facts: AccountFacts): PeriodSum | string {
  const reading = usableReading(facts);
  if (reading === null) return unusable(facts) ?? 'no reading yet';
  const sum = facts.spending.last?.at === reading.at ? facts.spending.since(rule.per) : null;
  return sum ?? 'spending is still being learned from stored history';
}

function factsBehind(rule: BudgetRule, facts: AccountFacts): readonly Fact[] {
  const found = [...readingFacts(facts, rule.balance), textFact('period', rule.per)];
  const sum = sumOf(rule, facts);
  if (typeof sum === 'string') return found;
  found.push(
    instantFact(began, sum.startsAt),
    instantFact('period ends', sum.endsAt),
    moneyFact('spent', spentOf(sum, rule)),
  );
  if (sum.knownSince > sum.startsAt) found.push(instantFact(knownSince, sum.knownSince));
  // Before that, only a share of a long gap is known.
  else if (sum.watchedFrom - sum.startsAt > (sum.endsAt - sum.startsAt) / 20)
    found.push(instantFact(firstRead, sum.watchedFrom));
  const steps = ladderSteps(rule.thresholds).map(({ severity, threshold }) =>
    moneyFact(`${severity} from`, threshold),
  );
  return [...found, ...totalFacts(rule, facts, sum), ...steps];
}

/** What the period comes to at its end: by the forecast, else by the mean since it is known, from an hour on. */
function totalFacts(rule: BudgetRule, { spending }: AccountFacts, sum: PeriodSum): Fact[] {
  const at = spending.last?.at ?? sum.startsAt;
  const spent = spentOf(sum, rule);
  const total = (ahead: Micros, by: string): Fact[] => [
    moneyFact(totalAtEnd, spent + Math.round(ahead)),
    textFact(reckonedBy, by),
  ];
  const leftMs = Math.max(0, sum.endsAt - at);
  const predicted = spending.expected(rule.balance, leftMs);
  if (predicted !== null) return total(predicted, 'the forecast');
  const seenMs = at - sum.knownSince;
  if (seenMs < hourMs) return [textFact(totalAtEnd, notKnownYet)];
  return total(
    (spent * leftMs) / seenMs,
    `the mean of the ${sum.knownSince > sum.startsAt ? 'time known' : 'period'}`,
  );
}
