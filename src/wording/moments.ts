import { type DurationPart, dayMs, durationParts, momentParts, roughParts } from '../domain/time.ts';
import { english, patternsOf } from './language.ts';
import { type Language, type Listener, phrases, say } from './phrase.ts';

/** The reader of a text: the language and time zone (an IANA name), and when it is said. */
export interface Reader {
  readonly language: Language;
  readonly timezone: string;
  readonly now: number;
}

const says = phrases('time', {
  moment: '{weekday} {day} {month} {time} {zone}',
  momentOfYear: '{weekday} {day} {month} {year} {time} {zone}',
  withoutZone: '{day} {month} {time}',
  dayOfMonth: '{day} {month}',
  ofWeek: '{weekday} {time}',
  date: '{day} {month} {year}',
  withAge: '{moment} ({age})',
  now: 'just now',
  past: '{duration} ago',
  future: 'in {duration}',
  short: 'less than a second',
  millisecond: '{count} ms',
  joined: '{larger} {smaller}',
  second: '{count, plural, one {# second} other {# seconds}}',
  minute: '{count, plural, one {# minute} other {# minutes}}',
  hour: '{count, plural, one {# hour} other {# hours}}',
  day: '{count, plural, one {# day} other {# days}}',
});

export const { withAge } = says;

const yearMs = 365 * dayMs;

/** `Fri 20 Nov 02:41 UTC+8`; with the year if it is not the present one. */
export function sayMoment(at: number, reader: Reader): string {
  const parts = partsOf(at, reader);
  const isThisYear = parts.year === partsOf(reader.now, reader).year;
  return say(isThisYear ? says.moment : says.momentOfYear, parts, reader);
}

/** `Fri 20 Nov 02:41 UTC+8 (19 minutes ago)`. */
export function sayMomentAndAge(at: number, reader: Reader): string {
  return say(says.withAge, { moment: sayMoment(at, reader), age: sayAge(at, reader) }, reader);
}

/** `20 Nov 02:41`, for places that name the zone elsewhere. */
export function sayShortMoment(at: number, reader: Omit<Reader, 'now'>): string {
  return say(says.withoutZone, partsOf(at, reader), reader);
}

/** `Nov`, `20 Nov`; `month` counts from 0. */
export function sayDay(month: number, day: number | undefined, reader: Listener): string {
  const name = reader.language.month(month);
  return day === undefined ? name : say(says.dayOfMonth, { day, month: name }, reader);
}

/** The shortest clear form: `Thu 14:00` within six days, `26 Nov 14:00` within a year, `26 Nov 2027` after that. */
export function sayNearMoment(at: number, reader: Reader): string {
  const distance = Math.abs(at - reader.now);
  const shape = distance < 6 * dayMs ? says.ofWeek : distance < yearMs ? says.withoutZone : says.date;
  return say(shape, partsOf(at, reader), reader);
}

/** `19 minutes ago`, `in 3 days`, `just now`. */
export function sayAge(at: number, reader: Pick<Reader, 'language' | 'now'>): string {
  const passed = reader.now - at;
  if (Math.abs(passed) < 1000) return say(says.now, reader);
  return say(passed > 0 ? says.past : says.future, { duration: sayDuration(passed, reader) }, reader);
}

/** The precision that a person needs: `40 seconds`, `19 minutes`, `5 hours 20 minutes`, `34 days`. In English if there is no reader. */
export function sayDuration(ms: number, reader: Listener = { language: english }): string {
  return sayUnits(roughParts(ms), reader);
}

/** Not rounded: a configured duration is said as it was written. */
export function sayExactDuration(ms: number, reader: Listener): string {
  const parts = durationParts(ms, 4);
  return parts.length === 0
    ? say(says.millisecond, { count: Math.abs(Math.round(ms)) }, reader)
    : sayUnits(parts, reader);
}

function sayUnits(parts: readonly DurationPart[], reader: Listener): string {
  if (parts.length === 0) return say(says.short, reader);
  return parts
    .map(({ unit, count }) => say(says[unit], { count }, reader))
    .reduce((larger, smaller) => say(says.joined, { larger, smaller }, reader));
}

/** The form in which a script of the page says ages and moments while time passes. */
export function timePatterns(reader: Listener) {
  const { now, past, future, joined, moment, day, hour, minute, second } = says;
  const units = Object.entries({ day, hour, minute, second }).map(([unit, phrase]) => {
    const plurals = new Intl.PluralRules(reader.language.id);
    // These counts have all plural forms of our languages.
    const forms = [1, 2, 5].map((count) => [
      plurals.select(count),
      say(phrase, { count }, reader).replace(String(count), '#'),
    ]);
    return [unit, Object.fromEntries(forms)];
  });
  return { ...patternsOf({ now, past, future, joined, moment }, reader), units: Object.fromEntries(units) };
}

function partsOf(at: number, { timezone, language }: Omit<Reader, 'now'>) {
  const { weekdayIndex, monthIndex, ...parts } = momentParts(at, timezone);
  return { ...parts, weekday: language.weekday(weekdayIndex), month: language.month(monthIndex) };
}
