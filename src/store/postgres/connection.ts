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

/** Connects when it is first asked, and again where that failed. */
export function openDatabase({ url, log }: { readonly url: Secret; readonly log?: Log }): Database {
  const connections = new Connections(url, log);
  const run = asker(connections);
  return {
    ask: (text, values) =>
      connections.use('reading', (client) => run(client, 'read', readingLimitMs)(text, values)),
    change: (text, values) =>
      connections.use('writing', (client) => run(client, 'written', writingLimitMs)(text, values)),
    snapshot: (work) =>
      connections.use('reading', async (client) => {
        const ask = run(client, 'read', readingLimitMs);
        await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      }),
    transaction: (work) =>
      connections.use('writing', async (client) => {
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
      if (next.reveal() !== connections.url.reveal()) connections.url = next;
    },
    close: () => connections.close(),
  };
}

/** The pools of one server, made again where several hosts are named and the one in use fails or takes no writes any more. */
class Connections {
  url: Secret;
  readonly #log: Log | undefined;
  readonly #budgets = {
    writing: createConnectionBudget(maxConnections.writing),
    reading: createConnectionBudget(maxConnections.reading),
  };
  #opened: Promise<Pools> | null = null;
  #current: Pools | null = null;
  #currentUrl: Secret;
  #closed = false;

  constructor(url: Secret, log: Log | undefined) {
    this.url = url;
    this.#currentUrl = url;
    this.#log = log;
  }

  /** A connection whose work failed is not used again; one that the server still works for counts until it has ended that. */
  async use<T>(purpose: Purpose, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const budget = this.#budgets[purpose];
    await budget.take();
    let pools: Pools | null = null;
    let client: PoolClient | null = null;
    try {
      pools = await this.#open();
      client = await pools[purpose].connect().catch((error: unknown) => {
        throw asStorageError(error, 'unsent', this.url.reveal());
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
      if (isAnotherHostBetter(error) || this.#currentUrl !== this.url) this.#retire(pools);
      throw error;
    }
  }

  #open(): Promise<Pools> {
    if (this.#closed) throw new StorageError('other', 'the PostgreSQL database was closed');
    const { url } = this;
    this.#opened ??= openPools(url, this.#log).then(
      (pools) => {
        this.#current = pools;
        this.#currentUrl = url;
        return pools;
      },
      (error: unknown) => {
        this.#opened = null;
        throw error;
      },
    );
    return this.#opened;
  }

  #retire(failed: Pools | null): void {
    if (failed === null || failed !== this.#current || this.#closed) return;
    this.#opened = null;
    this.#current = null;
    for (const pool of Object.values(failed)) void pool.end();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A database that cannot be reached has nothing to close.
    const pools = await this.#opened?.catch(() => null);
    await Promise.all(Object.values(pools ?? {}).map((pool) => pool.end()));
  }
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

type Pools = Readonly<Record<Purpose, Pool>>;

async function openPools(url: Secret, log: Log | undefined): Promise<Pools> {
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
  return {
    writing: open(writingLimitMs, maxConnections.writing),
    reading: open(readingLimitMs, maxConnections.reading, readingLockMs),
  };
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

const asker =
  (connections: Pick<Connections, 'url'>) =>
  (client: PoolClient, progress: Progress, limitMs: number | null): Ask => {
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
        throw asStorageError(error, progress, connections.url.reveal());
      }
    };
  };

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
