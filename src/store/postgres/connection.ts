import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/log.ts';
import type { Value } from '../asking.ts';
import { chooseHost, clientConfig } from './choose-host.ts';
import { asStorageError, type Progress } from './failure.ts';
import { giveUp } from './give-up.ts';
import { onlyOneServer } from './only-one-server.ts';

export type Ask = <Row>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>;

/**
 * The connections of this process. Statements are sent without a name and leave nothing behind in a session, so that PgBouncer may
 * assign a connection per transaction. A failure rejects with `StorageError`, within seconds.
 */
export interface Database {
  readonly ask: Ask;
  /** A statement that writes, a transaction by itself. */
  readonly change: Ask;
  /** Runs statements that see the database at one moment. */
  snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Runs statements of which either all are done or none, however long they take. */
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Changes the password of connections that are made from now on. They lead to the same database. */
  signIn(url: Secret): void;
  close(): Promise<void>;
}

/** The server ends what a stopped writer began after this time, so that its locks do not block anyone for longer. */
const writingLimitMs = 2000;
/** The limit of a statement that reads: nobody waits for a reader's locks, and the server may be busy. */
const readingLimitMs = 10_000;
/** The limit for a lock that a reader waits for: it reports soon that somebody has locked a table. */
const readingLockMs = 1000;
/** This side waits longer than the server by this time, so that the server's own error arrives. */
const answerMs = 1000;

/** Connections for what writes and for what reads: seven in all. */
const maxConnections = { writing: 3, reading: 4 } as const;
type Purpose = keyof typeof maxConnections;
/** The longest life of a connection: after this time it is noticed that an address leads to another server. */
const lifetimeSeconds = 600;

/**
 * Connects when it is first used, and again after a failure. It uses the pools of one server. If the URL names several hosts, it chooses
 * again when the server in use fails or stops taking writes.
 */
export function openDatabase({ url: named, log }: { readonly url: Secret; readonly log?: Log }): Database {
  const budgets = {
    writing: createConnectionBudget(maxConnections.writing),
    reading: createConnectionBudget(maxConnections.reading),
  };
  let url = named;
  let opened: Promise<Server> | null = null;
  let current: Server | null = null;
  let isClosed = false;

  /** A connection whose work failed is not used again. If the server still works for it, it counts until the server has ended that. */
  async function use<T>(purpose: Purpose, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const budget = budgets[purpose];
    await budget.take();
    let server: Server | null = null;
    let client: PoolClient | null = null;
    try {
      server = await open();
      client = await server.pools[purpose].connect().catch((error: unknown) => {
        throw asStorageError(error, 'unsent', url.reveal());
      });
      const result = await work(client);
      client.release();
      budget.give();
      return result;
    } catch (error) {
      const failed = client;
      if (failed === null) budget.give();
      else if (isGivenUp(error)) budget.giveAfter(giveUp(failed).finally(() => failed.release(true)));
      else {
        failed.release(true);
        budget.give();
      }
      // A new password may be written before or after it is valid at the server: pools with the old one are given up only when they fail.
      if (isAnotherHostBetter(error) || server?.url !== url) retire(server);
      throw error;
    }
  }

  function open(): Promise<Server> {
    if (isClosed) throw new StorageError('other', 'the PostgreSQL database was closed');
    opened ??= openServer(url, log).then(
      (server) => {
        current = server;
        return server;
      },
      (error: unknown) => {
        opened = null;
        throw error;
      },
    );
    return opened;
  }

  function retire(failed: Server | null): void {
    if (failed === null || failed !== current || isClosed) return;
    opened = null;
    current = null;
    for (const pool of Object.values(failed.pools)) void pool.end();
  }

  function run(client: PoolClient, progress: Progress, limitMs: number | null): Ask {
    return async <Row>(text: string, values?: readonly Value[]) => {
      const query = {
        text,
        ...(values === undefined ? {} : { values: [...values] }),
        ...(limitMs === null ? {} : { query_timeout: limitMs + answerMs }),
      };
      try {
        const { rows } = await client.query(query);
        // Each call's statement says what its rows are. Numbers and bytes come as `chooseParser` makes them.
        return rows as readonly Row[];
      } catch (error) {
        throw asStorageError(error, progress, url.reveal());
      }
    };
  }

  return {
    ask: (text, values) => use('reading', (client) => run(client, 'read', readingLimitMs)(text, values)),
    change: (text, values) =>
      use('writing', (client) => run(client, 'written', writingLimitMs)(text, values)),
    snapshot: (work) =>
      use('reading', async (client) => {
        const ask = run(client, 'read', readingLimitMs);
        await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      }),
    transaction: (work) =>
      use('writing', async (client) => {
        const ask = run(client, 'written', null);
        await ask('BEGIN');
        // The other name keeps this transaction from being taken for that of a dead daemon, and being ended (`endStuck`).
        await ask("SET LOCAL application_name = 'lowwater (long)'");
        await ask('SET LOCAL statement_timeout = 0');
        await ask('SET LOCAL idle_in_transaction_session_timeout = 0');
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      }),
    signIn(next) {
      if (next.reveal() !== url.reveal()) url = next;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      // A database that cannot be reached has nothing to close.
      const server = await opened?.catch(() => null);
      await Promise.all(Object.values(server?.pools ?? {}).map((pool) => pool.end()));
    },
  };
}

