import { dayMs, hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import { type BalanceState, keptRunDays } from './balance-state.ts';
import type { LocalHour, LocalWeek } from './local-week.ts';

/** A day took far too much when that is half a day's mean spending, in hours … */
const tooMuchHours = 12;
/** … that took more than so many times what is usual. */
const farAbove = 1.5;
const maxRuns = 4;

/** A day of the month that takes much more than its weekday, twice in a row so far: it is expected to come again. */
export interface MonthlyRun {
  /** Counted from the beginning of the month, 1 the first, or from its end, −1 the last. */
  readonly day: number;
  readonly micros: Micros;
  /** From this local hour on, for so many. */
  readonly hour: number;
  readonly hours: number;
}

interface RunDay {
  readonly month: number;
  readonly date: number;
  /** −1 is the last day of the month. */
  readonly fromEnd: number;
  readonly micros: Micros;
  readonly hour: number;
  readonly hours: number;
}

/** Takes in what an hour took; `usual` is what it usually takes. Called before the hour is learned. */
export function noteRunHour(
  state: BalanceState,
  day: number,
  it: { hour: number; spent: Micros; usual: Micros },
): void {
  if (day !== state.runDay) {
    keepRunDay(state);
    state.runDay = day;
    state.runMicros = 0;
    state.runHour = 0;
    state.runHours = 0;
  }
  if (it.spent <= farAbove * it.usual + state.meanHour) return;
  if (state.runMicros === 0) state.runHour = it.hour;
  state.runMicros += it.spent - it.usual;
  state.runHours = it.hour - state.runHour + 1;
}

function keepRunDay(state: BalanceState): void {
  if (state.runMicros <= tooMuchHours * state.meanHour) return;
  const place = state.runDays++ % keptRunDays;
  state.runDates[place] = state.runDay;
  state.runAmounts[place] = state.runMicros;
  state.runBegins[place] = state.runHour;
  state.runLengths[place] = state.runHours;
}

/** The runs that are expected on a local day or after it: their day was far above usual in each of the two months before. */
export function expectedRuns(state: BalanceState, today: number): readonly MonthlyRun[] {
  const days = runDaysOf(state);
  const found: MonthlyRun[] = [];
  const thisMonth = monthOf(today);
  for (const last of days) {
    for (const day of last.date <= 15 ? [last.date, last.fromEnd] : [last.fromEnd, last.date]) {
      const before = days.find(
        (it) => it.month === last.month - 1 && (it.date === day || it.fromEnd === day),
      );
      // It is over where it did not come again.
      if (before === undefined || dayIn(last.month + 1, day) < today || last.month < thisMonth - 1) continue;
      const { hour, hours } = last;
      found.push({ day, micros: (before.micros + last.micros) / 2, hour, hours });
      break;
    }
  }
  return found.slice(-maxRuns);
}

/** What a run takes in an hour of a local day. */
export function plannedIn(runs: readonly MonthlyRun[], day: number, hour: number): Micros {
  let planned = 0;
  for (const run of runs)
    if (dayIn(monthOf(day), run.day) === day && hour >= run.hour && hour < run.hour + run.hours)
      planned += run.micros / run.hours;
  return planned;
}

/** When the runs of this month and the next begin, and how many hours each takes. */
export function* plannedRuns(
  runs: readonly MonthlyRun[],
  week: LocalWeek,
  now: number,
): Generator<MonthlyRun & { readonly at: number }> {
  const month = monthOf(week.dayAt(now));
  for (const run of runs)
    for (const its of [month, month + 1])
      yield { ...run, at: week.beginOf(dayIn(its, run.day)) + run.hour * hourMs };
}

/** Calls `add` for each hour from `startsAt` on, counted from it, in which a run is expected. */
export function eachPlannedHour(
  runs: readonly MonthlyRun[],
  { week, startsAt, hours }: { readonly week: LocalWeek; readonly startsAt: number; readonly hours: number },
  add: (hour: number, micros: Micros) => void,
): void {
  for (const run of plannedRuns(runs, week, startsAt)) {
    const first = Math.round((run.at - startsAt) / hourMs);
    for (let hour = Math.max(0, first); hour < Math.min(hours, first + run.hours); hour++)
      add(hour, run.micros / run.hours);
  }
}

/** What runs take in a mean week. */
export function weeklyRuns(runs: readonly MonthlyRun[]): Micros {
  return (runs.reduce((sum, { micros }) => sum + micros, 0) * 12 * 7) / 365.25;
}

/** The local day and hour of the day. */
export function dayAndHour(week: LocalWeek, { startsAt, slot }: LocalHour): { day: number; hour: number } {
  return { day: week.dayAt(startsAt), hour: slot % 24 };
}

function runDaysOf(state: BalanceState): RunDay[] {
  const count = Math.min(keptRunDays, state.runDays);
  return Array.from({ length: count }, (_, nth): RunDay => {
    const place = (state.runDays - count + nth) % keptRunDays;
    const day = state.runDates[place] ?? 0;
    const month = monthOf(day);
    return {
      month,
      date: day - firstOf(month) + 1,
      fromEnd: day - firstOf(month + 1),
      micros: state.runAmounts[place] ?? 0,
      hour: state.runBegins[place] ?? 0,
      hours: Math.max(1, state.runLengths[place] ?? 1),
    };
  });
}

/** Months are counted from January 1970, days from its first. */
function monthOf(day: number): number {
  const date = new Date(day * dayMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function firstOf(month: number): number {
  return Date.UTC(1970, month, 1) / dayMs;
}

function dayIn(month: number, day: number): number {
  return day > 0 ? firstOf(month) + day - 1 : firstOf(month + 1) + day;
}
