import type { Item, Value } from '../asking.ts';
import type { ColumnKind } from '../tables.ts';

/** What a parameter is cast to that holds a column of rows. */
export const arrayTypes: Readonly<Record<ColumnKind, string>> = {
  integer: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
};

/** Parameters that hold rows: an array for each of so many columns. Bytes are copied: whoever made them may write on. */
export function columnArrays(columns: number, rows: readonly (readonly Item[])[]): readonly Value[] {
  return Array.from({ length: columns }, (_, column) =>
    rows.map((row) => {
      const item = row[column] ?? null;
      return item instanceof Uint8Array ? Buffer.from(item) : item;
    }),
  );
}
