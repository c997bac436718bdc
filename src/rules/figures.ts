import { type ItemAccount, type MessageItem, type Runway, stateOf } from '../domain/message.ts';
import { formatMoment, formatMomentAndAge, roughDuration } from '../domain/moment.ts';
import { formatAmount, isSameCurrency, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Fact } from '../domain/quantity.ts';
import { amountOf } from '../domain/reading.ts';
import {
  balanceName,
  formatComputed,
  type WordingFrame,
  wordFact,
  wordQuantity,
  wordRunwayAndEnd,
} from '../wording/quantity-wording.ts';
import type { Figure } from './kind.ts';
import { currentMicros, isUnusualPace, wordBalance } from './words.ts';

/**
 * The numbers of an item about a balance. Without `wordThreshold` the limit is left out. `valueIsBalance`:
 * the kind judges the balance itself, so it is known even without a reading.
 */
export function moneyFigures(
  item: MessageItem,
  frame: WordingFrame,
  kind: {
    readonly wordThreshold: ((limit: string, item: MessageItem) => string) | undefined;
    readonly valueIsBalance: boolean;
  },
): readonly Figure[] {
  const limit = item.threshold && wordQuantity(item.threshold, frame);
  return [
    ...balanceFigures(item, frame, kind.valueIsBalance),
    ...figure('Threshold', limit === null ? null : (kind.wordThreshold?.(limit, item) ?? null)),
    ...jumpFigures(item),
    ...runwayFigures(item.account?.runway ?? null, frame),
    ...readingFigures(item, frame),
  ];
}

/** For an account that cannot be read: what was last known, and how often it failed since. */
export function stalenessFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const failures = item.account?.consecutiveFailures ?? 0;
  return [
    ...lastKnownFigures(item, frame),
    ...figure('Failed polls', failures === 0 ? null : `${failures} in a row`),
  ];
}

/** None without a value. */
export function figure(label: string, value: string | null): Figure[] {
  return value === null ? [] : [{ label, value }];
}

export function ownFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  return [
    ...figure('Reason', wordWhatIsWrong(item, frame)),
    ...item.facts.map((fact) => figureOf(fact, frame)),
  ];
}

/** The value of a self alert; null once it is over. */
export function wordWhatIsWrong(item: MessageItem, frame: WordingFrame): string | null {
  if (item.value?.unit !== 'text' || stateOf(item) === 'resolved') return null;
  return wordQuantity(item.value, frame);
}

function figureOf(fact: Fact, frame: WordingFrame): Figure {
  const name = cleanText(fact.name, 60);
  return { label: name.charAt(0).toUpperCase() + name.slice(1), value: wordFact(fact, frame) };
}

/** In the order of the item. */
export function figuresOf(item: MessageItem, frame: WordingFrame, names: readonly string[]): Figure[] {
  return item.facts.filter(({ name }) => names.includes(name)).map((fact) => figureOf(fact, frame));
}

export function readingFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const reading = item.account?.reading ?? null;
  return figure('As of', reading && formatMomentAndAge(reading.at, frame));
}

export function allBalances({ reading, balances }: ItemAccount): readonly Figure[] {
  if (reading === null) return [];
  return balances.map(({ id, label }) => ({
    label: balanceName(label),
    value: formatAmount(amountOf(reading, id), cleanText(reading.currency, 12)),
  }));
}

function balanceFigures(item: MessageItem, frame: WordingFrame, valueIsBalance: boolean): readonly Figure[] {
  const current = currentMicros(item);
  if (current === null || item.balance === null) return [];
  // The value is a sum of spending; only a reading has the balance.
  if (!valueIsBalance && (item.account?.reading ?? null) === null) return [];
  return [{ label: balanceName(item.balanceLabel), value: wordBalance(current, item, frame) }];
}

/** A change by half or more in one poll may be a mistake of the provider: the value before is shown. */
function jumpFigures(item: MessageItem): readonly Figure[] {
  const { reading, previous } = item.account ?? { reading: null, previous: null };
  if (reading === null || previous === null || item.balance === null) return [];
  const now = ownOf(reading.balances, item.balance);
  const before = ownOf(previous.balances, item.balance);
  if (now === undefined || before === undefined) return [];
  const jumped = Math.abs(now - before) * 2 >= Math.max(Math.abs(now), Math.abs(before)) && now !== before;
  if (!jumped && isSameCurrency(reading.currency, previous.currency)) return [];
  const amount = formatAmount(before, cleanText(previous.currency, 12));
  return [{ label: 'Before', value: `${amount}, ${roughDuration(reading.at - previous.at)} earlier` }];
}

function runwayFigures(runway: Runway | null, frame: WordingFrame): readonly Figure[] {
  if (runway === null || runway.burnPerDay === null) return [];
  // The interval already shows how certain it is.
  const plain = runway.runwayMs !== null && runway.runwayMs > 0 && runway.forecast?.earliest == null;
  const sure = plain ? ` (confidence ${runway.confidence})` : '';
  return [
    { label: 'Spending', value: wordPace(runway, runway.burnPerDay, frame) },
    { label: 'Lasts', value: `${wordRunwayAndEnd(runway, frame)}${sure}` },
    ...figure('Expected', runway.expected && wordExpected(runway.expected, frame)),
  ];
}

/** `19.20 CNY per day`; where the last time differs twofold, both: `3.00 CNY per day in the last day, usually 19.20 CNY`. */
function wordPace(runway: Runway, burnPerDay: Micros, { currency }: WordingFrame): string {
  const recent = `${formatComputed(burnPerDay, currency)} per day`;
  const { usualPerDay, lookbackMs } = runway;
  if (usualPerDay === null || !isUnusualPace(runway)) return recent;
  return `${recent} in the last ${roughDuration(lookbackMs)}, usually ${formatComputed(usualPerDay, currency)}`;
}

/** `5,000.00 CNY by Thu 26 Nov 10:00 UTC+8 (PO-4711)`. */
function wordExpected(
  { amountMicros, by, comment }: NonNullable<Runway['expected']>,
  frame: WordingFrame,
): string {
  const order = cleanText(comment, 80);
  const amount = formatAmount(amountMicros, frame.currency);
  return `${amount} by ${formatMoment(by, frame)}${order === '' ? '' : ` (${order})`}`;
}

function lastKnownFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const account = item.account;
  if (account === null) return [];
  const over = stateOf(item) === 'resolved';
  if (account.reading === null) return [{ label: 'Last reading', value: 'never' }];
  return [
    { label: over ? 'As of' : 'Last reading', value: formatMomentAndAge(account.reading.at, frame) },
    ...allBalances(account),
    ...runwayFigures(account.runway, frame).map(({ label, value }) => ({
      label:
        `${account.balances.find(({ id }) => id === account.runway?.balance)?.label ?? ''} ${label.toLowerCase()}`.trim(),
      value,
    })),
  ];
}
