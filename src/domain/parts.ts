/** Chunks of at most `size` rows, never empty. One promise per row would be too slow. */
export function* inParts<Row>(rows: Iterable<Row>, size: number): Generator<readonly Row[]> {
  let part: Row[] = [];
  for (const row of rows) {
    part.push(row);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** The number of accounts in one part, when a configuration is worked through in parts. */
export const accountsAtOnce = 5000;

/** Work that yields between its parts, so that other work runs. */
export type Parts<Result> = Generator<undefined, Result>;

export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}
