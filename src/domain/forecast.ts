/**
 * What a forecast is based on: the mean burn (under a day of history), the hour of the day (under a week), or
 * the hour of the week.
 */
export const forecastBases = ['mean-burn', 'hour-of-day', 'hour-of-week'] as const;

export type ForecastBasis = (typeof forecastBases)[number];

/** The error of one balance's forecasts that came due in the last two weeks. */
export interface ForecastRecord {
  readonly aheadMs: number;
  readonly count: number;
  /** 0.04: the median forecast was 4 % too high or too low. */
  readonly medianError: number;
  /** The share of forecasts that were too low. */
  readonly tooLow: number;
}

/**
 * When a balance reaches its floor: median, and the interval that holds four times in five. Milliseconds
 * since 1970; null is unknown, or too far ahead to predict.
 */
export interface Forecast {
  readonly emptyAt: number | null;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly basis: ForecastBasis;
}
