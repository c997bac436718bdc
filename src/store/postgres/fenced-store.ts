import { StorageError } from '../../domain/operator-error.ts';
import type { Batch, FencedStore, StoreFile } from '../../ports/store.ts';
import type { Value } from '../asking.ts';
import { AccountTails, type TailRow } from '../runs/account-tails.ts';
import type { DamagedRuns, FoundRun } from '../runs/damaged-runs.ts';
import { openAccountRows } from './account-rows.ts';
import { textArray } from './binary-array.ts';
import { commitStatement, commitValues, type Fence, fenceValues, whileHeld } from './commit.ts';
import type { Database } from './connection.ts';
import { fencedError, stillUnknown } from './failure.ts';
import { parseOrder } from './reader.ts';
import type { RecentBatches } from './recent-batches.ts';
import { openRetention } from './retention.ts';

/** A batch on its way: what is sent again as it is when nobody says whether it was stored. */
interface Sending {
  readonly batch: Batch;
  readonly values: readonly Value[];
  readonly orders: readonly number[];
  readonly damaged: readonly FoundRun[];
}

const createAccounts = `${whileHeld}
  INSERT INTO account (slot, id) SELECT held.no, its.id FROM held, unnest($4::text[]) AS its(id)
  ON CONFLICT (id) DO UPDATE SET slot = excluded.slot RETURNING no, id, tail, tail_polls AS polls, tail_latest_at AS "latestAt"`;

/**
 * The store of one owner: what it writes is refused, by a `StorageError` of kind `fenced`, once another owns the slot. Batches are
 * numbered by the row of the owner's incarnation, from 1: a batch that is sent again is stored once. `settled` holds what this process
 * has stored, under whichever incarnation.
 */
export function createFencedStore(options: {
  readonly database: Database;
  readonly reader: StoreFile;
  readonly fence: Fence;
  readonly settled: WeakSet<Batch>;
  readonly recent: RecentBatches;
  /** How many batches the database has of this incarnation already. */
  readonly alreadyStored: number;
  readonly damaged: DamagedRuns;
  readonly now: () => number;
}): FencedStore {
  const { database, reader, fence, settled, recent, damaged, now } = options;
  const { change } = database;
  const create = async (ids: readonly string[]) => {
    const created = await change<TailRow>(createAccounts, [...fenceValues(fence), textArray(ids)]);
    if (created.length < ids.length) throw fencedError();
    return created;
  };
  const tails = new AccountTails(damaged, now);
  const rowsOf = openAccountRows(database.ask, tails, create);
  const deleteOld = openRetention(database, fence);
  let stored = options.alreadyStored;
  let unsure: Sending | null = null;
  /** Orders that were given and are not forgotten yet. */
  const taken = new Set<number>();

  async function prepare(batch: Batch): Promise<Sending> {
    const rows = await rowsOf(batch);
    const orders = [...taken];
    const values = commitValues({ fence, number: stored + 1, batch, rows, orders });
    return { batch, orders, values, damaged: rows.damaged };
  }

  async function send({ values }: Sending): Promise<void> {
    const [answer] = await change<{ held: number; turned: number }>(commitStatement, values);
    if (answer?.turned === 1) return;
    if (answer?.held !== 1) throw fencedError();
    const [row] = await change<{ batch: number }>('SELECT batch FROM member WHERE incarnation = $1', [
      fence.incarnation,
    ]);
    // A first sending whose end nobody told had been stored.
    if (row?.batch === stored + 1) return;
    throw fencedError();
  }

  async function store(sending: Sending): Promise<void> {
    await send(sending).catch((error: unknown) => {
      // Only a sending that ends well, or another owner, says how an earlier one ended.
      if (unsure !== null) throw stillUnknown(error);
      if (error instanceof StorageError && error.kind === 'unknown') {
        unsure = sending;
        recent.doubt({ incarnation: fence.incarnation, number: stored + 1, batch: sending.batch });
      } else tails.forget();
      throw error;
    });
    unsure = null;
    stored += 1;
    settled.add(sending.batch);
    recent.keep({ incarnation: fence.incarnation, number: stored, batch: sending.batch });
    damaged.stored(sending.damaged);
    for (const no of sending.orders) taken.delete(no);
  }

  return {
    ...reader,
    takeDamaged: () => damaged.take(),
    async commit(batch) {
      if (settled.has(batch)) return;
      if (unsure !== null && unsure.batch !== batch)
        throw new Error('another batch while the end of one is unknown');
      await store(unsure ?? (await prepare(batch).catch(forgetAndThrow)));
    },
    get stored() {
      return stored;
    },
    async settle() {
      if (unsure !== null) await store(unsure);
    },
    async takeOrders() {
      const rows = await database.ask<{ no: number; body: string }>(
        'SELECT no, body FROM operator_order WHERE slot = $1 ORDER BY no',
        [fence.slot],
      );
      const fresh = rows.filter(({ no }) => !taken.has(no));
      for (const { no } of fresh) taken.add(no);
      return fresh.flatMap(parseOrder);
    },
    async prune(olderThan) {
      const { more, touched } = await deleteOld(olderThan);
      if (touched) tails.forget();
      return more;
    },
    // The connections belong to the cluster, which outlives this owner.
    close: async () => undefined,
  };

  function forgetAndThrow(error: unknown): never {
    tails.forget();
    throw error;
  }
}
