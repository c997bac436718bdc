import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth, padToWidth } from '../../../src/cli/terminal/text.ts';

describe('the width of a text on a terminal', () => {
  it.each([
    ['plain letters', 'abc', 3],
    ['umlauts', 'äöü', 3],
    ['a letter with a separate accent', 'e\u0301', 1],
    ['Chinese', '余额不足', 8],
    ['Korean', '잔액', 4],
    ['fullwidth letters', 'ＡＢ', 4],
    ['an emoji', '🔥', 2],
    ['a family of emoji joined into one', '👩‍👩‍👧', 2],
    ['a flag', '🇩🇪', 2],
    ['bars and braille', '▁▂⣿', 3],
    ['nothing', '', 0],
  ])('of %s', (_name, text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('a text cut to a width', () => {
  it.each([
    ['fits and stays', 'abc', 3, 'abc'],
    ['ends in an ellipsis', 'abcdef', 4, 'abc…'],
    ['leaves no blank before the ellipsis', 'ab cdef', 4, 'ab…'],
    ['never shows half a wide character', '余额不足', 6, '余额…'],
    ['keeps a joined emoji whole', '👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
    ['shows nothing without room', 'abc', 0, ''],
  ])('%s', (_name, text, width, cut) => {
    expect(cutToWidth(text, width)).toBe(cut);
  });

  it('never takes more than its width, and padding fills it exactly', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 40 }), (text, width) => {
        const cut = cutToWidth(text, width);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(displayWidth(padToWidth(cut, width))).toBe(width);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});

it('is reported without the tables of Unicode for what the commands draw with, and the same', () => {
  const plain = fc.string({ unit: fc.constantFrom(...'aZ09 ~-/:–—…▁▂▃▄▅▆▇█') });
  fc.assert(fc.property(plain, (text) => displayWidth(text) === stringWidth(text)));
});
