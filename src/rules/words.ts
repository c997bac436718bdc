import { isOver, type MessageItem, type Runway } from '../domain/message.ts';
import { formatExact, formatMicros, isUnit, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import { type AmountOrShare, firstBalance, type MoneyRule } from '../domain/rule.ts';
import { formatDuration } from '../domain/time.ts';
import { sayEmptyWhen } from '../wording/forecast-wording.ts';
import { sayDuration, sayNearMoment } from '../wording/moments.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import {
  balanceName,
  sayAmount,
  sayBalance,
  sayFact,
  sayPayable,
  sayPayBy,
  sayShortPayable,
  type WordingFrame,
} from '../wording/quantity-wording.ts';

const says = phrases('topUp', {
  unknown: 'unknown',
  balanceBelow: '{balance} {amount}, below {limit}',
  balanceRecovering: '{balance} {amount}, recovering from below {limit}',
  payBy: 'pay {amount} by {payBy}, empty {when}',
  payNowBefore: 'pay {amount} now, empty {when}',
  pay: 'pay {amount}, empty {when}',
  ordered: '{amount} ordered, expected by {by}, empty {when}',
  payUsedUp: 'pay {amount} now, {balance} is used up',
  payUsedUpByForecast: 'pay {amount} now, {balance} is used up by the forecast',
  needsHistory: 'Not enough history yet to say how much covers 30 days.',
  atLeast: 'Top up at least {amount} to clear all alerts on this balance. It then lasts more than 30 days.',
  atLeastUnknown:
    'Top up at least {amount} to clear all alerts on this balance. Not enough history yet to say how much covers 30 days.',
  enough: 'At the usual rate the balance lasts more than 30 days: check that nothing unusual is ahead.',
  enoughByMean:
    'At the rate of the last {span} the balance lasts more than 30 days: check that nothing unusual is ahead.',
  untilNextRun: 'Top up {amount}, enough until the money of the next pay run arrives.',
  another: 'Top up {amount} for another 30 days at the usual rate.',
  anotherByMean: 'Top up {amount} for another 30 days at the rate of the last {span}.',
  anotherOfTwo: 'Top up {amount} for another 30 days at the usual rate, {recent} at that of the last {span}.',
});

const told = sentences('ruleWords', { first: 'first balance', resolves: '{rule}; resolves {amount} above' });

/** Degrees that facts name: of confidence, of sensitivity. */
export const degrees = sentences('degree', {
  none: 'none',
  low: 'low',
  medium: 'medium',
  normal: 'normal',
  high: 'high',
});

/** The newest reading's amount; the judged value if there is no reading. */
export function currentMicros(item: MessageItem): Micros | null {
  const reading = item.account?.reading ?? null;
  const current = item.balance === null ? undefined : ownOf(reading?.balances, item.balance);
  if (current !== undefined) return current;
  return item.value?.unit === 'money' ? item.value.micros : null;
}

/** `unknown` if it is unknown. An item that is over shows its last amount: the message may be sent late, and stays in lists for months. */
function currentAmount(item: MessageItem, frame: WordingFrame): string {
  const fact = isOver(item) ? item.facts.find(({ name }) => name === 'balance') : undefined;
  const micros = fact?.value.unit === 'money' ? fact.value.micros : currentMicros(item);
  return micros === null ? say(says.unknown, frame) : sayBesideLimit(micros, item, frame);
}

/** The words for a balance in every sentence: its name, `SMS balance`, and its amount. */
export function sayBalanceOf(item: MessageItem, frame: WordingFrame) {
  return { balance: sayBalance(item.balanceLabel, frame), amount: currentAmount(item, frame) };
}

/** A balance next to its threshold and the end of its credit: rounding never makes it look equal to the nearer one. */
export function sayBesideLimit(
  micros: Micros,
  { threshold, account }: MessageItem,
  frame: WordingFrame,
): string {
  const empty = account?.runway?.emptyMicros ?? 0;
  const limit = threshold?.unit === 'money' ? threshold.micros : empty;
  return sayAmount(micros, frame, Math.abs(micros - empty) < Math.abs(micros - limit) ? empty : limit);
}

/** Null when the item has no such fact. */
export function factText(item: MessageItem, name: string, frame: WordingFrame): string | null {
  const fact = item.facts.find((candidate) => candidate.name === name);
  return fact === undefined ? null : sayFact(fact, frame);
}

/** A text as it was stored, such as a name: it is never translated. */
export function givenText(item: MessageItem, name: string): string | null {
  const value = item.facts.find((candidate) => candidate.name === name)?.value;
  return value?.unit === 'text' ? cleanText(value.text, 300) : null;
}

