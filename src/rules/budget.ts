import type { MessageItem } from '../domain/message.ts';
import { formatExact, isSameCurrency, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { type Fact, instant, listFacts, money, text } from '../domain/quantity.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import type { Ladder, MoneyRule, Rule } from '../domain/rule.ts';
import { type Severity, severityRank } from '../domain/severity.ts';
import { hourMs, minuteText } from '../domain/time.ts';
import { choice } from '../schema/shapes.ts';
import { amount } from '../schema/texts.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { Period, PeriodSum } from '../spending/periods.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayComputed, sayLabel, sayLimit, sayValue, type WordingFrame } from '../wording/quantity-wording.ts';
import { balanceKind, type ReadFacts } from './balance-kind.ts';
import { type AccountFacts, type Evaluation, unknown, usableReading, why } from './evaluation.ts';
import { ladderSeverityKey } from './kind.ts';
import * as ladder from './ladder.ts';
import { exactAmount, nameBalance } from './words.ts';

/** A quarter is only predicted. */
const budgetPeriods = ['day', 'week', 'month'] as const satisfies readonly Period[];
type BudgetPeriod = (typeof budgetPeriods)[number];

export interface BudgetRule extends MoneyRule {
  readonly type: 'budget';
  readonly per: BudgetPeriod;
  readonly by: 'spent' | 'forecast';
  readonly thresholds: Ladder<Micros>;
}

const says = phrases('budget', {
  subject: '{label} budget',
  day: '{label} spending of the day {amount}, budget {limit}',
  week: '{label} spending of the week {amount}, budget {limit}',
  month: '{label} spending of the month {amount}, budget {limit}',
  dayTotal: '{label} spending of the day {amount}, budget {limit}, about {total} at its end',
  weekTotal: '{label} spending of the week {amount}, budget {limit}, about {total} at its end',
  monthTotal: '{label} spending of the month {amount}, budget {limit}, about {total} at its end',
  dayAhead: '{label} spending of the day will come to about {amount}, budget {limit}',
  weekAhead: '{label} spending of the week will come to about {amount}, budget {limit}',
  monthAhead: '{label} spending of the month will come to about {amount}, budget {limit}',
  resolvedDay: '{label} spending of the day {amount}, within the budget of {limit}',
  resolvedWeek: '{label} spending of the week {amount}, within the budget of {limit}',
  resolvedMonth: '{label} spending of the month {amount}, within the budget of {limit}',
  recovery: 'Resolved: the next period began, or the budget was raised.',
  threshold: '{limit} spent',
  advice:
    'Find out what spends more than was planned. Nothing stops by itself: what goes on is spent beyond the budget.',
});

const told = sentences('budget', {
  describesDay: 'spent of the {balance} since the day began reaches {steps}',
  describesWeek: 'spent of the {balance} since the week began reaches {steps}',
  describesMonth: 'spent of the {balance} since the month began reaches {steps}',
  aheadDay: 'spent of the {balance} at the end of the day, by the forecast, reaches {steps}',
  aheadWeek: 'spent of the {balance} at the end of the week, by the forecast, reaches {steps}',
  aheadMonth: 'spent of the {balance} at the end of the month, by the forecast, reaches {steps}',
  begins: '{severity} from',
  notWith: 'It would not fire with a budget of more than {amount}.',
  byForecast: 'the forecast',
  byPeriod: 'the mean of the period',
  byKnown: 'the mean of the time known',
  notYet: 'not known yet',
  noForecast: 'less than a day of spending known: no forecast yet',
  onlySinceDay: 'spending is known since {since} only ({amount}), not since the day began',
  onlySinceWeek: 'spending is known since {since} only ({amount}), not since the week began',
  onlySinceMonth: 'spending is known since {since} only ({amount}), not since the month began',
});

const keys = {
  severity: ladderSeverityKey,
  per: choice(
    "The period of the account's time zone over which spending is summed up. Weeks begin on Monday.",
    budgetPeriods,
  ),
  by: choice(
    'What is compared: what was spent, or by the forecast what the period will have taken at its end.',
    ['spent', 'forecast'],
  ).default('spent'),
  amount: amount('The spending at which the rule fires, with `severity`.', { sign: 'positive' }).optional(),
  thresholds: ladder.stepsKey(
    'Spending by severity: one alert whose severity moves. Use it instead of `amount` and `severity`.',
    (word) => amount(`From this spending on the alert is ${word}.`, { sign: 'positive' }),
  ),
  thresholdsByCurrency: ladder.currencyStepsKey((word) =>
    amount(`From this spending on the alert is ${word}.`, { sign: 'positive' }),
  ),
};

const periodWords = sentences('period', { day: 'day', week: 'week', month: 'month' });
const describes = { day: told.describesDay, week: told.describesWeek, month: told.describesMonth };
const describesAhead = { day: told.aheadDay, week: told.aheadWeek, month: told.aheadMonth };
const onlySince = { day: told.onlySinceDay, week: told.onlySinceWeek, month: told.onlySinceMonth };

