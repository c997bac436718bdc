/** The first index from `low` to before `high` at which `holds` is true, as it must be at all later ones; `high` if there is none. */
export function firstWhere(low: number, high: number, holds: (index: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
