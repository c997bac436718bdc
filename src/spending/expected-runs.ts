import type { Micros } from '../domain/money.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import { hourMs } from '../domain/time.ts';
import { type BalanceState, keptRunDays } from './balance-state.ts';
import type { LocalWeek } from './local-week.ts';
import { firstOf, monthOf } from './months.ts';
import { isSparse } from './silence.ts';

/** A day took far too much when its excess is above half a day's mean spending, in mean hours … */
const tooMuchHours = 12;
/** … of hours that took more than this many times the usual and half a mean hour, or a mean one where little is sent: there a message or two are chance. */
const farAbove = 1.5;
const margin = { usually: 0.5, sparse: 1 } as const;
/** … An hour is no part of a run when its excess is a smaller share than this of the rest of the run … */
const chance = 1 / 24;
/** … or makes up for what was missing in the last day: that fades as the level does, so that in truth it is up to this many times as much. */
const madeUp = 2;
const maxRuns = 4;
/** … A weekly run begins at most this many hours earlier or later. */
const sameHour = 1;
/** A run comes at most this many days before its own day. */
const maxMovedDays = 5;

/** A day that takes much more than its weekday, again and again, so that it is expected to come again. */
export interface ExpectedRun {
  /**
   * `day` of a monthly run counts from the beginning of the month, 1 the first, or from its end, −1 the last. Of a run every week or two it
   * is the local day on which the run came last.
   */
  readonly every: 'month' | keyof typeof daysBetween;
  readonly day: number;
  /** A run whose day of the month is no working day comes on the last working day before. */
  readonly moves?: true;
  readonly micros: Micros;
  /** From this local hour on, for this many hours. */
  readonly hour: number;
  readonly hours: number;
}

const daysBetween = { week: 7, 'two-weeks': 14 };

/** A run, and when it comes next; it is over if it did not come then. */
type LastRun = ExpectedRun & { readonly next: number };

/** A day with a run; `day` is the local day. */
type RunDay = Omit<ExpectedRun, 'every'>;

/** Takes in what an hour took; `usual` is what it usually takes, `meanHour` what a mean hour takes. Called before the hour is learned. */
export function noteRunHour(
  state: BalanceState,
  day: number,
  it: { hour: number; spent: Micros; usual: Micros; meanHour: Micros },
): void {
  if (day !== state.runDay) {
    keepRunDay(state, it.meanHour);
    state.runDay = day;
    state.runMicros = 0;
    state.runHour = 0;
    state.runHours = 0;
  }
  if (!isFarAbove(state, it)) return;
  const above = it.spent - it.usual;
  const missing = state.expected - state.actual;
  if (above < Math.max(chance * state.runMicros, madeUp * missing)) return;
  if (state.runMicros < chance * above) state.runHour = it.hour;
  state.runMicros += above;
  state.runHours = it.hour - state.runHour + 1;
}

/** Whether an hour took as much as only a run or a burst does. */
export function isFarAbove(
  state: BalanceState,
  { spent, usual, meanHour }: Readonly<Record<'spent' | 'usual' | 'meanHour', Micros>>,
): boolean {
  return spent > farAbove * usual + margin[isSparse(state) ? 'sparse' : 'usually'] * meanHour;
}

function keepRunDay(state: BalanceState, meanHour: Micros): void {
  if (state.runMicros <= tooMuchHours * meanHour) return;
  const index = state.runDays++ % keptRunDays;
  state.runDates[index] = state.runDay;
  state.runAmounts[index] = state.runMicros;
  state.runBegins[index] = state.runHour;
  state.runLengths[index] = state.runHours;
}

/**
 * The runs that are expected on a local day or after it. A day of the month must have been far above usual in each of the last two months.
 * Of days that are two weeks apart it must be three of the last four, and none in the weeks between; of days that are a week apart, three of
 * the last four at the same hour. If days are both, as in a February, a third month decides.
 */
