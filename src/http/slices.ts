import { setImmediate } from 'node:timers/promises';
import { inParts } from '../domain/parts.ts';

/** The items in slices, between which the rest of the daemon has its turn: no answer may stall polls and alerts. */
export async function* inSlices<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[]> {
  for (const slice of inParts(items, size)) {
    yield slice;
    await setImmediate();
  }
}
