import { hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Balance } from '../domain/reading.ts';
import type { PastForecast } from './forecasts.ts';

/** How far ahead forecasts are held against what came, and for how much less and more a horizon stands. */
const horizonsMs = [24 * hourMs, 72 * hourMs, 168 * hourMs] as const;
const from = 0.8;
const to = 1.25;

/** How good the forecasts of one balance were that far ahead. */
export interface ForecastQuality {
  readonly balance: Balance;
  readonly aheadMs: number;
  /** How many forecasts, one an hour, came to be known as right or wrong. */
  readonly count: number;
  /** The middle of `|foretold − true| / true`. */
  readonly medianError: number;
  /** How often what came lay within the interval that was to hold four times in five. */
  readonly held: number;
}

/**
 * Holds forecasts of one account against what came. When a balance truly would have been empty is when as much was spent as was
 * left: that is seen although it was topped up in between.
 */
export function judgeForecasts(forecasts: readonly PastForecast[], balance: Balance): ForecastQuality[] {
  const own = forecasts.filter((it) => it.balance === balance);
  const spent = spentUpTo(own);
  const cases = own.flatMap((it, index) => {
    const emptyAt = trueEmptyAt(own, spent, index);
    return emptyAt === null || !isFirstOfHour(own, index) ? [] : [{ ...it, emptyAt }];
  });
  return horizonsMs.flatMap((aheadMs) => {
    const near = cases.filter(({ reading, emptyAt }) => {
      const true_ = emptyAt - reading.at;
      return true_ >= from * aheadMs && true_ <= to * aheadMs;
    });
    if (near.length === 0) return [];
    const errors = near.map(({ reading, forecast, emptyAt }) =>
      forecast?.emptyAt == null
        ? Number.POSITIVE_INFINITY
        : Math.abs(forecast.emptyAt - emptyAt) / (emptyAt - reading.at),
    );
    const held = near.filter(({ forecast, emptyAt }) => holds(forecast, emptyAt)).length;
    return [{ balance, aheadMs, count: near.length, medianError: middle(errors), held: held / near.length }];
  });
}

function spentUpTo(own: readonly PastForecast[]): Float64Array {
  const spent = new Float64Array(own.length);
  for (let index = 1; index < own.length; index++) {
    spent[index] = (spent[index - 1] ?? 0) + Math.max(0, leftOf(own[index - 1]) - leftOf(own[index]));
  }
  return spent;
}

function leftOf(it: PastForecast | undefined): Micros {
  return it === undefined ? 0 : it.leftMicros;
}

/** When as much was spent as was left at a reading, between two readings by their share; null when that is not known yet. */
function trueEmptyAt(own: readonly PastForecast[], spent: Float64Array, index: number): number | null {
  const left = leftOf(own[index]);
  const goal = (spent[index] ?? 0) + left;
  if (left <= 0 || (spent[own.length - 1] ?? 0) < goal) return null;
  let low = index;
  let high = own.length - 1;
  while (high - low > 1) {
    const between = (low + high) >>> 1;
    if ((spent[between] ?? 0) < goal) low = between;
    else high = between;
  }
  const before = spent[low] ?? 0;
  const share = (goal - before) / Math.max(1, (spent[high] ?? 0) - before);
  const lowAt = own[low]?.reading.at ?? 0;
  return lowAt + share * ((own[high]?.reading.at ?? 0) - lowAt);
}

function isFirstOfHour(own: readonly PastForecast[], index: number): boolean {
  const hour = (place: number): number => Math.floor((own[place]?.reading.at ?? 0) / hourMs);
  return index === 0 || hour(index) !== hour(index - 1);
}

function holds(forecast: PastForecast['forecast'], emptyAt: number): boolean {
  if (forecast?.earliest == null || forecast.earliest > emptyAt) return false;
  return forecast.latest === null || emptyAt <= forecast.latest;
}

function middle(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}
