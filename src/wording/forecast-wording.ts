import type { Runway } from '../domain/message.ts';
import type { Forecast } from '../domain/quantity.ts';
import { dayMs, hourMs, isBeyondHorizon, weekMs } from '../domain/time.ts';
import { type Reader, sayDuration, sayMoment, sayNearMoment } from './moments.ts';
import { type Listener, phrases, say } from './phrase.ts';

const says = phrases('quantity', {
  overAYear: 'over a year',
  range: '{moment}, between {earliest} and {latest}',
  openRange: '{moment}, between {earliest} and much later',
  between: 'between {earliest} and {latest}',
  openBetween: 'between {earliest} and much later',
  hoursOrLater: 'perhaps within hours, at the latest in {latest}',
  hoursOrMuchLater: 'perhaps within hours, perhaps much later',
  soonOrLater: 'perhaps in {earliest}, at the latest in {latest}',
  soonOrMuchLater: 'perhaps in {earliest}, perhaps much later',
  aboutThen: 'about {moment}',
  fromThen: '{earliest} or much later',
  fromTo: '{earliest} to {latest}',
  weeks: '{count, plural, one {# week} other {# weeks}}',
});

const yearMs = 365 * dayMs;

/** `over a year` beyond a year, because nobody plans by days then. `rough` words shorter lengths. */
export function sayLength(ms: number, reader: Listener, rough = sayDuration): string {
  return ms > yearMs ? say(says.overAYear, reader) : rough(ms, reader);
}

/** When a balance ends, if within a year. */
export function endOf(runway: Runway | null, now: number): number | null {
  const emptyAt = runway?.emptyAt ?? null;
  return emptyAt === null || emptyAt <= now || emptyAt - now > yearMs ? null : emptyAt;
}

/** The end of the 80 % range; null if it is unknown, or too far ahead to be named. */
function latestOf({ latest }: Forecast, now: number): number | null {
  return latest === null || isBeyondHorizon(latest, now) ? null : latest;
}

/** `between Wed 22:00 and Fri 09:00`: the 80 % range; null if unknown. `sayAt` words instants as short as the place needs them. */
export function sayInterval(forecast: Forecast | null, reader: Reader, sayAt = sayMoment): string | null {
  if (forecast?.earliest == null) return null;
  const { earliest, latest } = sayEnds(forecast.earliest, forecast, reader, sayAt);
  return latest === null
    ? say(says.openBetween, { earliest }, reader)
    : say(says.between, { earliest, latest }, reader);
}

function sayEnds(earliest: number, forecast: Forecast, reader: Reader, sayAt: typeof sayMoment) {
  const latest = latestOf(forecast, reader.now);
  return {
    earliest: sayAt(Math.max(earliest, reader.now), reader),
    latest: latest === null ? null : sayAt(latest, reader),
  };
}

/**
 * Whether the 80 % range is so wide that a date in it says nothing: it ends more than a day, and more than four times as far ahead as it
 * begins. The median error of such forecasts is a third. A forecast by the mean burn already says how little is known.
 */
export function isGuess(forecast: Forecast | null, now: number): boolean {
  if (forecast?.earliest == null || forecast.basis === 'mean-burn') return false;
  const lastMs = (forecast.latest ?? Number.POSITIVE_INFINITY) - now;
  return lastMs > dayMs && lastMs > 4 * (forecast.earliest - now);
}

/** A time that is not well known, not to the minute: `perhaps within hours, at the latest in 6 weeks`. */
function sayGuess(forecast: Forecast, reader: Reader): string {
  const firstMs = (forecast.earliest ?? reader.now) - reader.now;
  const last = latestOf(forecast, reader.now);
  const earliest = sayRoughly(firstMs, reader);
  const isSoon = firstMs < dayMs;
  if (last === null) return say(isSoon ? says.hoursOrMuchLater : says.soonOrMuchLater, { earliest }, reader);
  const latest = sayRoughly(last - reader.now, reader);
  return say(isSoon ? says.hoursOrLater : says.soonOrLater, { earliest, latest }, reader);
}

/** A length in whole hours, days or weeks. */
function sayRoughly(ms: number, reader: Listener): string {
  if (ms >= 2 * weekMs) return say(says.weeks, { count: Math.round(ms / weekMs) }, reader);
  const unit = ms >= 2 * dayMs ? dayMs : hourMs;
  return sayDuration(Math.max(unit, Math.round(ms / unit) * unit), reader);
}

/** `Thu 14:00, between Wed 22:00 and Fri 09:00`, or `perhaps within hours, at the latest in 6 weeks`. */
export function sayEmptyAt(
  emptyAt: number,
  forecast: Forecast | null,
  reader: Reader,
  sayAt = sayMoment,
): string {
  const moment = sayAt(emptyAt, reader);
  if (forecast?.earliest == null) return moment;
  if (isGuess(forecast, reader.now)) return sayGuess(forecast, reader);
  const { earliest, latest } = sayEnds(forecast.earliest, forecast, reader, sayAt);
  return latest === null
    ? say(says.openRange, { moment, earliest }, reader)
    : say(says.range, { moment, earliest, latest }, reader);
}

/** After `empty`, for headlines: `Thu 20:00 to Fri 09:00`, `about Thu 20:00`. Null if it is unknown. */
export function sayEmptyWhen(runway: Runway | null, reader: Reader): string | null {
  const emptyAt = endOf(runway, reader.now);
  const forecast = runway?.forecast ?? null;
  if (emptyAt === null) return null;
  if (forecast?.earliest == null)
    return say(says.aboutThen, { moment: sayNearMoment(emptyAt, reader) }, reader);
  if (isGuess(forecast, reader.now)) return sayGuess(forecast, reader);
  const { earliest, latest } = sayEnds(forecast.earliest, forecast, reader, sayNearMoment);
  return latest === null
    ? say(says.fromThen, { earliest }, reader)
    : say(says.fromTo, { earliest, latest }, reader);
}
