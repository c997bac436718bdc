import { expect, test } from 'vitest';
import { noteClusterProblems } from '../../src/engine/self-alerts.ts';
import { renderText } from '../../src/messages/render-text.ts';
import type { ClusterProblem } from '../../src/ports/cluster.ts';
import { minuteMs } from '../support/account-facts.ts';
import { incidentMessage } from '../support/recording-channel.ts';
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

test('the end of two servers that take writes is told as one owner again, and not as one server, which nobody knows', async () => {
  const world = await startWorld();
  for (const alerts of [[split], []]) {
    world.daemon.act((now) => noteClusterProblems(world.daemon.state, { alerts, undecided: [] }, now));
    await world.pass(minuteMs);
  }
  expect(renderText(incidentMessage(world.channel('ops').delivered.at(-1)), 200)).toContain(
    'one daemon alone owns the accounts again, though the older server may still take writes',
  );
});
