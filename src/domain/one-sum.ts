import { currencyCode, type Micros } from './money.ts';

/** The currency of sums over several, and what one unit of the others is worth in it. */
export interface MoneySettings {
  readonly currency: string;
  /** Of the rates, as `2026-11-20`. */
  readonly date: string;
  /** By ISO 4217 code. */
  readonly rates: Readonly<Record<string, number>>;
}

export interface OneSum extends Pick<MoneySettings, 'currency' | 'date'> {
  readonly micros: Micros;
  /** Currencies and units without a rate: they are not in the sum. */
  readonly missing: readonly string[];
}

/** Only sums are converted: amounts of accounts never are. */
export function sumUp(
  sums: readonly { readonly currency: string; readonly micros: Micros }[],
  { currency, date, rates }: MoneySettings,
): OneSum {
  const known = new Map(Object.entries({ ...rates, [currencyCode(currency)]: 1 }));
  const rateOf = (sum: { readonly currency: string }) => known.get(currencyCode(sum.currency));
  const micros = sums.reduce((total, sum) => total + Math.round(sum.micros * (rateOf(sum) ?? 0)), 0);
  const missing = new Set(
    sums.flatMap((sum) => (rateOf(sum) === undefined ? currencyCode(sum.currency) : [])),
  );
  return { currency, date, micros, missing: [...missing] };
}
