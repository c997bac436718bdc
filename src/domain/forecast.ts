/**
 * What a forecast rests on: the mean burn, because less than a day is known; the hour of the day, because less than a week is; the
 * hour of the week.
 */
export const forecastBases = ['mean-burn', 'hour-of-day', 'hour-of-week'] as const;

export type ForecastBasis = (typeof forecastBases)[number];

/** How good the forecasts of one balance were in the last two weeks: of those that came due, the middle of how far they were off. */
export interface ForecastRecord {
  /** How far ahead they told. */
  readonly aheadMs: number;
  readonly count: number;
  /** 0.04: the middle one was 4 % too high or too low. */
  readonly medianError: number;
  /** The share of them that told too little. */
  readonly tooLow: number;
}

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
