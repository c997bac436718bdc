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
