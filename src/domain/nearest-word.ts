/**
 * The known word with the fewest edits (insert, delete, replace, swap of neighbours), without regard to case.
 * Null when more than a third of the letters would have to change.
 */
export function nearestWord(typed: string, known: Iterable<string>): string | null {
  const wanted = typed.toLowerCase();
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const word of known) {
    const candidate = word.toLowerCase();
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    if (Math.abs(wanted.length - candidate.length) > allowed) continue;
    const distance = editDistance(wanted, candidate);
    if (distance <= allowed && distance < bestDistance) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance, three rows at a time. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
        swapped ? at(beforePrevious, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
