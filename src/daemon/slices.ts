import { setImmediate } from 'node:timers/promises';
import { inParts, type Parts } from '../domain/parts.ts';

/** The items in slices, between which the rest of the daemon has its turn: no answer may stall polls and alerts. */
export async function* inSlices<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[]> {
  for (const slice of inParts(items, size)) {
    yield slice;
    await setImmediate();
  }
}

/** Each part in a turn of its own, as what comes after: polls go on between. */
export async function inTurns<Result>(parts: Parts<Result>): Promise<Result> {
  for (;;) {
    const part = parts.next();
    await setImmediate();
    if (part.done === true) return part.value;
  }
}
