import { expect, test } from 'vitest';
import { judgeLook, type Phase } from '../../src/cluster/judge-look.ts';

const phases: readonly Phase[] = ['loading', 'owner', 'giving', 'released', 'alone'];
const [loading, owner, giving, released, alone] = phases.map((phase) => [phase] as const);
const begun = [owner, giving, released, alone].flatMap((phase) => phase ?? []);

/** The table of `judge-look.ts`, each row for each phase that it names: it has taken the accounts under epoch 5 and stored 7 batches. */
const rows: readonly (readonly [
  epoch: number,
  owner: 'itself' | 'another' | 'none',
  phases: readonly Phase[],
  verdict: string,
  more?: { readonly batch?: number; readonly waits?: boolean; readonly isBlind?: boolean },
])[] = [
  [5, 'itself', phases, 'keep'],
  [5, 'another', phases, 'lose'],
  [6, 'another', phases, 'lose'],
  [6, 'none', phases, 'lose'],
  [6, 'itself', begun, 'regain'],
  [6, 'itself', loading ?? [], 'lose'],
  [5, 'none', loading ?? [], 'lose'],
  [5, 'none', begun, 'regain'],
  [5, 'none', released ?? [], 'keep', { waits: true }],
  [5, 'none', alone ?? [], 'regain', { waits: true }],
  [4, 'another', begun, 'lose'],
  [4, 'another', loading ?? [], 'lose'],
  [4, 'none', begun, 'restore'],
  [4, 'itself', begun, 'restore'],
  [5, 'itself', begun, 'restore', { batch: 6 }],
  [5, 'none', begun, 'restore', { batch: 6 }],
  [5, 'another', begun, 'lose', { batch: 6 }],
  [5, 'itself', loading ?? [], 'keep', { batch: 6 }],
  [5, 'itself', alone ?? [], 'keep', { isBlind: true }],
  [5, 'none', alone ?? [], 'claim', { isBlind: true }],
  [4, 'none', alone ?? [], 'claim', { isBlind: true }],
  [6, 'itself', alone ?? [], 'take', { isBlind: true }],
  [6, 'another', alone ?? [], 'lose', { isBlind: true }],
];

test.each(
  rows.flatMap(([epoch, holder, named, verdict, more]) =>
    named.map((phase) => [phase, epoch, holder, verdict, more] as const),
  ),
)('who is %s and sees epoch %i owned by %s: %s', (phase, epoch, holder, verdict, more = {}) => {
  const { batch = 7, waits = false, isBlind = false } = more;
  const look = {
    epoch,
    owner: holder === 'none' ? null : holder,
    batch,
    databaseNow: 0,
    members: [],
    lapsedOwner: null,
    origin: null,
  };
  const standing = { phase, incarnation: 'itself', epoch: 5, stored: 7, waits, isBlind };
  const become = ['regain', 'restore', 'claim', 'take'].includes(verdict) ? 'rejoin' : verdict;
  expect(judgeLook(standing, { ...look, renewed: true }).kind).toBe(verdict);
  expect(judgeLook(standing, { ...look, renewed: false }).kind).toBe(become);
});
