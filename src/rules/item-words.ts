import { isOver } from '../domain/item-state.ts';
import type { Notice } from '../domain/message.ts';
import { formatAmountBeside, formatMoney, type Micros } from '../domain/money.ts';
import { balanceLabel } from '../wording/balance-wording.ts';
import { type WordingFrame, wordQuantity } from '../wording/quantity-wording.ts';

/** `SMS` or `VoIP`: the balance that a notice is about. */
export function moneyOf(notice: Pick<Notice, 'balance'>): string {
  return balanceLabel(notice.balance ?? 'sms');
}

/** The newest reading of the notice's balance; what the rule judged where no reading is known. */
export function currentMicros(notice: Notice): Micros | null {
  const reading = notice.account?.reading ?? null;
  if (reading !== null && notice.balance !== null) return reading[notice.balance];
  return notice.value?.unit === 'money' ? notice.value.micros : null;
}

/**
 * The balance in the headline, after a space; empty where none is known. Of what is over, it is the one of that moment:
 * the message may be sent late, and a list shows it for months, while the balance goes on to move.
 */
export function currentAmount(notice: Notice, frame: WordingFrame): string {
  const fact = isOver(notice) ? notice.facts.find(({ name }) => name === 'balance') : undefined;
  const micros = fact?.value.unit === 'money' ? fact.value.micros : currentMicros(notice);
  return micros === null ? '' : ` ${wordBalance(micros, notice, frame)}`;
}

/** A balance beside the threshold that it is held against, so that rounding never makes the one look like the other. */
export function wordBalance(micros: Micros, { threshold }: Notice, { currency }: WordingFrame): string {
  return formatAmountBeside(micros, threshold?.unit === 'money' ? threshold.micros : micros, currency);
}

/** What was judged, in words; null where nothing could be measured. */
export function wordValue(notice: Notice, frame: WordingFrame): string | null {
  return notice.value === null ? null : wordQuantity(notice.value, frame);
}

/** What it was held against. Money stands beside an amount with its currency already: it goes without. */
export function wordLimit(notice: Notice, frame: WordingFrame): string | null {
  if (notice.threshold === null) return null;
  return notice.threshold.unit === 'money'
    ? formatMoney(notice.threshold.micros)
    : wordQuantity(notice.threshold, frame);
}

/** The count, text, amount or length of a named fact; null where the rule gave none. */
export function factText(notice: Notice, name: string, frame: WordingFrame): string | null {
  const fact = notice.facts.find((candidate) => candidate.name === name);
  if (fact === undefined) return null;
  if (fact.value.unit === 'count') return String(fact.value.count);
  return fact.value.unit === 'instant' ? null : wordQuantity(fact.value, frame);
}

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
