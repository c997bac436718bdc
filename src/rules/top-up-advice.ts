import type { Notice } from '../domain/message.ts';
import { formatAmount } from '../domain/money.ts';
import { formatPayable, type WordingFrame } from '../wording/quantity-wording.ts';
import { currentMicros } from './notice-words.ts';

/** What to pay where a balance runs out, or what is known instead. */
export function topUpAdvice(notice: Notice, frame: WordingFrame): readonly string[] {
  const known = topUpIfKnown(notice, frame);
  if (known.length > 0) return known;
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  if (restore === 0)
    return ['At the present pace the balance lasts more than 30 days: check that nothing unusual is ahead.'];
  const current = currentMicros(notice);
  const target = notice.threshold?.unit === 'money' ? notice.threshold.micros : 0;
  const gap = current === null ? 0 : target - current;
  const unknown = 'How much lasts 30 days cannot be said yet: spending was watched for too short a time.';
  return gap > 0
    ? [
        `Top up ${formatAmount(gap, frame.currency)} or more to be back at ${formatAmount(target, frame.currency)}. ${unknown}`,
      ]
    : [unknown];
}

/** What to pay, where it is known; nothing otherwise. */
export function topUpIfKnown(notice: Notice, frame: WordingFrame): readonly string[] {
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  if (restore === null || restore <= 0) return [];
  return [`Top up ${formatPayable(restore, frame.currency)} to have 30 days again at the present pace.`];
}
