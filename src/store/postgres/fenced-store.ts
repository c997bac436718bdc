import { onStorageError, StorageError } from '../../domain/operator-error.ts';
import { inParts } from '../../domain/parts.ts';
import type { Owner } from '../../ports/cluster.ts';
import type { Log } from '../../ports/log.ts';
import type { Batch, FencedStore } from '../../ports/store.ts';
import { askInTurn, type Value } from '../asking.ts';
import { type OrderRow, takeFresh } from '../records.ts';
import { type AccountRows, AccountTails, type TailRow } from '../runs/account-tails.ts';
import { type DamagedRuns, type FoundRun, resumeRun, unlessDamaged } from '../runs/stored-run.ts';
import { findUnstored } from '../unstored.ts';
import { commitStatement, commitValues, fenceValues, onlySlot, whileOwned } from './commit.ts';
import type { Ask, Database } from './connection.ts';
import { fencedError, noneReadable, stillUnknown } from './failure.ts';
import { createPartedBatch, type PartedBatch } from './parted-batch.ts';
import type { RecentBatches } from './recent-batches.ts';
import { openRetention } from './removal.ts';

/** A batch on its way. It is sent again unchanged if it is unknown whether it was stored. */
interface Sending {
  readonly batch: Batch;
  readonly values: readonly Value[];
  readonly orders: readonly number[];
  readonly damaged: readonly FoundRun[];
}

const createAccounts = `${whileOwned}
  INSERT INTO account (slot, id) SELECT held.no, its.id FROM held, unnest($4::text[]) AS its(id)
  ON CONFLICT (id) DO UPDATE SET slot = excluded.slot RETURNING no, id, tail, tail_polls AS polls, tail_latest_at AS "latestAt"`;

/**
 * The store of one owner. Once another owner has the slot, writes are refused with a `StorageError` of kind `fenced`. Batches are
 * numbered from 1 in the row of the owner's incarnation, so that a batch that is sent again is stored once.
 */
export function createFencedStore(options: {
  readonly database: Database;
  readonly fence: Owner;
  readonly recent: RecentBatches;
  readonly alreadyStored: number;
  readonly damaged: DamagedRuns;
  readonly log: Log;
}): FencedStore {
  const { database, fence, recent, damaged, log } = options;
  const { incarnation } = fence;
  const { change } = database;
  const create = async (ids: readonly string[]) => {
    const created = await change<TailRow>(createAccounts, [...fenceValues(fence), ids]);
    if (created.length < ids.length) throw fencedError();
    return created;
  };
  const tails = new AccountTails(damaged);
  const rowsOf = openAccountRows(database.ask, tails, create);
  const deleteOld = openRetention(database, fence);
  let stored = options.alreadyStored;
  let unsure: Sending | null = null;
  let parted: PartedBatch | null = null;
  /** The numbers of orders that were given and are not deleted yet. */
  let unsettled: readonly number[] = [];

  async function prepare(batch: Batch): Promise<Sending> {
    const rows = await rowsOf(batch);
    const orders = unsettled;
    const values = commitValues(fence, stored + 1, batch, rows, orders);
    return { batch, orders, values, damaged: rows.damaged };
  }

  async function send({ values }: Pick<Sending, 'values'>): Promise<void> {
    const [answer] = await change<{ held: number; turned: number }>(commitStatement, values);
    if (answer?.turned === 1) return;
    if (answer?.held !== 1) throw fencedError();
    const findBatch = 'SELECT batch FROM member WHERE incarnation = $1';
    const [row] = await change<{ batch: number }>(findBatch, [incarnation]);
    // The batch was stored by an earlier sending with an unknown end.
    if (row?.batch === stored + 1) return;
    if (row === undefined || row.batch <= stored) throw fencedError();
    // Somebody has changed the number by hand. Batches hold whole rows: it does no harm to write them twice.
    stored = row.batch;
    await send({ values: values.with(fenceValues(fence).length, stored + 1) });
  }

  async function store(sending: Sending): Promise<void> {
    await send(sending).catch((error: unknown) => {
      // The end of an earlier sending is known only once a sending succeeds, or another owner has the slot.
      if (unsure !== null) throw stillUnknown(error);
      if (error instanceof StorageError && error.kind === 'unknown') {
        unsure = sending;
        recent.doubt({ incarnation, number: stored + 1, batch: sending.batch });
      } else tails.forget();
      throw error;
    });
    unsure = null;
    stored += 1;
    recent.keep({ incarnation, number: stored, batch: sending.batch });
    damaged.stored(sending.damaged);
    unsettled = unsettled.filter((no) => !sending.orders.includes(no));
  }

  return {
    takeDamaged: damaged.take,
    async commit(batch) {
      if (recent.isStored(batch)) return;
      if (parted?.of === batch) return storeParts(parted);
      if (unsure !== null && unsure.batch !== batch)
        throw new Error('another batch while the end of one is unknown');
      try {
        await store(unsure ?? (await prepare(batch).catch(forgetAndThrow)));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        parted = createPartedBatch(batch);
        await storeParts(parted);
      }
    },
    get stored() {
      return stored;
    },
    async settle() {
      if (unsure !== null) await store(unsure);
    },
    async takeOrders() {
      const rows = await database.ask<OrderRow>(
        'SELECT no, body FROM operator_order WHERE slot = $1 ORDER BY no',
        [onlySlot],
      );
      const { orders, taken } = takeFresh(rows, recent.givenOrders);
      unsettled = taken.map(({ no }) => no);
      return orders;
    },
    takeUnstored: () => askInTurn(findUnstored(), ({ text, values }) => database.ask(text, values)),
    async prune(olderThan) {
      const { more, touched } = await deleteOld(olderThan);
      if (touched) tails.forget();
      return more;
    },
  };

  /** Stores a batch in parts. After a failure, the next commit of the same batch stores the rest. */
  async function storeParts(parts: PartedBatch): Promise<void> {
    for (let part = parts.next(); part !== null; part = parts.next()) {
      try {
        await store(unsure ?? (await prepare(part).catch(forgetAndThrow)));
        parts.stored();
      } catch (error) {
        if (!isRefusal(error)) throw stillUnknown(error);
        const found = parts.refused(error);
        if (found !== null) await giveUp(found.source, found.record, error.message);
      }
    }
    parted = null;
  }

  async function giveUp(source: string, record: unknown, reason: string): Promise<void> {
    const body = JSON.stringify(record);
    log.error(
      { source, body, reason },
      'the database refuses a record: it is set aside, and the others are stored',
    );
    const keep = `${whileOwned} INSERT INTO damaged_record (source, key, body, reason) SELECT $4, '', $5, $6 FROM held`;
    await change(keep, [...fenceValues(fence), source, body, reason]).catch(onStorageError([]));
  }

  function forgetAndThrow(error: unknown): never {
    tails.forget();
    throw error;
  }
}

