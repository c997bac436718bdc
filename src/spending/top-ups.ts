import type { Micros } from '../domain/money.ts';
import { type BalanceState, keptTopUps } from './balance-state.ts';

/** The number of top-ups that make a pattern. */
export const minTopUps = 4;
/** How far amounts may lie from the usual one, as a share of it; one of them may lie farther. */
const amountSpread = 0.1;
/** How far apart the balances may lie at which they come, and how near to empty there is no pattern, as a share of the amount … */
const levelSpread = 0.06;
/** … and no more than a third of a day's spending: what people pay once a month leaves a similar rest if each month takes the same. */
const levelHours = 8;

/** Whether a rise is more than a correction or a refund: what lasts less than a mean hour is no top-up. */
export function isTopUp(state: BalanceState | null, rise: Micros): boolean {
  return rise > 0 && rise >= (state?.meanHour ?? 0);
}

/** Keeps the newest top-ups. `from` is the balance before it. */
export function rememberTopUp(state: BalanceState, { rise, from }: Record<'rise' | 'from', Micros>): void {
  if (!isTopUp(state, rise)) return;
  const place = state.topUps % keptTopUps;
  state.topUpAmounts[place] = rise;
  state.topUpFrom[place] = from;
  state.topUps += 1;
}

/**
 * The top-up that comes again and again, as by an automatic recharge: its amount, and the lowest balance at which it has come. The amounts are alike
 * (a tenth more or less, one exception) and come from one balance: of the last four to six, at least the highest two thirds of the balances
 * lie within 6 % of the amount and a third of a day's spending, and not as near as 6 % to empty, where people pay by hand. Null without
 * such a pattern.
 */
export function usualTopUp(state: BalanceState, floorMicros: Micros) {
  const count = Math.min(state.topUps, keptTopUps);
  if (count < minTopUps) return null;
  const amounts = [...state.topUpAmounts.subarray(0, count)].sort((left, right) => left - right);
  const amount = amounts[Math.floor(count / 2)] ?? 0;
  const exceptions = amounts.filter((each) => Math.abs(each - amount) > amountSpread * amount);
  const highestFirst = [...state.topUpFrom.subarray(0, count)].sort((left, right) => right - left);
  const nearness = levelSpread * amount;
  const [top = 0] = highestFirst;
  const spread = Math.min(nearness, levelHours * state.meanHour);
  const near = highestFirst.filter((from) => top - from <= spread);
  const level = near.at(-1) ?? 0;
  if (exceptions.length > 1 || near.length < (2 * count) / 3 || level - floorMicros <= nearness) return null;
  return { amount, level };
}
