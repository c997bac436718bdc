import { getOrMake } from '../domain/get-or-make.ts';
import { dayMs, hourMs, zoneOffsetMs } from '../domain/time.ts';
import { holidayDays } from './public-holidays.ts';

const daysPerWeek = 7;
export const hoursPerWeek = 168;

/** 1 January 1970 was a Thursday: three days after a Monday. */
const mondayShift = 3;
const lastDay = 6;
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];
export const usualWeekend: readonly Weekday[] = ['sat', 'sun'];

/** The hours ahead that forecasts cover hour by hour: a little more than two weeks. */
export const farthestHours = 400;

/** The offsets that a week keeps, because it is asked for the hours of the weeks ahead again and again. */
const keptOffsets = 1000;

/** `slot`: the hour's place in the week, with the weekend at the end (0 is Monday 0:00). The slots of a holiday follow from 168 on. */
export interface LocalHour {
  readonly startsAt: number;
  readonly endsAt: number;
  readonly slot: number;
}

/** The hours of a local week. Where clocks change, an hour of the night comes twice or not at all. Accounts of one zone share a week. */
export class LocalWeek {
  readonly timezone: string;
  /** The key of states that were learned in it: the zone, and the weekend if that is not the usual one. */
  readonly key: string;
  readonly #weekend: readonly number[];
  /** The weekday of the first slots: the one after the weekend. */
  readonly #firstDay: number;
  /** Holidays as days since 1970. */
  readonly #holidays: ReadonlySet<number>;
  /** Milliseconds ahead of UTC at the beginning of UTC days: clocks change at most once within a day. */
  readonly #offsets = new Map<number, number>();
  #aheadFrom = Number.NaN;
  #ahead = new Uint8Array(farthestHours);

  /** `holidays` are dates as `2026-12-25`, countries and regions as `DE-BY`. */
  constructor(parts: {
    readonly timezone: string;
    readonly holidays: readonly string[];
    readonly weekend?: readonly Weekday[];
  }) {
    const { timezone, weekend = usualWeekend } = parts;
    this.timezone = timezone;
    this.#weekend = weekend.map((day) => weekdays.indexOf(day));
    this.#firstDay = firstAfter(this.#weekend);
    // Without a weekend the hours have the same slots as with the usual one.
    const isUsual =
      weekend.length === 0 ||
      (usualWeekend.every((day) => weekend.includes(day)) && weekend.length === usualWeekend.length);
    this.key = isUsual ? timezone : `${timezone} ${weekend.toSorted().join()}`;
    this.#holidays = holidayDays(parts.holidays);
  }

  /** Whether payments are made on a local day: not on a weekend or a holiday, unless the configuration says that there is no weekend. */
  isWorking(day: number): boolean {
    return (
      this.#weekend.length === 0 || !(this.#weekend.includes(this.weekdayOf(day)) || this.#holidays.has(day))
    );
  }