function isRefusal(error: unknown): error is StorageError {
  return error instanceof StorageError && error.kind === 'refused';
}

/** Tails read at once: a few megabytes. */
const tailsAtOnce = 2000;

/**
 * Returns a function that makes the account rows of a batch, and reads the tails that it needs. `create` makes rows for new accounts.
 * Those are empty, and no reader finds them before the batch that fills them.
 */
function openAccountRows(
  ask: Ask,
  tails: AccountTails,
  create: (ids: readonly string[]) => Promise<readonly TailRow[]>,
): (batch: Batch) => Promise<AccountRows> {
  let writes: 1 | 2 | null = null;
  return async (batch) => {
    const unknown = tails.unknownOf(batch);
    if (unknown.length > 0) writes ??= await versionToWrite(ask);
    for (const ids of inParts(unknown, tailsAtOnce)) {
      const found = await ask<TailRow>(
        `SELECT no, id, tail, tail_polls AS polls, tail_latest_at AS "latestAt" FROM account WHERE id = ANY($1::text[])`,
        [ids],
      );
      const known = new Set(found.map(({ id }) => id));
      const missing = ids.filter((id) => !known.has(id));
      tails.add([...found, ...(missing.length === 0 ? [] : await create(missing))], writes ?? 1);
    }
    if (tails.hasReadNone) await refuseFaultOfReading(ask);
    return tails.rowsOf(batch);
  };
}

const someTails = 'SELECT tail, tail_polls AS polls FROM account WHERE tail IS NOT NULL ORDER BY no LIMIT 20';

/** Records that cannot be read are replaced, unless no record at all can be read: then rejects with `StorageError`. */
async function refuseFaultOfReading(ask: Ask): Promise<void> {
  const found = await ask<Pick<TailRow, 'tail' | 'polls'>>(someTails);
  const isReadable = ({ tail, polls }: Pick<TailRow, 'tail' | 'polls'>): boolean =>
    unlessDamaged(
      () => resumeRun(tail, polls).polls === polls,
      () => false,
    );
  if (found.length > 1 && !found.some(isReadable)) throw noneReadable('polls');
}

/** The version of runs to write: a database that 0.2 made may go back to a daemon of 0.2, which knows only version 1. */
async function versionToWrite(ask: Ask): Promise<1 | 2> {
  const [first] = await ask<{ program: string }>('SELECT program FROM migration WHERE number = 1', []);
  return first?.program.startsWith('lowwater 0.2.') === true ? 1 : 2;
}
