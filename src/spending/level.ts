import type { Micros } from '../domain/money.ts';
import type { BalanceState } from './balance-state.ts';

/** The level looks back about a day … */
const memoryHours = 24;
const keptAnHour = Math.exp(-1 / memoryHours);
/** … with so many mean hours besides, at which all was as usual: what is seldom spent says little. */
const calmHours = 24;
/** Less than proportional: part of what is unusual is chance. */
const trust = 0.8;
/** What is unusual now fades in about four days. */
const fadesInHours = 96;

const fading = Float64Array.from({ length: 401 }, (_, hour) => Math.exp(-hour / fadesInHours));

/**
 * How much is spent nowadays, of what is usual at these hours: 1 is as usual, 2 twice as much.
 *
 *     A = Σ spent · e^(−age/24 h), E = Σ usual · e^(−age/24 h), L = ((A + 24 m) / (E + 24 m))^0.8, m the mean hour
 */
export function levelOf(state: BalanceState): number {
  const calm = calmHours * state.meanHour;
  const expected = state.expected + calm;
  return expected > 0 ? ((state.actual + calm) / expected) ** trust : 1;
}

/** Takes in an hour; `usual` as it was before that hour was learned. */
export function learnLevel(state: BalanceState, spent: Micros, usual: Micros): void {
  state.actual = state.actual * keptAnHour + spent;
  state.expected = state.expected * keptAnHour + usual;
}

/** What becomes of a level so many hours (at most 400) ahead: `1 + (L − 1) · e^(−hours/96)`. */
export function levelAhead(level: number, hours: number): number {
  return 1 + (level - 1) * (fading[hours] ?? 0);
}
