import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../src/domain/nearest-word.ts';

const known = ['status', 'history', 'silence', 'simulate', 'schema', 'run'];

describe('nearestWord', () => {
  it.each([
    ['a missing letter', 'statu', 'status'],
    ['an extra letter', 'historyy', 'history'],
    ['swapped neighbours', 'stauts', 'status'],
    ['another case', 'STATUS', 'status'],
    ['a wrong vowel', 'simulete', 'simulate'],
    ['a short word with one slip', 'rum', 'run'],
  ])('suggests the word that was meant: %s', (_name, typed, meant) => {
    expect(nearestWord(typed, known)).toBe(meant);
  });

  it.each([
    ['nothing like it', 'frobnicate'],
    ['an empty word', ''],
    ['a fragment', 'hi'],
  ])('suggests nothing for %s', (_name, typed) => {
    expect(nearestWord(typed, known)).toBeNull();
  });

  it('is the first of those with the fewest edits, whatever is skipped on the way to it', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 6 }), (typed, words) => {
        const near = words
          .map((each) => ({ each, edits: editsBetween(typed, each) }))
          .filter(
            ({ each, edits }) => edits <= Math.max(1, Math.floor(Math.max(typed.length, each.length) / 3)),
          )
          .toSorted((left, right) => left.edits - right.edits);
        expect(nearestWord(typed, words)).toBe(near[0]?.each ?? null);
      }),
      { numRuns: 300 },
    );
  });
});

/** By the definition: the last letters are taken away, put, changed or swapped. */
function editsBetween(left: string, right: string): number {
  if (left === '' || right === '') return left.length + right.length;
  if (left.at(-1) === right.at(-1)) return editsBetween(left.slice(0, -1), right.slice(0, -1));
  const swapped = left.length > 1 && left.at(-1) === right.at(-2) && left.at(-2) === right.at(-1);
  return (
    1 +
    Math.min(
      editsBetween(left.slice(0, -1), right),
      editsBetween(left, right.slice(0, -1)),
      editsBetween(left.slice(0, -1), right.slice(0, -1)),
      swapped ? editsBetween(left.slice(0, -2), right.slice(0, -2)) : Number.POSITIVE_INFINITY,
    )
  );
}
