import { randomBytes, randomUUID } from 'node:crypto';
import type { Random } from '../ports/clock.ts';

export const systemRandom: Random = {
  fraction: () => Math.random(),
  id: () => randomUUID(),
  bytes: (count) => randomBytes(count),
};
