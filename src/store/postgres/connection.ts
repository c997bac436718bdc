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
 * The connections of this process. Statements are sent without a name and leave nothing in a session, so that PgBouncer may
 * lend a connection for each transaction. What fails rejects with `StorageError`, within seconds.
 */
export interface Database {
  readonly ask: Ask;
  /** A statement that writes, a transaction by itself. */
  readonly change: Ask;
  /** Statements that see one moment of the database. */
  snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Statements that are done all or not at all, however long they take. */
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Connections that are made from now on sign in so: to the same database, with another password. */
  signIn(url: Secret): void;
  close(): Promise<void>;
}

/** The rest of a stopped writer is gone after this, so that nobody waits for its locks. */
const writingLimitMs = 2000;
/** Nobody waits for who reads. Statements are small, but the server may be busy. */
const readingLimitMs = 10_000;
/** A table that somebody has locked is said soon. */
const readingLockMs = 1000;
/** The time by which this side waits longer than the server for what the server says of it. */
const answerMs = 1000;

/** Connections for what writes and for what reads: seven in all. */
const maxConnections = { writing: 3, reading: 4 } as const;
type Purpose = keyof typeof maxConnections;
/** An address that leads to another server now is noticed after this. */
const lifetimeSeconds = 600;

/**
 * Connects when it is first asked, and again where that failed: by the pools of one server, made again where several hosts are named and the
 * one in use fails or takes no writes any more.
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

  /** A connection whose work failed is not used again; one that the server still works for counts until it has ended that. */
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
      // A password may be written before it holds at the server, or after that.
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
        // The statement of each call says what its rows are; numbers and bytes come as `chooseParser` makes them.
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
        // The name keeps it from being taken for a dead daemon's.
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

/** No answer came in time: the server may still be at it. */
function isGivenUp(error: unknown): boolean {
  return (
    error instanceof StorageError && error.cause instanceof Error && /read timeout/.test(error.cause.message)
  );
}

/** A server that is starting or recovering may take long, while another one is the primary by now. */
function isAnotherHostBetter(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  const { kind, cause } = error;
  return (
    kind === 'read-only' || (cause instanceof DatabaseError ? cause.code === '57P03' : cause !== undefined)
  );
}

/** The pools of one server, and how they sign in there. */
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
    // A connection that breaks while nobody uses it: the next who asks gets another one.
    pool.on('error', () => undefined);
    // From the first byte on: the server may end it in the packet that ends the sign-in, before anybody has it.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };
  const writing = open(writingLimitMs, maxConnections.writing);
  const reading = open(readingLimitMs, maxConnections.reading, readingLockMs);
  return { url, pools: { writing, reading } };
}

/** `pg` reads certificate files when it makes a client, which a pool may do in a turn of nobody's: one that cannot be read fails when it connects. */
const PooledClient = new Proxy(Client, {
  construct(_, [options]: readonly ClientConfig[]) {
    try {
      return new Client(options);
    } catch (error) {
      return Object.assign(new Client({}), { connect: (done: (error: unknown) => void) => done(error) });
    }
  },
});

/** Over all pools that come and go. A statement that was given up counts until the server has ended it. */
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
    /** Waits until one is free. Rejects with `StorageError` where all are stuck. */
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
