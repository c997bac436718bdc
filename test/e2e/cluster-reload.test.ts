import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterBed, type ClusterNode, makeClusterBed } from '../support/cluster/cluster-bed.ts';
import { eventually } from '../support/eventually.ts';
import { noPostgres } from '../support/postgres.ts';

async function problemsOf({ origin }: ClusterNode): Promise<string> {
  const response = await fetch(`${origin}/readyz`);
  return ((await response.json()) as { readonly problems: readonly string[] }).problems.join();
}

describe.skipIf(noPostgres !== null)('two daemons with one configuration', () => {
  let bed: ClusterBed;
  beforeAll(async () => {
    bed = await makeClusterBed();
  });
  afterAll(() => bed.close());

  it('tell nobody that one which was made invalid is valid again when the accounts go from one to the other', async () => {
    const [north, south] = bed.nodes;
    if (north === undefined || south === undefined) throw new Error('two nodes were asked for');
    const told = (headline: string): boolean => bed.sink.posts.some(({ body }) => body.includes(headline));
    const valid = readFileSync(bed.configFile, 'utf8');
    writeFileSync(bed.configFile, valid.replace('"stale"', '"stael"'));
    await eventually('people hear of it', () => told('the changed configuration is invalid'));
    for (const node of [north, south])
      await eventually('it is known', async () => (await problemsOf(node)).includes('config-invalid'));
    await north.end('SIGTERM');
    await bed.untilOwner('south');
    const polls = bed.provider.said.length;
    await eventually('it polls', () => bed.provider.said.length > polls + 6);
    await pause(1000);
    expect(told('the configuration is valid again')).toBe(false);
    expect(await problemsOf(south)).toContain('config-invalid');
    writeFileSync(bed.configFile, valid);
    await eventually('people hear of the end', () => told('the configuration is valid again'));
    expect(await problemsOf(south)).not.toContain('config-invalid');
  });

  // The last one: the bed itself knows the old password only.
  it('go on with another password of the database as soon as it says so, and agree about that', async () => {
    const valid = readFileSync(bed.configFile, 'utf8');
    // Each has a way of its own to the database, and the way of one is the other's too from here on.
    const [north, south] = bed.nodes;
    if (north === undefined || south === undefined) throw new Error('two nodes were asked for');
    const address = new URL(bed.url.reveal());
    const write = (password: string): void => {
      Object.assign(address, { port: String(north.proxy.port), password });
      writeFileSync(bed.configFile, valid.replace(`\${env:NODE_DATABASE}`, address.href));
    };
    for (const { end } of bed.nodes) await end('SIGTERM');
    write(bed.server.password);
    for (const { start } of bed.nodes) start();
    await bed.untilMembers(2);
    const role = decodeURIComponent(address.username);
    await bed.server.sql(bed.url, `ALTER ROLE ${role} PASSWORD 'another-4711'`);
    write('another-4711');
    await pause(2000);
    north.proxy.breakAll();
    const polls = bed.provider.said.length;
    await eventually('it polls', () => bed.provider.said.length > polls + 6);
    for (const node of bed.nodes)
      await eventually('nothing is wrong', async () => (await problemsOf(node)) === '');
  });
});
