import type { StorageError } from '../../domain/operator-error.ts';
import type { Batch } from '../../ports/store.ts';
import { stillUnknown } from './failure.ts';

/** One record of a batch: the part that it belongs to, its index or name in that part, and its value. */
type Item = readonly [part: string, key: string, value: unknown];

/** The most records of a batch that are given up: if more are refused, the records are not at fault. */
const maxRefused = 20;

export type PartedBatch = ReturnType<typeof createPartedBatch>;

/**
 * Stores a refused batch in parts, so that one bad record does not block the others. A part that is refused is split
 * in two, down to single records. The first part is empty: if that is refused, no record is at fault.
 */
export function createPartedBatch(batch: Batch) {
  const items = Object.entries(batch).flatMap(([part, values]: [string, object]) =>
    Object.entries(values).map(([key, value]): Item => [part, key, value]),
  );
  let parts: (readonly Item[])[] = [[], items];
  let refusedRecords = 0;
  return { of: batch, next, stored, refused };

  /** The part to store next; null once all are stored. */
  function next(): Batch | null {
    const [items] = parts;
    if (items === undefined) return null;
    const made = Object.entries(batch).map(([part, values]) => {
      const mine = items.filter(([of]) => of === part);
      const content = Array.isArray(values)
        ? mine.map(([, , value]) => value)
        : Object.fromEntries(mine.map(([, key, value]) => [key, value]));
      return [part, content];
    });
    return Object.fromEntries(made) as unknown as Batch;
  }

  function stored(): void {
    parts.shift();
  }

  /** `next` was refused. Returns the record at fault if the part was a single one, else null; throws if no record is at fault. */
  function refused(error: StorageError): { readonly source: string; readonly record: unknown } | null {
    const [items = [], ...rest] = parts;
    const [only] = items;
    if (only === undefined) throw error;
    if (refusedRecords === maxRefused) throw stillUnknown(error);
    const half = Math.ceil(items.length / 2);
    parts = items.length === 1 ? rest : [items.slice(0, half), items.slice(half), ...rest];
    if (items.length > 1) return null;
    refusedRecords += 1;
    return { source: only[0], record: only[2] };
  }
}
