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
  /** The middle of `|predicted − true| / true`. */
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
  const smallestFall = smallestFallOf(spent);
  const cases = own.flatMap((it, index) => {
    const emptyAt = trueEmptyAt(own, { spent, smallestFall, index });
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

function smallestFallOf(spent: Float64Array): Micros {
  let smallest = Number.POSITIVE_INFINITY;
  for (let index = 1; index < spent.length; index++) {
    const fell = (spent[index] ?? 0) - (spent[index - 1] ?? 0);
    if (fell > 0 && fell < smallest) smallest = fell;
  }
  return smallest;
}

/**
 * When a balance was empty: at the reading that left less than the smallest fall, of which nothing is ever spent; or, where it was
 * topped up before, when as much was spent as had been left, between two readings by their share. Null when neither is known yet.
 */
function trueEmptyAt(
  own: readonly PastForecast[],
  {
    spent,
    smallestFall,
    index,
  }: { readonly spent: Float64Array; readonly smallestFall: Micros; readonly index: number },
): number | null {
  const left = leftOf(own[index]);
  if (left < smallestFall) return null;
  const goal = (spent[index] ?? 0) + left;
  const lastServed = own[firstAbove(spent, index, goal - smallestFall)];
  if (lastServed !== undefined && leftOf(lastServed) < smallestFall) return lastServed.reading.at;
  if ((spent[own.length - 1] ?? 0) < goal) return null;
  const high = firstAbove(spent, index, goal - 1);
  const low = high - 1;
  const before = spent[low] ?? 0;
  const share = (goal - before) / Math.max(1, (spent[high] ?? 0) - before);
  const lowAt = own[low]?.reading.at ?? 0;
  return lowAt + share * ((own[high]?.reading.at ?? 0) - lowAt);
}

/** The first place after one where more was spent than an amount; the length where there is none. */
function firstAbove(spent: Float64Array, after: number, amount: Micros): number {
  let low = after;
  let high = spent.length;
  while (high - low > 1) {
    const between = (low + high) >>> 1;
    if ((spent[between] ?? 0) > amount) high = between;
    else low = between;
  }
  return high;
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
