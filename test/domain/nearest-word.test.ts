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
});
