import { expect, test } from 'vitest';
import { ConfigurationWatch } from '../../src/cluster/configuration-watch.ts';
import type { ClusterLook, ClusterMember } from '../../src/ports/cluster.ts';
import { minuteMs } from '../support/account-facts.ts';

const cluster = {
  configurations: async (hashes: readonly string[]) =>
    new Map(hashes.map((hash) => [hash, `{"accounts":{"account-of-${hash}":"1"}}`])),
};

function member(node: string, configHash: string): ClusterMember {
  const unsaid = { advertise: null, status: null, expiresAt: 0 };
  return { ...unsaid, incarnation: `i-${node}`, node, configHash, program: 'lowwater 0.4.0' };
}

const [north, south, east] = [member('north', 'a'), member('south', 'b'), member('east', 'a')];

function look(owner: ClusterMember | null, members = [north, south, east]): ClusterLook {
  const rest = { databaseNow: 0, lapsedOwner: null, epoch: 1, batch: 1, origin: null };
  return { ...rest, members, owner: owner?.incarnation ?? null };
}

test('a difference of ten minutes is the same one after the accounts went to who differs, and over when it is mended', () => {
  const watch = new ConfigurationWatch(cluster);
  watch.observe(look(north), 0);
  watch.observe(look(north), 9 * minuteMs);
  expect([watch.differing, watch.isOne]).toEqual([[], false]);
  watch.observe(look(north), 10 * minuteMs);
  expect(watch.differing).toEqual(['south']);
  watch.observe(look(null), 10 * minuteMs + 1000);
  expect(watch.differing).toEqual(['south']);
  watch.observe(look(south), 10 * minuteMs + 2000);
  expect(watch.differing).toEqual(['north', 'east']);
  watch.observe(look(south, [north, { ...south, incarnation: 'i-again' }, east]), 11 * minuteMs);
  watch.observe(look(north), 11 * minuteMs + 1000);
  expect(watch.differing).toEqual(['south']);
  watch.observe(look(north, [north, { ...south, configHash: 'a' }, east]), 12 * minuteMs);
  expect([watch.differing, watch.isOne]).toEqual([[], true]);
});

test('two fleets on one database are that while nobody owns the accounts, and after others took them', async () => {
  const watch = new ConfigurationWatch(cluster);
  watch.observe(look(north), 0);
  await Promise.resolve();
  watch.observe(look(north), 1000);
  expect(watch.strangers).toEqual(['south']);
  watch.observe(look(null), 2000);
  expect(watch.strangers).toEqual(['south']);
  watch.observe(look(south), 3000);
  expect(watch.strangers).toEqual(['north', 'east']);
});
