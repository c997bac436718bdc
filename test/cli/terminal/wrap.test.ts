import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, wrapToWidth } from '../../../src/cli/terminal/text.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

describe('wrapping', () => {
  it.each([
    ['a pipe', 'one two three', null, ['one two three']],
    ['what fits', 'one two', 7, ['one two']],
    ['words', 'one two three', 7, ['one two', 'three']],
    ['a word wider than the line', 'a bcdefgh i', 3, ['a', 'bcd', 'efg', 'h i']],
    ['wide characters', '余额不足', 5, ['余额', '不足']],
    ['nothing', '', 5, ['']],
  ] as const)('%s', (_what, text, width, lines) => {
    expect(wrapToWidth(text, width)).toEqual(lines);
  });

  it('loses no character and keeps to the width, regardless of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrapToWidth(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        // A character alone may be wider than the line: it is never cut.
        const tooWide = lines.filter((line) => displayWidth(line) > width);
        for (const line of tooWide) expect([...graphemes.segment(line)]).toHaveLength(1);
      }),
    );
  });
});
