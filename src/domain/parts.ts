/** Rows in parts of so many, the last one shorter; never an empty one. Taken one by one, each would cost a promise. */
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

/** Work that lets others have their turn at each `yield`: for thousands of accounts each part takes some milliseconds. */
export type Parts<Result> = Generator<undefined, Result>;

export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}
