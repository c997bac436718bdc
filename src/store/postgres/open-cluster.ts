import type { Cluster } from '../../daemon/ports.ts';
import type { Log } from '../../domain/ports.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Migration } from '../migrations.ts';
import { connect } from './connection.ts';
import { onlySlot, openLease } from './lease.ts';
import { migrate } from './migrate.ts';
import { insertOrder, readFrom } from './reader.ts';
import { createTenureStore } from './tenure-store.ts';

/**
 * Opens the database that several daemons share, and makes or updates its tables.
 *
 * - `now` is the wall clock in milliseconds; `program` is the name and version that others are told, `lowwater 1.2.0`.
 * - `leaseMs`: how long a member that says nothing keeps what it owns, by the clock of the database.
 * - Rejects with `StorageError`, whose message says what to do, when it cannot be reached, is of another program or of a newer lowwater.
 */
export async function openCluster(options: {
  readonly url: Secret;
  readonly leaseMs: number;
  readonly log: Log;
  readonly now: () => number;
  readonly program: string;
  readonly migrations?: readonly Migration[];
}): Promise<Cluster> {
  const { url, leaseMs, log, now, program, migrations } = options;
  const database = await connect({ url, log });
  try {
    const applied = await migrate({
      database,
      program,
      now: now(),
      ...(migrations === undefined ? {} : { migrations }),
    });
    for (const { name } of applied) log.info({ migration: name }, 'database migrated');
  } catch (error) {
    await database.close();
    throw error;
  }
  log.info({}, 'PostgreSQL database open');
  const reader = { ...readFrom(database, now), close: async () => undefined };
  return {
    ...openLease(database, { leaseMs, program }),
    store: ({ incarnation, epoch }) =>
      createTenureStore({ database, reader, tenure: { slot: onlySlot, incarnation, epoch } }),
    reader,
    leaveOrder: (order) => insertOrder(database, order),
    close: () => database.close(),
  };
}