export function expectedRuns(state: BalanceState, week: Workdays, today: number): readonly ExpectedRun[] {
  const days = runDaysOf(state);
  return [...days.values()]
    .flatMap(
      (last) =>
        monthlyRun(days, week, last, 3) ??
        fortnightlyRun(days, last) ??
        weeklyRun(days, last) ??
        monthlyRun(days, week, last, 2) ??
        movedRun(days, week, last) ??
        [],
    )
    .filter(({ next }) => next >= today)
    .slice(-maxRuns);
}

/** Which local days are working days. */
type Workdays = Pick<LocalWeek, 'isWorking'>;

function monthlyRun(days: RunDays, week: Workdays, last: RunDay, months: number): LastRun | null {
  for (const day of datesOf(last.day, days)) {
    const [before, earlier] = cameBefore(days, week, last, { every: 'month', day });
    if (before === undefined || (months === 3 && earlier === undefined)) continue;
    return monthly(last, before, { day, ...(hasMoved(days, week, day) ? { moves: true } : {}) }, week);
  }
  return null;
}

/** A monthly run of which one of two days came earlier, because its own was no working day. */
function movedRun(days: RunDays, week: Workdays, last: RunDay): LastRun | null {
  const nominal = [last.day];
  while (!week.isWorking((nominal.at(-1) ?? 0) + 1) && nominal.length < maxMovedDays)
    nominal.push((nominal.at(-1) ?? 0) + 1);
  for (const day of nominal.flatMap((local) => datesOf(local, days))) {
    const [before] = cameBefore(days, week, last, { every: 'month', day, moves: true });
    if (before !== undefined) return monthly(last, before, { day, moves: true }, week);
  }
  return null;
}

/**
 * The day of the month, 1 the first, −1 the last, in both ways of counting, the likelier first: from the end by which more of the month's run days
 * came a month before too, which tells the days of a run of several days apart; else from the nearer end.
 */
function datesOf(local: number, days: RunDays): readonly number[] {
  const month = monthOf(local);
  const [date, fromEnd] = [local - firstOf(month) + 1, local - firstOf(month + 1)];
  const cameAgain = (from: number): number => {
    const length = firstOf(from) - firstOf(from - 1);
    return [...days.keys()].filter((day) => monthOf(day) === month && days.has(day - length)).length;
  };
  const more = cameAgain(month) - cameAgain(month + 1);
  return more > 0 || (more === 0 && date <= 15) ? [date, fromEnd] : [fromEnd, date];
}

/** The spending on such a day a month and two months before. */
function cameBefore(days: RunDays, week: Workdays, last: RunDay, run: MonthDay) {
  const month = monthOf(last.day);
  return [month - 1, month - 2].map((ago) => {
    const day = dateIn(run, ago, week);
    return day === null ? undefined : days.get(day);
  });
}

/** Whether a run of such a day ever came earlier, because its own day was no working day. */
function hasMoved(days: RunDays, week: Workdays, day: number): boolean {
  return [...days.keys()].some((local) => {
    const nominal = dayIn(monthOf(local), day);
    return nominal > local && dateIn({ every: 'month', day, moves: true }, monthOf(local), week) === local;
  });
}

function monthly(
  last: RunDay,
  before: RunDay,
  run: Pick<ExpectedRun, 'day' | 'moves'>,
  week: Workdays,
): LastRun {
  const next = dateIn({ every: 'month', ...run }, monthOf(last.day) + 1, week) ?? last.day;
  return { ...runOf(last, before), every: 'month', ...run, next: next > last.day ? next : last.day };
}

type MonthDay = Pick<ExpectedRun, 'every' | 'day' | 'moves'>;

/** On which local day a monthly run comes in a month; null when the month has no such day. */
function dateIn({ day, moves }: MonthDay, month: number, week: Workdays): number | null {
  let local = dayIn(month, day);
  // Not every month has a 31st.
  if (monthOf(local) !== month) return null;
  for (let back = 0; moves && back < maxMovedDays && !week.isWorking(local); back++) local--;
  return local;
}

