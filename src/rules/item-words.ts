import { isOver } from '../domain/item-state.ts';
import type { MessageItem, Runway } from '../domain/message.ts';
import { formatAmountDistinctFrom, formatBare, type Micros } from '../domain/money.ts';
import { type WordingFrame, wordQuantity } from '../wording/quantity-wording.ts';

/** `SMS`: the balance that an item is about, as people call it. */
export function moneyOf({ balanceLabel }: Pick<MessageItem, 'balanceLabel'>): string {
  return balanceLabel;
}

/** The newest reading of the item's balance; the judged value where there is no reading. */
export function currentMicros(item: MessageItem): Micros | null {
  const reading = item.account?.reading ?? null;
  const current = item.balance === null ? undefined : reading?.balances[item.balance];
  if (current !== undefined) return current;
  return item.value?.unit === 'money' ? item.value.micros : null;
}

/**
 * The balance in the headline, after a space; empty where unknown. What is over shows the balance of that
 * moment: the message may be sent late and stays in lists for months.
 */
export function currentAmount(item: MessageItem, frame: WordingFrame): string {
  const fact = isOver(item) ? item.facts.find(({ name }) => name === 'balance') : undefined;
  const micros = fact?.value.unit === 'money' ? fact.value.micros : currentMicros(item);
  return micros === null ? '' : ` ${wordBalance(micros, item, frame)}`;
}

/** A balance next to its threshold: rounding never makes them look equal. */
export function wordBalance(micros: Micros, { threshold }: MessageItem, { currency }: WordingFrame): string {
  return formatAmountDistinctFrom(micros, threshold?.unit === 'money' ? threshold.micros : micros, currency);
}

/** Null where nothing could be measured. */
export function wordValue(item: MessageItem, frame: WordingFrame): string | null {
  return item.value === null ? null : wordQuantity(item.value, frame);
}

/** Without currency, because it stands next to an amount with one. */
export function wordLimit(item: MessageItem, frame: WordingFrame): string | null {
  if (item.threshold === null) return null;
  return item.threshold.unit === 'money'
    ? formatBare(item.threshold.micros, frame.currency)
    : wordQuantity(item.threshold, frame);
}

/** Null where the rule has no such fact. */
export function factText(item: MessageItem, name: string, frame: WordingFrame): string | null {
  const fact = item.facts.find((candidate) => candidate.name === name);
  if (fact === undefined) return null;
  if (fact.value.unit === 'count') return String(fact.value.count);
  return fact.value.unit === 'instant' ? null : wordQuantity(fact.value, frame);
}

/** `SMS balance 42.10 CNY, below 50.00`. */
export function wordLowBalance(
  item: MessageItem,
  frame: WordingFrame,
  wordThreshold: (micros: Micros) => string,
): string {
  const limitMicros = item.threshold?.unit === 'money' ? item.threshold.micros : 0;
  const limit = wordThreshold(limitMicros);
  const current = currentMicros(item);
  // The incident is still open within the hysteresis and during `recoverFor`.
  const relation =
    current !== null && current >= limitMicros ? `recovering from below ${limit}` : `below ${limit}`;
  return `${moneyOf(item)} balance${currentAmount(item, frame)}, ${relation}`;
}

/** Whether spending of late is less than half or more than twice the usual. */
export function isUnusualPace({ burnPerDay, usualPerDay }: Runway): boolean {
  if (burnPerDay === null || usualPerDay === null || burnPerDay + usualPerDay === 0) return false;
  return burnPerDay > 2 * usualPerDay || usualPerDay > 2 * burnPerDay;
}
