import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DatabaseLink, maxSkewMs, sharedSkewMs } from '../../src/cluster/database-link.ts';

test.each([
  ['one daemon alone cannot tell who is wrong', [5000], 0],
  ['two that agree with one another against the database are right', [5000, 4800], 5000],
  ['two that agree with the database go by it', [100, -300], 0],
  ['two that agree with nobody go by the database', [5000, -5000], 0],
  ['two against one and the database go by the database', [5000, 5000, 0], 0],
  ['three against one and the database are right', [5000, 5100, 4900, 0], 5000],
])('%s', (_, skews, shared) => {
  expect(sharedSkewMs(skews)).toBe(shared);
});

test('the clock that counts is the database’s, or that of a majority of all clocks', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -10_000, max: 10_000 }), { maxLength: 6 }), (skews) => {
      const shared = sharedSkewMs(skews);
      const near = [...skews, 0].filter((skew) => Math.abs(skew - shared) <= maxSkewMs);
      expect(shared === 0 || near.length > (skews.length + 1) / 2).toBe(true);
    }),
  );
});

test('who was killed is no second daemon that agrees with its heir on the same machine', () => {
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore };
  const behindFor = (node: string) => {
    const link = new DatabaseLink(log);
    const status = { process: '1', skewMs: 5000, polls: false, since: 0 };
    const killed = { incarnation: '1', node, advertise: null, configHash: '', status, program: '' };
    const look = { databaseNow: 0, owner: null, lapsedOwner: null, epoch: 1, batch: 0, origin: null };
    link.heard({ ...look, members: [{ ...killed, expiresAt: 1 }] }, 'b', 5000);
    return link.databaseBehindMs;
  };
  expect([behindFor('b'), behindFor('c')]).toEqual([0, 5000]);
});
