import type { Notice } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { currentAmount, currentMicros, moneyOf } from './notice-words.ts';

/** `SMS balance 42.10 CNY, below 50.00`. */
export function wordLowBalance(
  notice: Notice,
  frame: WordingFrame,
  wordThreshold: (micros: Micros) => string,
): string {
  const limitMicros = notice.threshold?.unit === 'money' ? notice.threshold.micros : 0;
  const limit = wordThreshold(limitMicros);
  const current = currentMicros(notice);
  // Within the hysteresis, or while `recoverFor` runs, the balance is past the threshold and the incident still open.
  const relation =
    current !== null && current >= limitMicros ? `recovering from below ${limit}` : `below ${limit}`;
  return `${moneyOf(notice)} balance${currentAmount(notice, frame)}, ${relation}`;
}
