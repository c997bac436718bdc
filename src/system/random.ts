import { randomBytes, randomUUID } from 'node:crypto';
import type { Random } from '../ports/clock.ts';

/** The real randomness. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  id: () => randomUUID(),
  bytes: (count) => randomBytes(count),
};
