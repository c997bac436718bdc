import { type ItemAccount, isOver, type MessageItem, type Runway, stateOf } from '../domain/message.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { capital, cleanCurrency, cleanText } from '../domain/plain-text.ts';
import { amountOf, unitOf } from '../domain/reading.ts';
import { sayDuration, sayMoment, sayMomentAndAge } from '../wording/moments.ts';
import { type Argument, type Phrase, phrases, say } from '../wording/phrase.ts';
import {
  sayAmount,
  sayBalance,
  sayComputed,
  sayLimit,
  sayPayBy,
  sayRunwayAndEnd,
  type WordingFrame,
} from '../wording/quantity-wording.ts';
import { sayAgain } from '../wording/say-again.ts';
import type { Figure } from './kind.ts';
import { currentMicros, degrees, isUnusualPace, sayBesideLimit } from './words.ts';

const says = phrases('figure', {
  payBy: 'Pay by',
  lasts: 'Lasts',
  lastsSure: '{length} (confidence {confidence})',
  creditLimit: 'Credit limit',
  asOf: 'As of',
  lastReading: 'Last reading',
  never: 'never',
  threshold: 'Threshold',
  before: 'Before',
  earlier: '{amount}, {duration} earlier',
  spending: 'Spending',
  perDay: '{amount} per day',
  perDayUsually: '{amount} per day in the last {span}, usually {usual}',
  expected: 'Expected',
  expectedBy: '{amount} by {moment}',
  expectedByOrder: '{amount} by {moment} ({order})',
  failedPolls: 'Failed polls',
  inARow: '{count} in a row',
});

/**
 * The facts of an item about a balance, the most important first: balance, pay by, how long it lasts, when it was read, the limit,
 * the value before. A place with less room shows fewer of them and drops the last. Without `threshold` the limit is left out.
 * `valueIsBalance`: the kind judges the balance itself, so it is known even without a reading.
 */
export function moneyFigures(
  given: MessageItem,
  frame: WordingFrame,
  kind: {
    readonly threshold: ((item: MessageItem) => Phrase<{ readonly limit: Argument }>) | undefined;
    readonly valueIsBalance: boolean;
  },
): readonly Figure[] {
  // An item that is over has the reading of its end: in a message that waited, later readings say nothing of it.
  const item = isOver(given) ? asJudged(given) : given;
  const limit = sayLimit(item, frame, sayAmount);
  const phrase = kind.threshold?.(item);
  const runway = item.account?.runway ?? null;
  return [
    ...balanceFigures(item, frame, kind.valueIsBalance),
    ...endFigures(runway, frame),
    ...readingFigures(item, frame),
    ...figure(
      say(says.threshold, frame),
      limit === null || phrase === undefined ? null : say(phrase, { limit }, frame),
    ),
    ...jumpFigures(item, frame),
    ...paceFigures(runway, frame),
  ];
}

/** An open item whose account is now read in another currency is shown as it was judged last: no amount is shown in the wrong currency. */
export function inItsCurrency(item: MessageItem): MessageItem {
  const judged = item.facts.find(({ name }) => name === 'currency')?.value;
  const { balances = [], reading } = item.account ?? {};
  const unit = unitOf({ balances, currency: reading?.currency ?? null }, item.balance);
  const isForeign = judged?.unit === 'text' && unit !== null && !isSameCurrency(judged.text, unit);
  return isForeign && !isOver(item) ? asJudged(item, judged.text) : item;
}

function asJudged(item: MessageItem, currency = item.account?.reading?.currency ?? ''): MessageItem {
  const { account, balance, facts } = item;
  const factOf = (name: string) => facts.find((fact) => fact.name === name)?.value;
  const [readAt, left] = [factOf('read at'), factOf('balance')];
  if (account?.reading == null || balance === null) return item;
  if (readAt?.unit !== 'instant' || left?.unit !== 'money' || readAt.at === account.reading.at) return item;
  const balances = { ...account.reading.balances, [balance]: left.micros };
  const reading = { ...account.reading, at: readAt.at, balances, currency };
  return { ...item, account: { ...account, reading, previous: null, runway: null } };
}

/** For an account that cannot be read: what was last known, and how often it failed since. */
export function stalenessFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const { account } = item;
  if (account === null) return [];
  const { reading, runway, consecutiveFailures: count } = account;
  const label = say(stateOf(item) === 'resolved' ? says.asOf : says.lastReading, frame);
  const readAt = { label, value: reading ? sayMomentAndAge(reading.at, frame) : say(says.never, frame) };
  const failed = count === 0 ? null : say(says.inARow, { count }, frame);
  return [
    ...allBalances(account, frame),
    ...(reading === null ? [] : endFigures(runway, frame)),
    readAt,
    ...(reading === null ? [] : paceFigures(runway, frame)),
    ...figure(say(says.failedPolls, frame), failed),
  ];
}