/** Names of facts that messages show. */
const began = 'period began';
const knownSince = 'known since';
const firstRead = 'first read in it';
const totalAtEnd = 'total at its end';
const totalAtLeast = 'total at least';
const totalAtMost = 'total at most';
const reachedAt = 'budget reached about';
const judgedBy = 'judged by';
const reckonedBy = 'reckoned by';
/** An alert by the forecast resolves when the total is below this share of the budget. */
const resolvesAt = 0.9;

export const budget = balanceKind<BudgetRule, typeof keys>({
  type: 'budget',
  summary: 'Spending of a day, week or month that reaches its budget.',
  keys,
  build: (input, severity) => ({
    ...ladder.buildLadder(input, { threshold: input.amount, severity }),
    per: input.per,
    by: input.by,
  }),
  check: (reader) =>
    ladder.checkLadder(reader, { single: 'amount', read: ladder.readAmount, worse: 'higher' }),
  describe: (rule) =>
    (rule.by === 'spent' ? describes : describesAhead)[rule.per]({
      balance: nameBalance(rule),
      steps: ladder.describeLadders(rule, formatExact),
    }),
  judge,
  factsBehind,
  wouldNotFire(rule, { spending, reading }) {
    const sum = spending.since(rule.per);
    const judged = sum && judgedSpending(rule, spending, sum);
    if (judged == null) return null;
    return told.notWith({ amount: exactAmount(judged, reading.currency) });
  },
  subject: says.subject,
  firing: sayFiring,
  resolved(item, frame) {
    const given = givenOf(item, frame);
    return given.limit === ''
      ? say(says.subject, given, frame)
      : say(perPeriod(item, [says.resolvedDay, says.resolvedWeek, says.resolvedMonth]), given, frame);
  },
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  judgesSpending: true,
  onlyGrows: ({ by }) => by === 'spent',
  shownFacts: [began, knownSince, firstRead, totalAtEnd, totalAtLeast, totalAtMost, reachedAt, reckonedBy],
  advice: (_item, frame) => [say(says.advice, frame)],
});

/** `SMS spending of the month 512.00 CNY, budget 500.00, about 980.00 CNY at its end by the forecast`. */
function sayFiring(item: MessageItem, frame: WordingFrame): string {
  const given = givenOf(item, frame);
  // A test of an account of which nothing is known yet.
  if (item.value === null) return say(says.subject, given, frame);
  if (item.facts.some(({ name }) => name === judgedBy))
    return say(perPeriod(item, [says.dayAhead, says.weekAhead, says.monthAhead]), given, frame);
  const total = item.facts.find(({ name }) => name === totalAtEnd)?.value;
  const spent = perPeriod(item, [says.day, says.week, says.month]);
  if (total?.unit !== 'money') return say(spent, given, frame);
  const words = perPeriod(item, [says.dayTotal, says.weekTotal, says.monthTotal]);
  return say(words, { ...given, total: sayComputed(total.micros, frame) }, frame);
}

function givenOf(item: MessageItem, frame: WordingFrame) {
  return {
    label: sayLabel(item.balanceLabel, frame),
    amount: sayValue(item, frame) ?? '',
    limit: sayLimit(item, frame) ?? '',
  };
}

function perPeriod<P>(item: MessageItem, [day, week, month]: readonly [day: P, week: P, month: P]): P {
  const value = item.facts.find(({ name }) => name === 'period')?.value;
  const period = value?.unit === 'text' ? value.text : '';
  return period === 'day' ? day : period === 'week' ? week : month;
}

/**
 * Breached when the falls since the period began, in one currency, reach a threshold; a top-up is no negative spending.
 * Resolved by the first reading of the next period.
 *
 * If the sum does not go back to the period's beginning, only a breach is certain: otherwise there is no verdict until the next
 * period, and an alert that fires goes on. By the forecast, the total at the period's end is judged: its median.
 */
function judge(rule: BudgetRule, facts: ReadFacts, firing: Severity | null): Evaluation {
  const sum = sumOf(rule, facts);
  if (sum === null) return unknown(why.learning());
  const spent = judgedSpending(rule, facts.spending, sum);
  if (spent === null) return unknown(told.noForecast());
  const reached = ladder.reachedStep(rule.thresholds, spent);
  const isKept =
    rule.by === 'forecast' &&
    firing !== null &&
    spent >= resolvesAt * (rule.thresholds[firing] ?? Number.POSITIVE_INFINITY) &&
    (reached === null || severityRank(reached) < severityRank(firing));
  const severity = isKept ? firing : reached;
  if (severity !== null || sum.knownSince <= sum.startsAt)
    return ladder.stepVerdict(rule.thresholds, severity, { value: money(spent), limit: money });
  const amount = exactAmount(spent, facts.reading.currency);
  return unknown(onlySince[rule.per]({ since: `${minuteText(sum.knownSince)} UTC`, amount }));
}

