/**
 * What a forecast rests on: the mean burn, because less than a day is known; the hour of the day, because less than a week is; the
 * hour of the week.
 */
export const forecastBases = ['mean-burn', 'hour-of-day', 'hour-of-week'] as const;

export type ForecastBasis = (typeof forecastBases)[number];

/**
 * When a balance reaches its floor: as likely before `emptyAt` as after, and four times in five between `earliest` and `latest`.
 * Milliseconds since 1970; null is unknown, or later than can be told.
 */
export interface Forecast {
  readonly emptyAt: number | null;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly basis: ForecastBasis;
}