function fortnightlyRun(days: RunDays, last: RunDay): LastRun | null {
  if (weeksBefore(days, last, [1, 3]).length > 0) return null;
  return runAgain(last, weeksBefore(days, last, [2, 4, 6]), 'two-weeks');
}

/** A weekly run is not left to the profile: that clips bursts and would learn it only over months. */
function weeklyRun(days: RunDays, last: RunDay): LastRun | null {
  const before = weeksBefore(days, last, [1, 2, 3]);
  const alike = before.filter(({ hour }) => Math.abs(hour - last.hour) <= sameHour);
  return runAgain(last, alike, 'week');
}

function weeksBefore(days: RunDays, last: RunDay, weeks: readonly number[]): readonly RunDay[] {
  return weeks.flatMap((ago) => days.get(last.day - 7 * ago) ?? []);
}

/** The run if it came twice before; else null. */
function runAgain(
  last: RunDay,
  [before, another]: readonly RunDay[],
  every: keyof typeof daysBetween,
): LastRun | null {
  if (before === undefined || another === undefined) return null;
  return { ...runOf(last, before), every, next: last.day + daysBetween[every] };
}

function runOf(last: RunDay, before: RunDay): RunDay {
  return { ...last, micros: (before.micros + last.micros) / 2 };
}

/** The spending of a run in an hour of a local day. */
export function plannedIn(
  runs: readonly ExpectedRun[],
  week: Workdays,
  { day, hour }: { readonly day: number; readonly hour: number },
): Micros {
  let planned = 0;
  for (const run of runs)
    if (comesOn(run, day, week) && hour >= run.hour && hour < run.hour + run.hours)
      planned += run.micros / run.hours;
  return planned;
}

/** When expected runs begin from today on, for `days` days. On a day for which a person announced a run, the announced one counts instead. */
export function* plannedRuns(
  runs: readonly ExpectedRun[],
  week: LocalWeek,
  it: { readonly now: number; readonly days: number; readonly announced: readonly AnnouncedRun[] },
): Generator<ExpectedRun & { readonly at: number }> {
  const today = week.dayAt(it.now);
  const isAnnounced = (day: number): boolean =>
    it.announced.some(({ startsAt, endsAt }) => week.dayAt(startsAt) <= day && day <= week.dayAt(endsAt - 1));
  for (const run of runs)
    for (let day = today; day <= today + it.days; day++)
      if (comesOn(run, day, week) && !isAnnounced(day))
        yield { ...run, at: week.beginOf(day) + run.hour * hourMs };
}

/** The spending of runs in a mean week. */
export function weeklyRuns(runs: readonly ExpectedRun[]): Micros {
  const weekly = ({ every }: ExpectedRun) => (every === 'month' ? 84 / 365.25 : 7 / daysBetween[every]);
  return runs.reduce((sum, run) => sum + run.micros * weekly(run), 0);
}

function comesOn(run: MonthDay, local: number, week: Workdays): boolean {
  if (run.every !== 'month') return (local - run.day) % daysBetween[run.every] === 0;
  // A run that moves may come in the month before its own.
  return [0, 1].some((ahead) => dateIn(run, monthOf(local) + ahead, week) === local);
}

/** Ordered by local day, the oldest first. */
type RunDays = ReadonlyMap<number, RunDay>;

function runDaysOf(state: BalanceState): RunDays {
  const days = new Map<number, RunDay>();
  const { runDates, runAmounts, runBegins, runLengths } = state;
  for (let nth = Math.max(0, state.runDays - keptRunDays); nth < state.runDays; nth++) {
    const index = nth % keptRunDays;
    const [day = 0, micros = 0, hour = 0, hours = 1] = [
      runDates[index],
      runAmounts[index],
      runBegins[index],
      runLengths[index],
    ];
    days.set(day, { day, micros, hour, hours: Math.max(1, hours) });
  }
  return days;
}

function dayIn(month: number, day: number): number {
  return day > 0 ? firstOf(month) + day - 1 : firstOf(month + 1) + day;
}
