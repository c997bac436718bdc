/** The known word with the fewest edits, without regard to case. Null when more than a third of the letters would have to change. */
export function nearestWord(typed: string, known: Iterable<string>): string | null {
  const wanted = typed.toLowerCase();
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const word of known) {
    const candidate = word.toLowerCase();
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    const atMost = Math.min(allowed, bestDistance - 1);
    if (Math.abs(wanted.length - candidate.length) > atMost) continue;
    const distance = editDistance(wanted, candidate, atMost);
    if (distance <= atMost) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment: Damerau-Levenshtein, each letter swapped at most once. Exact up to `atMost`: cells farther from the diagonal cost more. */
function editDistance(left: string, right: string, atMost: number): number {
  const table = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    table.push(current);
    const end = Math.min(right.length, row + atMost);
    for (let column = Math.max(1, row - atMost); column <= end; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    // No later row holds less than the least of this one.
    if (current.every((distance) => distance > atMost)) return Number.POSITIVE_INFINITY;
  }
  return at(left.length, right.length);
}
