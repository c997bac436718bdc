import type { Micros } from '../domain/money.ts';
import { hourMs } from '../domain/time.ts';
import type { BalanceState } from './balance-state.ts';
import { levelOf } from './level.ts';
import { hoursPerWeek } from './local-week.ts';
import { usualSpending } from './profile.ts';
import {
  fadeLearned,
  isSilent,
  isSparse,
  learnedGrowth,
  raiseLearned,
  shortestMs,
  watchSilence,
} from './silence.ts';

/** An unusual sum fades by a fiftieth in five minutes: by half in three hours. */
const kept = 0.98;
const keptMs = 300_000;
/** Unusual is above one and a half times the most, or below half of the least, of the hour and its neighbours … */
const much = 1.5;
const little = 0.5;
/** … however calm it has been lately, and by a tenth of the mean hour more. */
const calmest = 0.7;
const margin = 0.1;
/** The hour before counts with at most this many times what was usual in it before. */
const mostLearned = 3;
/** An episode is reported when the sum passes one mean hour, or a third more than it ever reached by itself … */
const aboveUsual = 1.3;
const firstUsual = 1 / aboveUsual / learnedGrowth;
/** … that is one mean hour too much, or three tenths of one too little: no more can be missing than is usual. */
const least = { more: 1, less: 0.3 } as const;
/** Ten messages more or less are chance where little is sent; but 24 mean hours are not, however seldom it is read. */
const minFalls = 10;
const maxHours = 24;
/** One in ten thousand, as a logarithm: the bound is several times the probability. */
const improbable = 9;
const minUsual = 0.05;
/** An episode is over when the sum is back at half of where it was reported. */
const overAt = 0.5;

export type Side = 'more' | 'less';

/** The spending that an hour may have before it is unusual. Micros an hour. */
export interface Usual {
  readonly usual: Micros;
  readonly most: Micros;
  readonly least: Micros;
}

/** The spending from one instant to another, within an hour. */
interface Part {
  readonly spent: Micros;
  readonly from: number;
  readonly to: number;
}

/** The usual spending in an hour, judged by it and its neighbours, so that a peak may come an hour early or late. */
export function usualRange(state: BalanceState, slot: number): Usual {
  const hours = slot < hoursPerWeek ? hoursPerWeek : 24;
  const first = slot - (slot % hours);
  const before = usualSpending(state, first + ((slot + hours - 1) % hours));
  const usual = usualSpending(state, slot);
  const after = usualSpending(state, first + ((slot + 1) % hours));
  const level = levelOf(state);
  const room = margin * state.meanHour;
  // The hour before may be part of a surge: what it taught must not make room for the surge.
  const most = Math.max(Math.min(before, mostLearned * state.usualBefore), usual, after);
  return {
    usual: usual * level,
    most: much * most * Math.max(level, calmest) + room,
    least: little * Math.min(before, usual, after) * Math.min(level, 1),
  };
}

/**
 * Takes in what was spent within a part of an hour. Each side is a sum of what went past the usual range (a one-sided CUSUM with
 * forgetting: Page, 1954):
 *
 *     more = max(0, 0.98^(dt/5min) · more + spent − most · dt),  less = max(0, 0.98^(dt/5min) · less + least · dt − spent)
 */
export function watchUnusual(state: BalanceState, { usual, most, least }: Usual, part: Part): void {
  const { spent, from, to } = part;
  const share = (to - from) / hourMs;
  watchSilence(state, usual, part);
  const seen = { spent, from, to, expected: usual * share };
  add(state, 'more', spent - most * share, seen);
  add(state, 'less', least * share - spent, seen);
}

function add(
  state: BalanceState,
  name: Side,
  excess: Micros,
  part: Part & { readonly expected: Micros },
): void {
  const side = state[name];
  if (side.sum === 0 && excess <= 0) return;
  if (side.sum === 0) {
    side.since = part.from;
    side.spent = 0;
    side.expected = 0;
    side.top = 0;
  }
  side.spent += part.spent;
  side.expected += part.expected;
  side.sum = Math.max(0, side.sum * kept ** ((part.to - part.from) / keptMs) + excess);
  side.top = Math.max(side.top, side.sum / state.meanHour);
  if (side.sum > 0) return;
  // The episode is over: the next one is measured by it, unless a person said that it was expected.
  if (side.excused === 0) side.usualTop = raiseLearned(side.usualTop, side.top, firstUsual);
  side.excused = 0;
}

/** An excused episode does not count for what the account is used to: the next one like it is reported as if this one had not been. */
export function excuse(state: BalanceState, side: Side, excused: boolean): void {
  if (episodeOf(state, side, 0) !== null) state[side].excused = excused ? 1 : 0;
}

/** The unusual spending at an instant: since when, how much was spent since then, and how much was usual. */
export type Episode = Readonly<Pick<BalanceState['more'], 'since' | 'spent' | 'expected'>>;

/** A change that may become unusual, reported or not; null while all is as usual. */
export function episodeOf(state: BalanceState, side: Side, at: number): Episode | null {
  if (state[side].sum > 0) return state[side];
  if (side === 'more' || state.silent === 0) return null;
  return { since: at - state.silentMs, spent: 0, expected: state.silent };
}

/** Once an hour, forgets a little of how high the sums and how long the silences get by themselves. */
export function forgetUnusual(state: BalanceState): void {
  state.more.usualTop = fadeLearned(state.more.usualTop);
  state.less.usualTop = fadeLearned(state.less.usualTop);
  state.usualSilence = fadeLearned(state.usualSilence);
}

/** Whether spending is far from usual, or there is none at all (`isSilent`); if `firing`, until half of it is over. `factor`: higher is calmer. */
export function isUnusual(
  state: BalanceState,
  side: Side,
  it: { readonly factor: number; readonly firing: boolean },
): boolean {
  if (side === 'less' && isSilent(state, it)) return true;
  const { sum, usualTop } = state[side];
  const chance = side === 'less' && isSparse(state) ? (minFalls * state.smallestFall) / state.meanHour : 0;
  const hours = Math.max(least[side], aboveUsual * usualTop, Math.min(maxHours, chance));
  const limit = it.factor * hours * state.meanHour;
  if (it.firing) return sum > overAt * limit;
  return sum > limit && (side === 'less' || !isSparse(state) || isImprobable(state, it.factor));
}

/** A top-up hides what was spent before it, up to an hour's if a provider posts hourly. A silence until then that is not reported begins again. */
export function passTopUp(state: BalanceState): void {
  if (state.silentMs < shortestMs || isUnusual(state, 'less', { factor: 1, firing: false })) return;
  state.silentMs = shortestMs;
  state.silent = 0;
  state.less.sum = 0;
}

/** Whether so many messages are no chance, with `μ` one and a half times the usual number: by Chernoff's bound `P ≤ e^(n − μ) · (μ / n)^n`. */
function isImprobable({ more, usualFall }: BalanceState, factor: number): boolean {
  const messages = more.spent / usualFall;
  const usual = Math.max(minUsual, (much * more.expected) / usualFall);
  return messages * Math.log(messages / usual) - messages + usual > factor * improbable;
}
