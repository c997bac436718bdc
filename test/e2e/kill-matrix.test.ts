import { describe, expect, it } from 'vitest';
import { killSteps } from '../support/kill/kill-plan.ts';
import { type KillRun, playKillRun } from '../support/kill/kill-run.ts';

/** A few rows of the whole matrix, which `npm run kill-matrix` plays. */
const rows: readonly (readonly [string, KillRun])[] = [
  ...killSteps.map(
    (step) =>
      [
        `each time at "${step}" of the first messages`,
        { plans: [4, 2].map((nth) => ({ step, nth })), receiver: 'takes all' },
      ] as const,
  ),
  ['when a message arrives', { plans: [], receiver: 'kills on arrival' }],
  [
    'while answers get lost',
    { plans: [{ step: 'commit half written', nth: 5 }], receiver: 'loses first answers' },
  ],
];

describe.concurrent('killed at a step of commit or delivery', { timeout: 30_000 }, () => {
  it.each(rows)(
    '%s: nothing lost, no second incident, no more repeats than crashes allow',
    async (_name, run) => {
      const { broken, crashes } = await playKillRun(run);
      expect(broken).toEqual([]);
      expect(crashes).toBeGreaterThan(0);
    },
  );
});
