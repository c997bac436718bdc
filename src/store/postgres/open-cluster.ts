import type { Secret } from '../../domain/secret.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Log } from '../../ports/log.ts';
import { type Migration, postgresMigrations, readMigrations } from '../migrations.ts';
import { createDamagedRuns } from '../runs/stored-run.ts';
import { databaseIdNote, unstoredNote } from '../tables.ts';
import { writeUnstored } from '../unstored.ts';
import { onlySlot } from './commit.ts';
import { type Database, openDatabase } from './connection.ts';
import { createFencedStore } from './fenced-store.ts';
import { openLease } from './lease.ts';
import { migrate } from './migrate.ts';
import { findConfigurations, findDatabaseId, insertOrder, loadOwned, readFrom } from './reader.ts';
import { RecentBatches } from './recent-batches.ts';
import { setAside } from './removal.ts';

/** A configuration that nobody has used for this long is deleted. */
const keptDays = 30;

/**
 * The database that several daemons share. `open` makes or updates its tables. It is called, until it succeeds, before anything else.
 *
 * - `now` is the wall clock in milliseconds; `program` is the name and version that others see, `lowwater 1.2.0`.
 * - `leaseMs`: how long a member that is silent keeps what it owns, by the clock of the database.
 */
export function openCluster(options: {
  readonly url: Secret;
  readonly leaseMs: number;
  readonly log: Log;
  readonly now: () => number;
  readonly program: string;
  readonly migrations?: readonly Migration[];
}): Cluster & Pick<Database, 'signIn'> & { readonly databaseId: () => string | null } {
  const { url, leaseMs, log, now, program, migrations = readMigrations(postgresMigrations) } = options;
  const database = openDatabase({ url, log });
  const damaged = createDamagedRuns(now);
  const found = readFrom(database, now, damaged.note);
  const reader = { ...found, close: async () => undefined };
  const recent = new RecentBatches(now);
  const lease = openLease(database, leaseMs, program);
  let id: string | null = null;
  return {
    databaseId: () => id,
    signIn: database.signIn,
    async open() {
      const applied = await migrate({ database, program, now: now(), migrations });
      for (const { name } of applied) log.info({ migration: name }, 'database migrated');
      // Any daemon may give the database its id: the first one wins.
      id = await findDatabaseId(database);
      if (id === null) {
        await database.change(
          `INSERT INTO note (name, slot, value) VALUES ($1, $2, replace(gen_random_uuid()::text, '-', ''))
           ON CONFLICT DO NOTHING`,
          [databaseIdNote, onlySlot],
        );
        id = await findDatabaseId(database);
      }
      log.info({}, 'PostgreSQL database open');
    },
    ...lease,
    async join(card, gone = []) {
      await lease.join(card, gone);
      recent.left(gone);
    },
    async leave(incarnation) {
      await lease.leave(incarnation);
      recent.left([incarnation]);
    },
    load(options) {
      // A daemon that takes the accounts continues from what the database has.
      recent.clear();
      return loadOwned(database.ask, now(), options);
    },
    async takeLost() {
      const known = await database.change<{ incarnation: string; batch: number }>(
        'SELECT incarnation, batch FROM member WHERE incarnation = ANY($1::text[])',
        [recent.incarnations],
      );
      return recent.takeLost(new Map(known.map(({ incarnation, batch }) => [incarnation, batch])));
    },
    setAside: (owner, unreadable) => setAside(database, owner, unreadable),
    store: (fence, alreadyStored = 0) =>
      createFencedStore({ database, fence, recent, alreadyStored, damaged, log }),
    reader,
    async publishConfiguration(hash, parts) {
      await database.change(
        `WITH swept AS (
           DELETE FROM configuration WHERE hash <> $1 AND seen_at < clock_timestamp() - ${keptDays} * interval '1 day'
         ) INSERT INTO configuration (hash, parts, seen_at) VALUES ($1, $2, clock_timestamp())
         ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at`,
        [hash, parts],
      );
    },
    configurations: (hashes) => findConfigurations(database, hashes),
    leaveOrder: (order) => insertOrder(database, order),
    async leaveUnstored(id, unstored) {
      await database.change(
        'INSERT INTO note (name, slot, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [unstoredNote + id, onlySlot, writeUnstored(unstored)],
      );
    },
    close: () => database.close(),
  };
}