/** The fall of the rule's balance; 0 if it was never read in the period. */
function spentOf({ spent }: PeriodSum, { balance }: BudgetRule): Micros {
  return ownOf(spent, balance) ?? 0;
}

/** The amount that a rule compares with its budget; null if it goes by a forecast and there is none. */
function judgedSpending(rule: BudgetRule, spending: AccountSpending, sum: PeriodSum): Micros | null {
  if (rule.by === 'spent') return spentOf(sum, rule);
  const ahead = spending.expectedUntil(rule.balance, sum.endsAt);
  return ahead === null ? null : spentOf(sum, rule) + ahead.micros;
}

/** The sum at the newest reading; null while it is unknown. */
function sumOf(rule: BudgetRule, facts: AccountFacts): PeriodSum | null {
  const reading = usableReading(facts);
  return reading !== null && facts.spending.knows(reading) ? facts.spending.since(rule.per) : null;
}

function factsBehind(rule: BudgetRule, facts: AccountFacts): readonly Fact[] {
  const period = text(periodWords[rule.per]());
  const sum = sumOf(rule, facts);
  if (sum === null) return listFacts({ period });
  const { startsAt, endsAt, watchedFrom } = sum;
  const isCut = sum.knownSince > startsAt;
  const steps = ladder.ladderSteps(rule.thresholds);
  return listFacts({
    period,
    [began]: instant(startsAt),
    'period ends': instant(endsAt),
    spent: money(spentOf(sum, rule)),
    [knownSince]: isCut ? instant(sum.knownSince) : null,
    // Before that reading, only a share of a long gap is known.
    [firstRead]: !isCut && watchedFrom - startsAt > (endsAt - startsAt) / 20 ? instant(watchedFrom) : null,
    ...totalOf(rule, facts, sum),
    ...Object.fromEntries(
      steps.map(({ severity, threshold }) => [told.begins({ severity }), money(threshold)]),
    ),
  });
}

/** The period's spending at its end: by the forecast, else by the mean of the time that is known, from an hour on. */
function totalOf(rule: BudgetRule, { spending }: AccountFacts, sum: PeriodSum) {
  const at = spending.last?.at ?? sum.startsAt;
  const spent = spentOf(sum, rule);
  const ahead = spending.expectedUntil(rule.balance, sum.endsAt);
  const seenMs = at - sum.knownSince;
  if (ahead === null && seenMs < hourMs) return { [totalAtEnd]: text(told.notYet()) };
  if (ahead === null) {
    const mean = sum.knownSince > sum.startsAt ? told.byKnown() : told.byPeriod();
    const rest = (spent * Math.max(0, sum.endsAt - at)) / seenMs;
    return { [totalAtEnd]: money(spent + Math.round(rest)), [reckonedBy]: text(mean) };
  }
  const isAhead = rule.by === 'forecast';
  const next = ladder.ladderSteps(rule.thresholds).findLast(({ threshold }) => threshold > spent);
  const reached = next === undefined ? null : spending.forecast(rule.balance, next.threshold - spent);
  const isReached = reached?.emptyAt != null && reached.emptyAt < sum.endsAt;
  return {
    [totalAtEnd]: money(spent + ahead.micros),
    [totalAtLeast]: isAhead ? money(spent + ahead.low) : null,
    [totalAtMost]: isAhead ? money(spent + ahead.high) : null,
    [reachedAt]: isAhead && isReached ? instant(Math.round(reached.emptyAt)) : null,
    [judgedBy]: isAhead ? text('forecast') : null,
    [reckonedBy]: text(told.byForecast()),
  };
}

/**
 * The budget for a month of a balance; null if no rule has one, or it is in another currency than the balance is read in now. A rule's
 * budget is its last step. Of several rules, the highest that the spending has reached, else the one that is reached first.
 */
export function monthlyBudget(
  { rules, settings, poll }: Budgeted,
  balance: Balance,
  spent: Micros,
): Micros | null {
  const { currency } = settings;
  if (currency !== null && !isSameCurrency(currency, poll.reading?.currency ?? currency)) return null;
  const own = rules.filter(
    (rule): rule is BudgetRule => rule.type === budget.type && rule.balance === balance,
  );
  const amounts = own.flatMap(({ per, thresholds }) =>
    per === 'month' ? Math.max(...ladder.ladderSteps(thresholds).map(({ threshold }) => threshold)) : [],
  );
  const reached = amounts.filter((amount) => spent >= amount);
  if (reached.length > 0) return Math.max(...reached);
  return amounts.length === 0 ? null : Math.min(...amounts);
}

interface Budgeted {
  readonly rules: readonly Rule[];
  readonly settings: { readonly currency: string | null };
  readonly poll: { readonly reading: Reading | null };
}