/** Empty without a value. */
export function figure(label: string, value: string | null): Figure[] {
  return value === null ? [] : [{ label, value }];
}

export function readingFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const reading = item.account?.reading ?? null;
  return figure(say(says.asOf, frame), reading && sayMomentAndAge(reading.at, frame));
}

export function allBalances({ reading, balances }: ItemAccount, frame: WordingFrame): readonly Figure[] {
  if (reading === null) return [];
  return balances.map(({ id, label, unit = reading.currency }) => ({
    label: capital(sayBalance(label, frame)),
    value: sayAmount(amountOf(reading, id), { ...frame, currency: cleanCurrency(unit) }),
  }));
}

function balanceFigures(item: MessageItem, frame: WordingFrame, valueIsBalance: boolean): readonly Figure[] {
  const current = currentMicros(item);
  if (current === null || item.balance === null) return [];
  // The value is a sum of spending; only a reading has the balance.
  if (!valueIsBalance && (item.account?.reading ?? null) === null) return [];
  return [
    { label: capital(sayBalance(item.balanceLabel, frame)), value: sayBesideLimit(current, item, frame) },
  ];
}

/** A change by half or more in one poll may be a mistake of the provider, so the value before is shown. */
function jumpFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const { reading, previous } = item.account ?? { reading: null, previous: null };
  if (reading === null || previous === null || item.balance === null) return [];
  const now = ownOf(reading.balances, item.balance);
  const before = ownOf(previous.balances, item.balance);
  if (now === undefined || before === undefined) return [];
  const jumped = Math.abs(now - before) * 2 >= Math.max(Math.abs(now), Math.abs(before)) && now !== before;
  if (!jumped && isSameCurrency(reading.currency, previous.currency)) return [];
  const unit = unitOf({ balances: item.account?.balances ?? [], currency: previous.currency }, item.balance);
  const amount = sayAmount(before, { ...frame, currency: cleanCurrency(unit) });
  const duration = sayDuration(reading.at - previous.at, frame);
  return figure(say(says.before, frame), say(says.earlier, { amount, duration }, frame));
}

/** Until when somebody has to act, and how long the balance lasts. */
function endFigures(runway: Runway | null, frame: WordingFrame): readonly Figure[] {
  if (runway === null || (runway.runwayMs ?? runway.burnPerDay) === null) return [];
  // The interval already shows how certain it is.
  const isPlain = runway.runwayMs !== null && runway.runwayMs > 0 && runway.forecast?.earliest == null;
  const length = sayRunwayAndEnd(runway, frame);
  const confidence = sayAgain(degrees[runway.confidence](), frame);
  return [
    ...figure(say(says.payBy, frame), sayPayBy(runway, frame)),
    ...figure(say(says.lasts, frame), isPlain ? say(says.lastsSure, { length, confidence }, frame) : length),
    ...figure(
      say(says.creditLimit, frame),
      runway.emptyMicros < 0 ? sayAmount(-runway.emptyMicros, frame) : null,
    ),
  ];
}

function paceFigures(runway: Runway | null, frame: WordingFrame): readonly Figure[] {
  if (runway === null || runway.burnPerDay === null) return [];
  return [
    ...figure(say(says.spending, frame), sayPace(runway, runway.burnPerDay, frame)),
    ...figure(say(says.expected, frame), runway.expected && sayExpected(runway.expected, frame)),
  ];
}

/** `19.20 CNY per day`; if the recent pace differs twofold, both: `3.00 CNY per day in the last day, usually 19.20 CNY`. */
function sayPace(runway: Runway, burnPerDay: Micros, frame: WordingFrame): string {
  const amount = sayComputed(burnPerDay, frame);
  const { usualPerDay, lookbackMs } = runway;
  if (usualPerDay === null || !isUnusualPace(runway)) return say(says.perDay, { amount }, frame);
  const span = sayDuration(lookbackMs, frame);
  return say(says.perDayUsually, { amount, span, usual: sayComputed(usualPerDay, frame) }, frame);
}

/** `5,000.00 CNY by Thu 26 Nov 10:00 UTC+8 (PO-4711)`. */
function sayExpected(expected: NonNullable<Runway['expected']>, frame: WordingFrame): string {
  const order = cleanText(expected.comment, 80);
  const given = {
    amount: sayAmount(expected.amountMicros, frame),
    moment: sayMoment(expected.by, frame),
    order,
  };
  return order === '' ? say(says.expectedBy, given, frame) : say(says.expectedByOrder, given, frame);
}
