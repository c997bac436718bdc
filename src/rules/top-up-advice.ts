import type { Notice } from '../domain/message.ts';
import { formatPayable, type WordingFrame } from '../wording/quantity-wording.ts';
import { currentMicros } from './item-words.ts';

const unknownRate =
  'How much lasts 30 days cannot be said: spending was watched for too short a time, or was one jump.';

/** What to pay where a balance runs out: for 30 days, and never less than what ends every open alert of it. */
export function topUpAdvice(notice: Notice, frame: WordingFrame): readonly string[] {
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  const clear = clearingMicros(notice);
  if (restore !== null && restore > 0 && restore >= clear) return topUpIfKnown(notice, frame);
  if (clear > 0) {
    const enough = `Top up ${formatPayable(clear, frame.currency)} or more to end every alert of this balance.`;
    return restore === null ? [`${enough} ${unknownRate}`] : [`${enough} It then lasts more than 30 days.`];
  }
  if (restore === null) return [unknownRate];
  return ['At the present pace the balance lasts more than 30 days: check that nothing unusual is ahead.'];
}

/** What to pay for 30 days, where that is known; nothing otherwise. */
export function topUpIfKnown(notice: Notice, frame: WordingFrame): readonly string[] {
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  if (restore === null || restore <= 0) return [];
  return [`Top up ${formatPayable(restore, frame.currency)} to have 30 days again at the present pace.`];
}

/** How far the balance is from where its alerts resolve; 0 where it is past that, or unknown. */
function clearingMicros(notice: Notice): number {
  const current = currentMicros(notice);
  const ownLimit = notice.threshold?.unit === 'money' ? notice.threshold.micros : null;
  const target = notice.account?.clearsAt ?? ownLimit;
  return current === null || target === null ? 0 : Math.max(0, target - current);
}
