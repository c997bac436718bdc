import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterBed,
  type ClusterNode,
  makeClusterBed,
  patienceMs,
} from '../support/cluster/cluster-bed.ts';
import { faults, judgeCluster, playFault } from '../support/cluster/cluster-run.ts';
import { eventually } from '../support/eventually.ts';
import { noPostgres } from '../support/postgres.ts';

async function findBoth(
  bed: ClusterBed,
): Promise<{ readonly owner: ClusterNode; readonly other: ClusterNode }> {
  const { node } = await bed.owner();
  const owner = bed.nodes.find(({ name }) => name === node);
  const other = bed.nodes.find(({ name }) => name !== node);
  if (owner === undefined || other === undefined) throw new Error('nobody owns the accounts');
  return { owner, other };
}

describe.skipIf(noPostgres !== null)('two daemons on one PostgreSQL', () => {
  let bed: ClusterBed;
  let takeOvers = 0;
  beforeAll(async () => {
    bed = await makeClusterBed();
  });
  afterAll(() => bed.close());

  it.each(faults)('watch on when the owner is met by: %s', async (fault) => {
    const { takeOverMs } = await playFault(bed, fault, 300);
    takeOvers += 1;
    // Two leases and 3 s, twice over for a busy machine.
    if (takeOverMs !== null) expect(takeOverMs).toBeLessThan(30_000);
  });

  it('have stored each reading once, sent each message under one id, and written nothing as an owner that was overtaken', async () => {
    expect(await judgeCluster(bed, takeOvers)).toEqual([]);
  });

  it('go on counting, from the same start, where the accounts change hands', async () => {
    const { owner, other } = await findBoth(bed);
    const figures = async () => {
      const text = await (await fetch(`${owner.origin}/metrics`)).text();
      const of = (name: string) => Number(new RegExp(`^lowwater_${name} (.*)$`, 'm').exec(text)?.[1]);
      return { polls: of('poll_duration_seconds_count'), startedAt: of('start_timestamp_seconds') };
    };
    const { polls, startedAt } = await figures();
    for (const [from, to] of [[owner, other] as const, [other, owner] as const]) {
      await bed.untilMembers(2);
      expect(await from.command('cluster', 'hand-over')).toMatchObject({ stderr: '' });
      await bed.untilOwner(to.name);
      await eventually('it stands by, or polls', async () => (await figures()).polls >= polls, patienceMs);
      expect((await figures()).startedAt).toBe(startedAt);
    }
  });

  it('give no empty list while one polls that could not read what is stored', async () => {
    const { owner, other } = await findBoth(bed);
    const ask = (path: string) => fetch(`${other.origin}/api/v1/${path}`);
    await owner.command('silence', 'add', '--account', 'voice', '--for', '2h');
    other.proxy.mode = 'cut';
    await owner.end('SIGKILL');
    const polls = async () => (await (await fetch(`${other.origin}/readyz`)).text()).includes('"alone"');
    await eventually('it polls in doubt', polls, patienceMs);
    for (const list of ['silences', 'expected-top-ups', 'audit', 'pay'])
      expect({ list, status: (await ask(list)).status }).toEqual({ list, status: 503 });
    expect((await ask('accounts')).status).toBe(200);
    other.proxy.mode = 'pass';
    await bed.untilOwner(other.name);
    await eventually('it has read them', async () => (await ask('silences')).status === 200, patienceMs);
    expect(await (await ask('silences')).text()).toContain('voice');
    owner.start();
    await bed.untilMembers(2);
  });

  it('keep what is another clock from owning', async () => {
    const { owner, other } = await findBoth(bed);
    await other.end('SIGTERM');
    other.shiftClock(5000);
    other.start();
    await bed.untilMembers(2);
    await owner.end('SIGTERM');
    await bed.untilMembers(1);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await bed.owner()).node).toBeNull();
    owner.start();
    await bed.untilOwner(owner.name);
  });
});