/** Whether no answer came in time: the server may still be working. */
function isGivenUp(error: unknown): boolean {
  return (
    error instanceof StorageError && error.cause instanceof Error && /read timeout/.test(error.cause.message)
  );
}

/** Whether to choose a host again: a server that is starting or recovering may take long, while another one is the primary by now. */
function isAnotherHostBetter(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  const { kind, cause } = error;
  return (
    kind === 'read-only' || (cause instanceof DatabaseError ? cause.code === '57P03' : cause !== undefined)
  );
}

/** The pools of one server, and the URL by which they signed in. */
interface Server {
  readonly url: Secret;
  readonly pools: Readonly<Record<Purpose, Pool>>;
}

async function openServer(url: Secret, log: Log | undefined): Promise<Server> {
  const { address, limited } = await chooseHost(url, writingLimitMs, log);
  const verify = onlyOneServer(writingLimitMs);
  const open = (limitMs: number, max: number, lockLimitMs = 0): Pool => {
    const pool = new Pool({
      ...clientConfig(address, limited ? limitMs : null, lockLimitMs),
      max,
      Client: PooledClient,
      verify,
      idleTimeoutMillis: 60_000,
      maxLifetimeSeconds: lifetimeSeconds,
    });
    // A connection that breaks while it is idle: the pool makes another one.
    pool.on('error', () => undefined);
    // Listens from the first byte on: the server may end the connection together with the sign-in, before anybody has it.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };
  const writing = open(writingLimitMs, maxConnections.writing);
  const reading = open(readingLimitMs, maxConnections.reading, readingLockMs);
  return { url, pools: { writing, reading } };
}

/** `pg` reads certificate files when it makes a client, which a pool may do when no caller could catch an error: the error comes with `connect`. */
const PooledClient = new Proxy(Client, {
  construct(_, [options]: readonly ClientConfig[]) {
    try {
      return new Client(options);
    } catch (error) {
      return Object.assign(new Client({}), { connect: (done: (error: unknown) => void) => done(error) });
    }
  },
});

/** Counts connections over all pools that come and go. A statement that was given up counts until the server has ended it. */
function createConnectionBudget(max: number) {
  let used = 0;
  let stuck = 0;
  const waiting: PromiseWithResolvers<void>[] = [];

  function give(): void {
    const next = waiting.shift();
    if (next === undefined) used -= 1;
    else next.resolve();
  }

  return {
    /** Waits until a connection is free. Rejects with `StorageError` if all are stuck. */
    async take(): Promise<void> {
      if (stuck === max) throw allStuck();
      if (used < max) used += 1;
      else {
        const turn = Promise.withResolvers<void>();
        waiting.push(turn);
        await turn.promise;
      }
    },
    give,
    giveAfter(ended: Promise<void>): void {
      stuck += 1;
      if (stuck === max) for (const { reject } of waiting.splice(0)) reject(allStuck());
      void ended.finally(() => {
        stuck -= 1;
        give();
      });
    },
  };
}

function allStuck(): StorageError {
  return new StorageError(
    'busy',
    'the PostgreSQL database: the server has not ended what was asked before on any connection',
  );
}
