import type { MessageItem } from '../domain/message.ts';
import { formatPayable, type WordingFrame } from '../wording/quantity-wording.ts';
import { currentMicros } from './item-words.ts';

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
  return ['At the usual rate the balance lasts more than 30 days: check that nothing unusual is ahead.'];
}

/** What to pay for 30 days; nothing where that is unknown. */
export function topUpIfKnown(item: MessageItem, frame: WordingFrame): readonly string[] {
  const restore = item.account?.runway?.restoreMicros ?? null;
  if (restore === null || restore <= 0) return [];
  return [`Top up ${formatPayable(restore, frame.currency)} for another 30 days at the usual rate.`];
}

/** 0 where the balance is past that, or unknown. */
function clearingMicros(item: MessageItem): number {
  const current = currentMicros(item);
  const ownLimit = item.threshold?.unit === 'money' ? item.threshold.micros : null;
  const target = item.account?.clearsAt ?? ownLimit;
  return current === null || target === null ? 0 : Math.max(0, target - current);
}
