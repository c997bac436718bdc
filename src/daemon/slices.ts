import { setImmediate as nextTurn } from 'node:timers/promises';
import { inParts, type Parts } from '../domain/parts.ts';

export { nextTurn };

/** Slices, with a turn for the rest of the daemon in between. */
export async function* inSlices<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[]> {
  for (const slice of inParts(items, size)) {
    yield slice;
    await nextTurn();
  }
}

/** Runs each part in its own turn of the event loop. */
export async function inTurns<Result>(parts: Parts<Result>): Promise<Result> {
  for (;;) {
    const part = parts.next();
    await nextTurn();
    if (part.done === true) return part.value;
  }
}
