import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inParts } from '../../src/domain/parts.ts';

test('parts put together are the rows, each but the last as long as asked, and none empty', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (rows, size) => {
      const parts = [...inParts(rows, size)];
      expect(parts.flat()).toEqual(rows);
      expect(parts.slice(0, -1).every((part) => part.length === size)).toBe(true);
      expect(parts.every((part) => part.length > 0 && part.length <= size)).toBe(true);
    }),
  );
});
