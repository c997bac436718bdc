import { formatDuration } from '../domain/duration.ts';
import { isOver, type MessageItem, type Runway } from '../domain/message.ts';
import { roughDuration } from '../domain/moment.ts';
import { formatAmountDistinctFrom, formatBare, formatExact, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { type AmountOrShare, firstBalance, type MoneyRule } from '../domain/rule.ts';
import { balanceName, formatPayable, type WordingFrame, wordQuantity } from '../wording/quantity-wording.ts';

/** The words after `before`; empty without words. */
export function clause(before: string, words: string | null): string {
  return words === null ? '' : `${before}${words}`;
}

/** By the newest reading; the judged value where there is none. */
export function currentMicros(item: MessageItem): Micros | null {
  const reading = item.account?.reading ?? null;
  const current = item.balance === null ? undefined : ownOf(reading?.balances, item.balance);
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
  return `${balanceName(item.balanceLabel)}${currentAmount(item, frame)}, ${relation}`;
}

/** Whether spending of late is less than half or more than twice the usual. */
export function isUnusualPace({ burnPerDay, usualPerDay }: Runway): boolean {
  if (burnPerDay === null || usualPerDay === null || burnPerDay + usualPerDay === 0) return false;
  return burnPerDay > 2 * usualPerDay || usualPerDay > 2 * burnPerDay;
}

/** Every digit counts: `1234.50 CNY`. */
export function exactAmount(micros: Micros, currency: string): string {
  return `${formatExact(micros)} ${currency}`;
}

/** `SMS balance`. */
export function nameBalance({ balance, balanceLabel = balance }: MoneyRule): string {
  return balance === firstBalance ? 'first balance' : balanceName(balanceLabel);
}

/** "50.00" or "10%". */
export function describeAmount(amount: AmountOrShare): string {
  return amount.kind === 'amount' ? formatExact(amount.micros) : formatShare(amount.share);
}

/** At most four decimals: "12.5%". */
export function formatShare(share: number): string {
  return `${Math.round(share * 1_000_000) / 10_000}%`;
}

/** Empty where it resolves at the threshold itself. */
export function describeHysteresis(hysteresis: AmountOrShare): string {
  const isNone = hysteresis.kind === 'amount' && hysteresis.micros === 0;
  return isNone ? '' : `; resolves ${describeAmount(hysteresis)} above`;
}

/** To the second, rounded so that the sentence stays true. */
export function wholeSeconds(ms: number, side: 'up' | 'down'): string {
  const seconds = side === 'up' ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  return formatDuration(seconds * 1000);
}

const unknownRate = 'Not enough history yet to say how much covers 30 days.';

/** What to pay for 30 days, and at least what clears every open alert of the balance. */
export function topUpAdvice(item: MessageItem, frame: WordingFrame): readonly string[] {
  const restore = item.account?.runway?.restoreMicros ?? null;
  const clear = clearingMicros(item);
  if (restore !== null && restore > 0 && restore >= clear) return topUpIfKnown(item, frame);
  if (clear > 0) {
    const enough = `Top up at least ${formatPayable(clear, frame.currency)} to clear all alerts on this balance.`;
    return restore === null ? [`${enough} ${unknownRate}`] : [`${enough} It then lasts more than 30 days.`];
  }
  if (restore === null) return [unknownRate];
  const rate = item.account?.runway ? wordRate(item.account.runway) : 'the usual rate';
  return [`At ${rate} the balance lasts more than 30 days: check that nothing unusual is ahead.`];
}

/** What to pay for 30 days; nothing where that is unknown. */
export function topUpIfKnown(item: MessageItem, frame: WordingFrame): readonly string[] {
  const runway = item.account?.runway ?? null;
  const restore = runway?.restoreMicros ?? null;
  if (runway === null || restore === null || restore <= 0) return [];
  const enough = `Top up ${formatPayable(restore, frame.currency)} for another 30 days at ${wordRate(runway)}`;
  const atRecent = restoreAtRecent(runway, restore);
  return [
    atRecent === null
      ? `${enough}.`
      : `${enough}, ${formatPayable(atRecent, frame.currency)} at that of the last ${roughDuration(runway.lookbackMs)}.`,
  ];
}

/** The pace that the amount goes by. */
function wordRate({ usualPerDay, lookbackMs }: Runway): string {
  return usualPerDay === null ? `the rate of the last ${roughDuration(lookbackMs)}` : 'the usual rate';
}

/** What 30 days cost at the pace of late, where that differs twofold from the usual; null where it does not, or nothing is needed. */
function restoreAtRecent(runway: Runway, restore: Micros): Micros | null {
  const { burnPerDay, usualPerDay } = runway;
  if (burnPerDay === null || usualPerDay === null || !isUnusualPace(runway)) return null;
  const atRecent = restore + (burnPerDay - usualPerDay) * 30;
  return atRecent > 0 ? atRecent : null;
}

/** 0 where the balance is past that, or unknown. */
function clearingMicros(item: MessageItem): number {
  const current = currentMicros(item);
  const ownLimit = item.threshold?.unit === 'money' ? item.threshold.micros : null;
  const target = item.account?.clearsAt ?? ownLimit;
  return current === null || target === null ? 0 : Math.max(0, target - current);
}
