import type { Micros } from '../domain/money.ts';
import type { BalanceState } from './balance-state.ts';
import { isSparse } from './silence.ts';

/** The level looks back about a day … */
const memoryHours = 24;
const keptAnHour = Math.exp(-1 / memoryHours);
/** … with half a day of usual spending added: what is seldom spent says little. */
const calmHours = 12;
/** Drift is seen over two weeks, but not in the first two, with two weeks of usual spending added. */
const driftHours = 336;
const driftKeptAnHour = Math.exp(-1 / driftHours);
const calmDriftHours = 336;
/** … or this many of the smallest falls: of few messages, some more or less are chance. */
const calmFalls = 60;
/** … and this many hours of spending that comes in clumps, which says little of the level. */
const calmClumps = 200;
const holidayKeptAnHour = Math.exp(-1 / 96);
/** An unusual level fades in about two days. */
const fadesInHours = 48;

const fading = Float64Array.from({ length: 401 }, (_, hour) => Math.exp(-hour / fadesInHours));

/**
 * The present spending as a share of the usual at these hours: 1 is as usual, 2 twice as much.
 *
 *     A = Σ spent · e^(−age/24 h), E = Σ usual · e^(−age/24 h), L = (A + c) / (E + c),
 *     c = max(12 m, 60 f), m the mean hour, f the smallest fall
 */
export function levelOf(state: BalanceState): number {
  return ratioOf(state, state.actual, state.expected, calmHours);
}

/** The drift that the profile follows late: 1 is no drift. Measured over two weeks, with two weeks of usual spending added. */
export function driftOf(state: BalanceState): number {
  return ratioOf(state, state.driftActual, state.driftExpected, calmDriftHours);
}

/** The spending of a holiday as a share of the weekend's last day: summed up as the level is, over four holidays, with half as much added. */
export function holidayOf(state: BalanceState): number {
  return ratioOf(state, state.holidayActual, state.holidayExpected, calmHours / 2);
}

/** The ratio of the sums, with this many hours of usual spending added to both. */
function ratioOf(state: BalanceState, actual: Micros, expected: Micros, hours: number): number {
  const { meanHour, smallestFall, clipped } = state;
  const clumps = isSparse(state) ? calmClumps * clipped : 0;
  const calm = Math.max(hours * meanHour, calmFalls * smallestFall) + clumps;
  return expected + calm > 0 ? (actual + calm) / (expected + calm) : 1;
}

/** Whether drift is measured: from the third week on. */
export function isDriftMeasured({ hours }: BalanceState): boolean {
  return hours > driftHours;
}

/** Takes in an hour; `usual` as it was before that hour was learned. */
export function learnLevel(state: BalanceState, spent: Micros, usual: Micros): void {
  state.actual = state.actual * keptAnHour + spent;
  state.expected = state.expected * keptAnHour + usual;
  if (state.hours < driftHours) return;
  state.driftActual = state.driftActual * driftKeptAnHour + spent;
  state.driftExpected = state.driftExpected * driftKeptAnHour + usual;
}

/** Takes in an hour of a holiday, which says nothing of the level; `usual` as it was before that hour was learned. */
export function learnHoliday(state: BalanceState, spent: Micros, usual: Micros): void {
  const expected = (usual * levelOf(state)) / holidayOf(state);
  state.holidayActual = state.holidayActual * holidayKeptAnHour + spent;
  state.holidayExpected = state.holidayExpected * holidayKeptAnHour + expected;
}

/** The level a number of hours (at most 400) ahead: `D + (L − D) · e^(−hours/48)`, D the drift. */
export function levelAhead(level: number, drift: number, hours: number): number {
  return drift + (level - drift) * (fading[hours] ?? 0);
}
