import { dayMs, hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import { type BalanceState, keptRunDays } from './balance-state.ts';
import type { LocalWeek } from './local-week.ts';

/** A day took far too much when that is half a day's mean spending, in hours … */
const tooMuchHours = 12;
/** … that took more than so many times what is usual. */
const farAbove = 1.5;
const maxRuns = 4;
const fortnight = 14;

/** A day that takes much more than its weekday, again and again: it is expected to come again. */
export interface ExpectedRun {
  /**
   * Monthly: counted from the beginning of the month, 1 the first, or from its end, −1 the last. Every two weeks: the local day on
   * which it came last.
   */
  readonly every: 'month' | 'two-weeks';
  readonly day: number;
  readonly micros: Micros;
  /** From this local hour on, for so many. */
  readonly hour: number;
  readonly hours: number;
}

/** When a run comes next: it is over where it did not come then. */
type LastRun = ExpectedRun & { readonly next: number };

/** `day` is the local one. */
type RunDay = Omit<ExpectedRun, 'every'>;

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

/**
 * The runs that are expected on a local day or after it: their day was far above usual in each of the two months before, or on three
 * of the last four days that are two weeks apart, and not in the weeks between. Of days that are both, as in a February, a third month
 * decides.
 */
export function expectedRuns(state: BalanceState, today: number): readonly ExpectedRun[] {
  const days = runDaysOf(state);
  return [...days.values()]
    .flatMap(
      (last) => monthlyRun(days, last, 3) ?? fortnightlyRun(days, last) ?? monthlyRun(days, last, 2) ?? [],
    )
    .filter(({ next }) => next >= today)
    .slice(-maxRuns);
}

function monthlyRun(days: RunDays, last: RunDay, months: number): LastRun | null {
  const month = monthOf(last.day);
  const [date, fromEnd] = [last.day - firstOf(month) + 1, last.day - firstOf(month + 1)];
  for (const day of date <= 15 ? [date, fromEnd] : [fromEnd, date]) {
    const [before, earlier] = [month - 1, month - 2].map((ago) =>
      // Not every month has a 31st.
      monthOf(dayIn(ago, day)) === ago ? days.get(dayIn(ago, day)) : undefined,
    );
    if (before !== undefined && (months === 2 || earlier !== undefined))
      return { ...runOf(last, before), every: 'month', day, next: dayIn(month + 1, day) };
  }
  return null;
}

function fortnightlyRun(days: RunDays, last: RunDay): LastRun | null {
  const cameBefore = (weeks: number): RunDay | [] => days.get(last.day - 7 * weeks) ?? [];
  const [before, another] = [2, 4, 6].flatMap(cameBefore);
  if (before === undefined || another === undefined || [1, 3].flatMap(cameBefore).length > 0) return null;
  return { ...runOf(last, before), every: 'two-weeks', next: last.day + fortnight };
}

function runOf(last: RunDay, before: RunDay): RunDay {
  return { ...last, micros: (before.micros + last.micros) / 2 };
}

/** What a run takes in an hour of a local day. */
export function plannedIn(runs: readonly ExpectedRun[], day: number, hour: number): Micros {
  let planned = 0;
  for (const run of runs)
    if (comesOn(run, day) && hour >= run.hour && hour < run.hour + run.hours)
      planned += run.micros / run.hours;
  return planned;
}

/** When runs begin that are expected from today on, for so many days. */
export function* plannedRuns(
  runs: readonly ExpectedRun[],
  week: LocalWeek,
  { now, days }: { readonly now: number; readonly days: number },
): Generator<ExpectedRun & { readonly at: number }> {
  const today = week.dayAt(now);
  for (const run of runs)
    for (let day = today; day <= today + days; day++)
      if (comesOn(run, day)) yield { ...run, at: week.beginOf(day) + run.hour * hourMs };
}

/** What runs take in a mean week. */
export function weeklyRuns(runs: readonly ExpectedRun[]): Micros {
  return runs.reduce((sum, { every, micros }) => sum + micros * (every === 'month' ? 84 / 365.25 : 1 / 2), 0);
}

function comesOn({ every, day }: ExpectedRun, local: number): boolean {
  return every === 'month' ? dayIn(monthOf(local), day) === local : (local - day) % fortnight === 0;
}

/** By local day, the oldest first. */
type RunDays = ReadonlyMap<number, RunDay>;

function runDaysOf(state: BalanceState): RunDays {
  const days = new Map<number, RunDay>();
  for (let nth = Math.max(0, state.runDays - keptRunDays); nth < state.runDays; nth++) {
    const place = nth % keptRunDays;
    const [day = 0, micros = 0, hour = 0, hours = 1] = [
      state.runDates[place],
      state.runAmounts[place],
      state.runBegins[place],
      state.runLengths[place],
    ];
    days.set(day, { day, micros, hour, hours: Math.max(1, hours) });
  }
  return days;
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
