import { formatDuration } from '../domain/duration.ts';
import { formatExact, type Micros } from '../domain/money.ts';
import { type AmountOrShare, firstBalance, type MoneyRule } from '../domain/rule.ts';

/** Every digit counts: `1234.50 CNY`. */
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
