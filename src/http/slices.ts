import { setImmediate } from 'node:timers/promises';

/** The items in slices, between which the rest of the daemon has its turn: no answer may stall polls and alerts. */
export async function* inSlices<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < size) continue;
    yield slice;
    slice = [];
    await setImmediate();
  }
  if (slice.length > 0) yield slice;
}
