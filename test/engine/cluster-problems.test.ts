import { expect, test } from 'vitest';
import { noteClusterProblems } from '../../src/engine/self-alerts.ts';
import type { ClusterProblem } from '../../src/ports/cluster.ts';
import { minuteMs } from '../support/account-facts.ts';
import { startWorld } from '../support/world.ts';

const split: ClusterProblem = { aspect: 'split', severity: 'warning', text: 'two servers take writes' };

test('a problem of the cluster is over once it is known to be, and not while that is undecided, though another daemon has the accounts by then', async () => {
  const world = await startWorld();
  const isOpen = () =>
    [...world.daemon.state.incidents.values()].some(
      ({ rule, resolvedAt }) => rule === 'cluster-degraded:split' && resolvedAt === null,
    );
  const note = async (alerts: readonly ClusterProblem[], undecided: readonly 'split'[]) => {
    world.daemon.act((now) => noteClusterProblems(world.daemon.state, { alerts, undecided }, now));
    await world.pass(minuteMs);
    return isOpen();
  };
  expect(await note([], ['split'])).toBe(false);
  expect(await note([split], [])).toBe(true);
  await world.restart({ downMs: minuteMs });
  expect(await note([], ['split'])).toBe(true);
  expect(world.news().join()).not.toContain('resolved');
  expect(await note([], [])).toBe(false);
});
