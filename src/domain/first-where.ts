/**
 * By halving: the first of the places from `low` to before `high` at which something holds that holds at all after it; `high` where
 * there is none.
 */
export function firstWhere(low: number, high: number, holds: (place: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
