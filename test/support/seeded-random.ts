import type { Random } from '../../src/ports/clock.ts';

/** Randomness that is the same in every run: ids count up, fractions come from a small generator (mulberry32). */
export function seededRandom(seed = 1): Random {
  let state = seed;
  let ids = 0;
  let drawn = 0;
  return {
    fraction() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    id: () => `${seed}-${++ids}`,
    bytes: (count) => Buffer.alloc(count, seed + drawn++),
  };
}
