import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterBed, makeClusterBed } from '../support/cluster/cluster-bed.ts';
import { faults, judgeCluster, playFault } from '../support/cluster/cluster-run.ts';
import { noPostgres } from '../support/postgres.ts';

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

  it('keep what is another clock from owning', async () => {
    const { node } = await bed.owner();
    const [owner, other] = [
      bed.nodes.find(({ name }) => name === node),
      bed.nodes.find(({ name }) => name !== node),
    ];
    if (owner === undefined || other === undefined) throw new Error('nobody owns the accounts');
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