/** `pay 1,900 CNY by Thu 14:00, empty Thu 20:00 to Fri 09:00`; null when amount or end is unknown. */
export function sayNeed(item: MessageItem, frame: WordingFrame): string | null {
  const { runway = null, payment = null } = item.account ?? {};
  if (runway === null) return null;
  const amount = payment === null ? null : sayShortPayable(payment.micros, frame);
  if (amount !== null && runway.runwayMs !== null && runway.runwayMs <= 0)
    return say(
      runway.isEndPredicted ? says.payUsedUpByForecast : says.payUsedUp,
      { amount, balance: sayBalance(item.balanceLabel, frame) },
      frame,
    );
  const when = sayEmptyWhen(runway, frame);
  if (when === null) return null;
  const { expected, payBy: payByMs } = runway;
  // If there is an amount left to pay, it says more than the order.
  if (expected !== null && amount === null) {
    const by = sayNearMoment(expected.by, frame);
    return say(says.ordered, { amount: sayAmount(expected.amountMicros, frame), by, when }, frame);
  }
  if (amount === null) return null;
  const payBy = sayPayBy(runway, frame, sayNearMoment);
  if (payByMs === null || payBy === null) return say(says.pay, { amount, when }, frame);
  return payByMs <= frame.now
    ? say(says.payNowBefore, { amount, when }, frame)
    : say(says.payBy, { amount, payBy, when }, frame);
}

/** The advice about a low balance, else `SMS balance 42.10 CNY, below 50.00`. */
export function sayLowBalance(item: MessageItem, limit: string, frame: WordingFrame): string {
  const current = currentMicros(item);
  const limitMicros = item.threshold?.unit === 'money' ? item.threshold.micros : 0;
  // The incident is still open within the hysteresis and during `recoverFor`; a test reads as the real one would.
  const isRecovering = item.incident.test === undefined && current !== null && current >= limitMicros;
  const given = { ...sayBalanceOf(item, frame), limit };
  if (isRecovering) return say(says.balanceRecovering, given, frame);
  return sayNeed(item, frame) ?? say(says.balanceBelow, given, frame);
}

/** Whether recent spending is less than half or more than twice the usual. */
export function isUnusualPace({ burnPerDay, usualPerDay }: Runway): boolean {
  if (burnPerDay === null || usualPerDay === null || burnPerDay + usualPerDay === 0) return false;
  return burnPerDay > 2 * usualPerDay || usualPerDay > 2 * burnPerDay;
}

/** An amount with every digit that counts: `1234.50 CNY`, `1234 credits`. */
export function exactAmount(micros: Micros, currency: string): string {
  return `${isUnit(currency) ? formatMicros(micros) : formatExact(micros)} ${currency}`;
}

/** `SMS balance`. */
export function nameBalance({ balance, balanceLabel = balance }: MoneyRule): string {
  return balance === firstBalance ? told.first() : balanceName(balanceLabel);
}

/** "50.00" or "10%". */
export function describeAmount(amount: AmountOrShare): string {
  return amount.kind === 'amount' ? formatExact(amount.micros) : formatShare(amount.share);
}

/** At most four decimals: "12.5%". */
export function formatShare(share: number): string {
  return `${Math.round(share * 1_000_000) / 10_000}%`;
}

/** Nothing is added if the rule resolves at the threshold itself. */
export function describeHysteresis(rule: string, hysteresis: AmountOrShare): string {
  const isNone = hysteresis.kind === 'amount' && hysteresis.micros === 0;
  return isNone ? rule : told.resolves({ rule, amount: describeAmount(hysteresis) });
}

/** A duration in whole seconds, rounded so that the sentence stays true. */
export function wholeSeconds(ms: number, side: 'up' | 'down'): string {
  const seconds = side === 'up' ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  return formatDuration(seconds * 1000);
}

/** The amount to pay, or why nobody can say. */
export function topUpAdvice(item: MessageItem, frame: WordingFrame): readonly string[] {
  const { runway = null, payment = null } = item.account ?? {};
  if (payment !== null) return topUpIfKnown(item, frame);
  if (runway?.restoreMicros == null) return [say(says.needsHistory, frame)];
  if (runway.expected !== null) return [];
  if (runway.usualPerDay !== null) return [say(says.enough, frame)];
  return [say(says.enoughByMean, { span: sayDuration(runway.lookbackMs, frame) }, frame)];
}

/** The payment, and what it is enough for; empty when none is needed or known. */
export function topUpIfKnown(item: MessageItem, frame: WordingFrame): readonly string[] {
  const { runway = null, payment = null } = item.account ?? {};
  if (runway === null || payment === null) return [];
  const amount = sayPayable(payment.micros, frame);
  if (payment.covers === 'next-run') return [say(says.untilNextRun, { amount }, frame)];
  if (payment.covers === 'alerts')
    return [say(runway.restoreMicros === null ? says.atLeastUnknown : says.atLeast, { amount }, frame)];
  const span = sayDuration(runway.lookbackMs, frame);
  if (runway.usualPerDay === null) return [say(says.anotherByMean, { amount, span }, frame)];
  const atRecent = restoreAtRecent(runway, payment.micros);
  if (atRecent === null) return [say(says.another, { amount }, frame)];
  return [say(says.anotherOfTwo, { amount, recent: sayPayable(atRecent, frame), span }, frame)];
}

/** The cost of 30 days at the recent pace, if that differs twofold from the usual; null if it does not, or nothing is needed. */
function restoreAtRecent(runway: Runway, restore: Micros): Micros | null {
  const { burnPerDay, usualPerDay } = runway;
  if (burnPerDay === null || usualPerDay === null || !isUnusualPace(runway)) return null;
  const atRecent = restore + (burnPerDay - usualPerDay) * 30;
  return atRecent > 0 ? atRecent : null;
}
