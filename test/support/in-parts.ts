/** Rows as a database gives them: in parts, of which one may be empty. */
export async function* inParts<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += 3) {
    yield rows.slice(from, from + 3);
    yield [];
  }
}
