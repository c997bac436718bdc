import type { Micros } from '../domain/money.ts';
import type { BalanceState, Unusual } from './balance-state.ts';
import { levelOf } from './level.ts';
import { hoursPerWeek } from './local-week.ts';
import { usualSpending } from './profile.ts';

const hourMs = 3_600_000;
/** What was unusual is forgotten by a fiftieth in five minutes: by half in three hours. */
const kept = 0.98;
const keptMs = 300_000;
/** Above one and a half times the most, or below half of the least, of the hour and its neighbours … */
const much = 1.5;
const little = 0.5;
/** … however calm it has been lately, and by a tenth of the mean hour besides. */
const calmest = 0.7;
const margin = 0.1;
/** It is told when the sum passes one mean hour, or a third more than it ever reached by itself … */
const aboveUsual = 1.3;
/** … which is forgotten by half in three weeks, and grows by half an episode at the most. */
const usualKeptAnHour = 2 ** (-1 / (21 * 24));
const usualGrowth = 1.5;
const firstUsual = 1 / aboveUsual / usualGrowth;
/** It takes one mean hour too much, or three tenths of one too little: what is missing cannot be more than what is usual. */
const least = { more: 1, less: 0.3 } as const;
/** It is over when the sum is back at half of where it was told. */
const overAt = 0.5;

export type Side = 'more' | 'less';

/** How much spending an hour bears before it is unusual. Micros an hour. */
export interface Usual {
  readonly usual: Micros;
  readonly most: Micros;
  readonly least: Micros;
}

/** What was spent from one instant to another, within an hour. */
interface Part {
  readonly spent: Micros;
  readonly from: number;
  readonly to: number;
}

/** What is usual in an hour, judged by it and its neighbours, so that a peak may come an hour early or late. */
export function usualRange(state: BalanceState, slot: number): Usual {
  const before = usualSpending(state, (slot + hoursPerWeek - 1) % hoursPerWeek);
  const usual = usualSpending(state, slot);
  const after = usualSpending(state, (slot + 1) % hoursPerWeek);
  const level = levelOf(state);
  const room = margin * state.meanHour;
  return {
    usual: usual * level,
    most: much * Math.max(before, usual, after) * Math.max(level, calmest) + room,
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
  const expected = usual * share;
  add(state, state.more, spent - most * share, { ...part, expected });
  add(state, state.less, least * share - spent, { ...part, expected });
}

function add(
  state: BalanceState,
  side: Unusual,
  excess: Micros,
  part: Part & { readonly expected: Micros },
): void {
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
  // The episode is over: the next one is held against it.
  const usual = Math.max(side.usualTop, firstUsual);
  side.usualTop = Math.max(side.usualTop, Math.min(side.top, usualGrowth * usual));
}

/** Forgets a little of how high the sums go by themselves: once an hour. */
export function forgetUnusual(state: BalanceState): void {
  state.more.usualTop *= usualKeptAnHour;
  state.less.usualTop *= usualKeptAnHour;
}

/** True when a side is far from what is usual; `firing` holds on to that until it is half over. `factor` 1 is normal, more is less sensitive. */
export function isUnusual(
  state: BalanceState,
  side: Side,
  it: { readonly factor: number; readonly firing: boolean },
): boolean {
  const { sum, usualTop } = state[side];
  const limit = it.factor * state.meanHour * Math.max(least[side], aboveUsual * usualTop);
  return sum > (it.firing ? overAt * limit : limit);
}
