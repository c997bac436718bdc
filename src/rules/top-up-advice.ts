import type { MessageItem, Runway } from '../domain/message.ts';
import { roughDuration } from '../domain/moment.ts';
import type { Micros } from '../domain/money.ts';
import { formatPayable, type WordingFrame } from '../wording/quantity-wording.ts';
import { currentMicros, isUnusualPace } from './item-words.ts';

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
