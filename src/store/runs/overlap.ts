/** The time that a run of polls covers, both ends included. */
export interface Span {
  readonly earliestAt: number;
  readonly latestAt: number;
}

/**
 * Runs by time, oldest first. Those whose spans overlap come together, in the order in which they were given: only their
 * polls have to be sorted.
 */
export function* groupOverlapping<Run extends Span>(runs: readonly Run[]): Generator<readonly Run[]> {
  const places = new Map(runs.map((run, place) => [run, place]));
  const byPlace = (left: Run, right: Run): number => (places.get(left) ?? 0) - (places.get(right) ?? 0);
  let group: Run[] = [];
  let latestAt = Number.NEGATIVE_INFINITY;
  for (const run of runs.toSorted((left, right) => left.earliestAt - right.earliestAt)) {
    if (group.length > 0 && run.earliestAt > latestAt) {
      yield group.sort(byPlace);
      group = [];
    }
    group.push(run);
    latestAt = Math.max(latestAt, run.latestAt);
  }
  if (group.length > 0) yield group.sort(byPlace);
}
