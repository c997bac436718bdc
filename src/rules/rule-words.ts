import { formatDuration } from '../domain/duration.ts';
import { formatExact, type Micros } from '../domain/money.ts';
import { type AmountOrShare, firstBalance, type MoneyRule } from '../domain/rule.ts';

/** An amount as the file may write it, with its currency: every digit counts. */
export function exactAmount(micros: Micros, currency: string): string {
  return `${formatExact(micros)} ${currency}`;
}

/** `SMS balance`. */
export function nameBalance({ balance, balanceLabel = balance }: MoneyRule): string {
  return balance === firstBalance ? 'first balance' : `${balanceLabel} balance`;
}

/** "50.00" or "10%". */
export function describeAmount(amount: AmountOrShare): string {
  return amount.kind === 'amount' ? formatExact(amount.micros) : formatShare(amount.share);
}

/** A share as percent with at most four decimals: "12.5%". */
export function formatShare(share: number): string {
  return `${Math.round(share * 1_000_000) / 10_000}%`;
}

/** `; resolves 10% above`; nothing where it resolves at the threshold itself. */
export function describeHysteresis(hysteresis: AmountOrShare): string {
  const isNone = hysteresis.kind === 'amount' && hysteresis.micros === 0;
  return isNone ? '' : `; resolves ${describeAmount(hysteresis)} above`;
}

/** As the file writes it, to the second: rounded to the side on which a sentence stays true. */
export function wholeSeconds(ms: number, side: 'up' | 'down'): string {
  const seconds = side === 'up' ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  return formatDuration(seconds * 1000);
}
