import { expect, test } from 'vitest';
import { LeaderStore } from '../../src/cluster/leader-store.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import type { FencedStore } from '../../src/ports/store.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { batch } from '../store/sqlite/batches.ts';

const broken = new StorageError('unknown', 'the connection broke');

/** A store of one incarnation that notes what is done with it. */
function noting(done: string[], name: string, commit: () => Promise<void>): FencedStore {
  return {
    stored: 0,
    commit,
    settle: async () => void done.push(`${name} settles`),
    takeOrders: async () => [],
    takeUnstored: async () => new Map(),
    takeDamaged: () => [],
    prune: async () => false,
  };
}

test('a batch of unknown end is settled before its owner goes on as another incarnation, also where it acted in doubt meanwhile', async () => {
  const done: string[] = [];
  const leader = new LeaderStore({
    store: noting(done, 'the first', async () => {
      throw broken;
    }),
    reader: { ...emptyReader, leftOrders: async () => [], backup: async () => undefined },
    refused: async () => undefined,
    monotonic: () => 0,
  });
  await expect(leader.port.commit(batch({}))).rejects.toBe(broken);
  leader.waitForAccounts();
  await leader.continueWith(true, async () => {
    done.push('claims');
    return { store: noting(done, 'the second', async () => void done.push('stores')), lost: [] };
  });
  await leader.port.commit(batch({}));
  expect(done).toEqual(['the first settles', 'claims', 'stores']);
});
