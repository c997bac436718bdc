import { randomUUID } from 'node:crypto';
import { describe, onTestFinished } from 'vitest';
import type { LeftOrder, Store, StoreFile } from '../../src/ports/store.ts';
import { openCluster } from '../../src/store/postgres/open-cluster.ts';
import { openPostgresReader } from '../../src/store/postgres/reader.ts';
import { leaveOrder, openReader, openStore } from '../../src/store/store.ts';
import { noPostgres } from '../support/postgres.ts';
import { makeTables } from './postgres/fixtures.ts';
import { noon, silent } from './sqlite/batches.ts';
import { makePath } from './sqlite/fixtures.ts';

/** A database of the running test, new and without a record. What is open is closed after the test. */
export interface StoreBed {
  /** What a daemon opens; the one before it was closed. */
  open(): Promise<Store>;
  reader(): Promise<StoreFile>;
  leaveOrder(order: LeftOrder): Promise<void>;
}

const program = 'lowwater 1.0.0';
const now = (): number => noon;

/** Tests that hold for either store. Where PostgreSQL is missing its half is left out, and says so. */
export function describeStores(title: string, tests: (makeBed: () => Promise<StoreBed>) => void): void {
  describe(`${title}, in SQLite`, () => tests(async () => makeSqliteBed()));
  const why = noPostgres === null ? '' : ` (${noPostgres})`;
  describe.skipIf(noPostgres !== null)(`${title}, in PostgreSQL${why}`, () => tests(makePostgresBed));
}

function makeSqliteBed(): StoreBed {
  const path = makePath();
  return {
    async open() {
      const store = openStore({ path, log: silent, now, program });
      onTestFinished(() => store.close());
      return store;
    },
    async reader() {
      const reader = openReader({ path, now });
      onTestFinished(() => reader.close());
      return reader;
    },
    leaveOrder: async (order) => leaveOrder(path, order),
  };
}

async function makePostgresBed(): Promise<StoreBed> {
  const url = await makeTables();
  const cluster = openCluster({ url, leaseMs: 60_000, log: silent, now, program });
  onTestFinished(() => cluster.close());
  await cluster.open();
  return {
    async open() {
      const incarnation = randomUUID();
      await cluster.join({ incarnation, node: 'a', advertise: null, status: null, configHash: '' });
      const epoch = await cluster.claim(incarnation);
      if (epoch === null) throw new Error('the store before it was not closed');
      // Who takes the accounts forgets what it knew of them.
      await cluster.load({ goOn: async () => false, isLenient: false });
      return {
        ...cluster.reader,
        ...cluster.store({ incarnation, epoch }),
        close: () => cluster.leave(incarnation),
      };
    },
    async reader() {
      const reader = await openPostgresReader({ url, program, now });
      onTestFinished(() => reader.close());
      return reader;
    },
    leaveOrder: cluster.leaveOrder,
  };
}

/** All items of what comes in chunks. */
export async function flat<T>(chunks: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const chunk of chunks) items.push(...chunk);
  return items;
}
