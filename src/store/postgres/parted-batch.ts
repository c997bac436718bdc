import type { StorageError } from '../../domain/operator-error.ts';
import type { Batch } from '../../ports/store.ts';
import { stillUnknown } from './failure.ts';

/** One record of a batch: the part that it stands in, its place or name there, and itself. */
type Item = readonly [part: string, key: string, value: unknown];

/** Records of a batch given up at most: more are not themselves at fault. */
const maxRefused = 20;

export type PartedBatch = ReturnType<typeof createPartedBatch>;

/**
 * A batch that the database refused, in parts: what one record does to a commit is its own affair. A part that is refused as well is cut
 * in two, down to the record. The first part is empty: where that is refused, it is no record's fault.
 */
export function createPartedBatch(batch: Batch) {
  const items = Object.entries(batch).flatMap(([part, values]: [string, object]) =>
    Object.entries(values).map(([key, value]): Item => [part, key, value]),
  );
  let parts: (readonly Item[])[] = [[], items];
  let refusedRecords = 0;
  return { of: batch, next, stored, refused };

  /** The part to be stored next; null when all is. */
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

  /** `next` was refused. Gives the record that it is about, if it is one; throws where it is no record's fault. */
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
