import { currencyCode, isUnit, type Micros } from './money.ts';
import { ownOf } from './own.ts';
import { dayMs, isDay } from './time.ts';

/** The worth of currencies on a day. */
export interface Rates {
  /** Such as `2026-11-20`. */
  readonly date: string;
  readonly base: string;
  /** Decimals above 0 by ISO 4217 code: how much of `base` one unit is worth, or if `inverted`, how many units one `base` is worth. */
  readonly amounts: Readonly<Record<string, string>>;
  readonly inverted: boolean;
}

/** The currency and the rates that turn sums of several currencies into one; no rates until they were read. */
export interface Money {
  readonly currency: string;
  readonly rates: Rates | null;
}

export interface OneSum {
  readonly currency: string;
  readonly micros: Micros;
  /** The date of the rates; null when there are none yet. */
  readonly date: string | null;
  /** Currencies and units without a rate: they are not in the sum. */
  readonly missing: readonly string[];
}

/** The earliest day of rates: older rates are a mistake. Rates that grow old in use are reported. */
const firstDay = '2020-01-01';

/** Why a day cannot be that of rates; null if it can. */
export function faultOfDay(day: string): string | null {
  if (!isDay(day)) return 'must be a day, such as "2026-11-20"';
  return day < firstDay ? `must not be before ${firstDay}` : null;
}

/** Whether a day has not begun anywhere: somewhere it is tomorrow already. */
export function isAhead(day: string, now: number): boolean {
  return Date.parse(day) > now + dayMs;
}

/**
 * Only sums are converted, amounts of accounts never. The sum of each currency is exact to the millionth, with a half rounded away from zero,
 * so that the result is the same however its parts were grouped.
 */
export function sumUp(
  sums: readonly { readonly currency: string; readonly micros: Micros | bigint }[],
  { currency, rates }: Money,
): OneSum {
  const own = currencyCode(currency);
  const one = worthOf(own, rates);
  const missing: string[] = [];
  let micros = 0n;
  const named = Map.groupBy(sums, (each) =>
    isUnit(each.currency) ? each.currency : currencyCode(each.currency),
  );
  for (const [name, amounts] of named) {
    // A sum of amounts may exceed what a number holds exactly, although its worth does not.
    const amount = amounts.reduce((sum, each) => sum + BigInt(each.micros), 0n);
    const code = currencyCode(name);
    const worth = worthOf(code, rates);
    if (code === own) micros += amount;
    else if (worth === null || one === null) missing.push(name);
    else micros += multiply(amount, worth.top * one.bottom, worth.bottom * one.top);
  }
  return { currency, micros: Number(micros), date: rates?.date ?? null, missing };
}

/** The worth of one unit in the base of the rates, as a fraction; null if the rates do not name it. */
export function worthOf(code: string, rates: Rates | null) {
  if (rates === null) return null;
  if (code === currencyCode(rates.base)) return { top: 1n, bottom: 1n };
  const text = ownOf(rates.amounts, code);
  if (text === undefined) return null;
  const [whole = '', decimals = ''] = text.split('.');
  const [amount, unit] = [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
  return rates.inverted ? { top: unit, bottom: amount } : { top: amount, bottom: unit };
}

function multiply(micros: bigint, top: bigint, bottom: bigint): bigint {
  const half = micros < 0n ? -bottom : bottom;
  return (2n * micros * top + half) / (2n * bottom);
}
