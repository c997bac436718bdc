import { describe, expect, it } from 'vitest';
import { type KillRun, playKillRun } from '../support/kill/kill-run.ts';

/**
 * A few rows of the whole matrix, which `npm run kill-matrix` plays. Each plan kills one process; the next is
 * started.
 */
const rows: readonly (readonly [string, KillRun])[] = [
  [
    'half way through commits and deliveries while answers get lost',
    {
      plans: [
        { step: 'commit half written', nth: 4 },
        { step: 'commit done', nth: 3 },
        { step: 'sending begins', nth: 1 },
        { step: 'sending ended', nth: 2 },
      ],
      receiver: 'loses first answers',
    },
  ],
  ['when messages arrive', { plans: [], receiver: 'kills on arrival' }],
];

describe.concurrent('killed', () => {
  it.each(rows)(
    '%s: nothing lost, no second incident, no more repeats than crashes allow',
    async (_name, run) => {
      const { broken, crashes } = await playKillRun(run);
      expect(broken).toEqual([]);
      expect(crashes).toBeGreaterThanOrEqual(Math.max(run.plans.length, 1));
    },
  );
});