  /** The weekday, counted from a Sunday, and the hour of a slot. */
  whenIs(slot: number): { readonly day: number; readonly hour: number } {
    return { day: modulo(Math.floor(slot / 24) + this.#firstDay + 1, daysPerWeek), hour: slot % 24 };
  }

  hourAt(at: number): LocalHour {
    const offsetMs = this.#offsetMs(at);
    const hour = Math.floor((at + offsetMs) / hourMs);
    const startsAt = hour * hourMs - offsetMs;
    return { startsAt, endsAt: startsAt + hourMs, slot: this.#slotOf(hour) };
  }

  /** The hours, or parts of them, between two instants. */
  hoursBetween(from: number, to: number): readonly LocalHour[] {
    const hours: LocalHour[] = [];
    for (let startsAt = from; startsAt < to; ) {
      const { slot, endsAt } = this.hourAt(startsAt);
      hours.push({ startsAt, endsAt: Math.min(endsAt, to), slot });
      startsAt = endsAt;
    }
    return hours;
  }

  /** The local day of an instant, counted from 1970. */
  dayAt(at: number): number {
    return Math.floor((at + this.#offsetMs(at)) / dayMs);
  }

  /** Monday is 0; a holiday keeps its own weekday here. */
  weekdayOf(day: number): number {
    return modulo(day + mondayShift, daysPerWeek);
  }

  /** The first instant of a local day. Where clocks go forward at midnight, that is an hour past it. */
  beginOf(day: number): number {
    const midnight = day * dayMs;
    const guess = midnight - this.#offsetMs(midnight);
    const candidates = [guess - dayMs / 4, guess + dayMs / 4]
      .map((at) => midnight - this.#offsetMs(at))
      .sort((left, right) => left - right);
    return candidates.find((at) => this.dayAt(at) >= day) ?? guess;
  }

  /** The slots of the hours that follow one another, beginning with that of `startsAt`. */
  slotsFrom(startsAt: number): Uint8Array {
    if (this.#aheadFrom === startsAt) return this.#ahead;
    // An hour later all but the last are known.
    const known = this.#aheadFrom + hourMs === startsAt ? farthestHours - 1 : 0;
    if (known > 0) this.#ahead.copyWithin(0, 1);
    this.#aheadFrom = startsAt;
    for (let hour = known; hour < farthestHours; hour++) {
      const at = startsAt + hour * hourMs;
      this.#ahead[hour] = this.#slotOf(Math.floor((at + this.#offsetMs(at)) / hourMs));
    }
    return this.#ahead;
  }

  #offsetMs(at: number): number {
    const day = Math.floor(at / dayMs);
    const begins = this.#offsetAt(day);
    return begins === this.#offsetAt(day + 1) ? begins : zoneOffsetMs(at, this.timezone);
  }

  #offsetAt(day: number): number {
    if (this.#offsets.size > keptOffsets) this.#offsets.clear();
    return getOrMake(this.#offsets, day, () => zoneOffsetMs(day * dayMs, this.timezone));
  }

  #slotOf(hour: number): number {
    const day = Math.floor(hour / 24);
    const dayOfWeek = this.#holidays.has(day)
      ? daysPerWeek
      : modulo(this.weekdayOf(day) - this.#firstDay, daysPerWeek);
    return dayOfWeek * 24 + (hour - day * 24);
  }
}

/** A configuration names few zones, and each has one week. */
const weeks = new Map<string, LocalWeek>();

export function weekOf(zone: ConstructorParameters<typeof LocalWeek>[0]): LocalWeek {
  const { timezone, holidays, weekend = usualWeekend } = zone;
  return getOrMake(weeks, JSON.stringify([timezone, weekend, holidays]), () => new LocalWeek(zone));
}

/** The first working day after the last day of a weekend, which may begin in one week and end in the next. */
function firstAfter(weekend: readonly number[]): number {
  const ends = weekend.filter((day) => !weekend.includes(modulo(day + 1, daysPerWeek)));
  return modulo((ends.at(-1) ?? lastDay) + 1, daysPerWeek);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** Nobody waits longer than this for a payment. */
const maxPaymentDays = 90;

/** When a lead time has passed from `from` on; if negative, by when to pay for the money to be there at `from`. Only hours of working days count. */
export function passLeadTime(week: LocalWeek, from: number, leadTimeMs: number): number {
  const isBack = leadTimeMs < 0;
  let at = from;
  let restMs = Math.abs(leadTimeMs);
  for (let days = 0; restMs > 0 && days < maxPaymentDays; days++) {
    const day = week.dayAt(isBack ? at - 1 : at);
    const edge = week.beginOf(isBack ? day : day + 1);
    const partMs = week.isWorking(day) ? Math.min(Math.abs(edge - at), restMs) : 0;
    restMs -= partMs;
    at = restMs > 0 ? edge : at + (isBack ? -partMs : partMs);
  }
  return at;
}
