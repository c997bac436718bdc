import { Socket } from 'node:net';
import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import { parsePostgresAddress } from '../../domain/postgres-address.ts';
import type { Secret } from '../../domain/secret.ts';
import { NameLookup } from '../../net/name-lookup.ts';
import type { Log } from '../../ports/log.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { asStorageError, type Progress } from './failure.ts';
import { giveUp } from './give-up.ts';

/** A value of a parameter. Bytes go in binary form (`binary-array.ts`). */
export type Value = string | number | null | Buffer;

/** Asks one statement; gives its rows. */
export type Ask = <Row>(text: string, values?: readonly Value[]) => Promise<readonly Row[]>;

/**
 * The connections of this process. Statements are sent without a name and leave nothing in a session, so that PgBouncer may
 * lend a connection for each transaction. Whatever fails rejects with `StorageError`, within seconds.
 */
export interface Database {
  /** A statement that only reads. */
  readonly ask: Ask;
  /** A statement that writes, a transaction by itself. */
  readonly change: Ask;
  /** Statements that see one moment of the database. */
  snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  /** Statements that are done all or not at all, however long they take. */
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What a stopped writer leaves behind is gone after this, so that nobody waits for its locks. */
const writingLimitMs = 2000;
/** Nobody waits for who reads. Statements are small, but the server may be busy. */
const readingLimitMs = 10_000;
/** So much longer than the server this side waits for what the server says of it. */
const answerMs = 1000;
const connectMs = 3000;

/** A connection that nobody is at the other end of is noticed by the server after some seconds, and its locks go. */
const keepAlive = '-c tcp_keepalives_idle=3 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3';

/** Connections for what writes and for what reads: seven in all. */
const maxConnections = { writing: 3, reading: 4 } as const;
type Purpose = keyof typeof maxConnections;
/** An address that leads to another server now is noticed after this. */
const lifetimeSeconds = 600;

/** Connects when it is first asked, and again where that failed. */
export function openDatabase({ url, log }: { readonly url: Secret; readonly log?: Log }): Database {
  const connections = new Connections(url, log);
  const forReading = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    connections.use('reading', work);
  const forWriting = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    connections.use('writing', work);
  return {
    ask: (text, values) => forReading((client) => run(client, 'read', readingLimitMs)(text, values)),
    change: (text, values) => forWriting((client) => run(client, 'written', writingLimitMs)(text, values)),
    snapshot: (work) =>
      forReading(async (client) => {
        const ask = run(client, 'read', readingLimitMs);
        await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      }),
    transaction: (work) =>
      forWriting(async (client) => {
        const ask = run(client, 'written', null);
        await ask('BEGIN');
        await ask('SET LOCAL statement_timeout = 0');
        await ask('SET LOCAL idle_in_transaction_session_timeout = 0');
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      }),
    close: () => connections.close(),
  };
}

/** The pools of one server, made anew where several hosts are named and the one in use fails or takes no writes any more. */
class Connections {
  readonly #url: Secret;
  readonly #log: Log | undefined;
  readonly #budgets = {
    writing: new ConnectionBudget(maxConnections.writing),
    reading: new ConnectionBudget(maxConnections.reading),
  };
  #opened: Promise<Pools> | null = null;
  /** The ones in use. */
  #current: Pools | null = null;
  #closed = false;

  constructor(url: Secret, log: Log | undefined) {
    this.#url = url;
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
      this.#current = pools;
      client = await pools[purpose].connect().catch((error: unknown) => {
        throw asStorageError(error, 'unsent');
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
      if (isAnotherHostBetter(error)) this.#retire(pools);
      throw error;
    }
  }

  #open(): Promise<Pools> {
    if (this.#closed) throw new StorageError('other', 'the PostgreSQL database was closed');
    this.#opened ??= openPools(this.#url, this.#log).catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  /** The next who asks chooses among the hosts again. */
  #retire(failed: Pools | null): void {
    if (failed === null || failed !== this.#current) return;
    this.#opened = null;
    this.#current = null;
    void endPools(failed);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Where it cannot be reached there is nothing to close.
    const pools = await this.#opened?.catch(() => null);
    if (pools != null) await endPools(pools);
  }
}

/** No answer came in time: the server may still be at it. */
function isGivenUp(error: unknown): boolean {
  return (
    error instanceof StorageError && error.cause instanceof Error && /read timeout/.test(error.cause.message)
  );
}

/** The server takes no writes, or is not reached. */
function isAnotherHostBetter(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  return error.kind === 'read-only' || (error.cause !== undefined && !(error.cause instanceof DatabaseError));
}

async function endPools({ writing, reading }: Pools): Promise<void> {
  await Promise.all([writing.end(), reading.end()]);
}

interface Pools {
  readonly writing: Pool;
  readonly reading: Pool;
}

async function openPools(url: Secret, log: Log | undefined): Promise<Pools> {
  const { address, limited } = await chooseHost(url, log);
  const open = (limitMs: number, max: number): Pool => {
    const pool = new Pool({
      ...clientConfig(address, limited ? limitMs : null),
      max,
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
    reading: open(readingLimitMs, maxConnections.reading),
  };
}

/**
 * The first host that answers, and takes writes where the address asks for that. As with libpq a host that refuses the password ends
 * the search. Rejects with the `StorageError` of the last one.
 */
async function chooseHost(
  url: Secret,
  log: Log | undefined,
): Promise<{ readonly address: string; readonly limited: boolean }> {
  const hosts = parsePostgresAddress(url.reveal());
  const { urls, mustWrite } =
    hosts !== null && 'urls' in hosts ? hosts : { urls: [url.reveal()], mustWrite: false };
  let failure: unknown;
  for (const address of urls) {
    try {
      return { address, limited: await learnLimits(address, { mustWrite, log }) };
    } catch (error) {
      failure = error;
      if (!(error instanceof StorageError) || error.kind === 'unfit') break;
    }
  }
  throw failure;
}

function clientConfig(address: string, limitMs: number | null): ClientConfig {
  const limits =
    limitMs === null
      ? {}
      : {
          statement_timeout: limitMs,
          idle_in_transaction_session_timeout: limitMs,
          options: keepAlive,
        };
  return {
    connectionString: verifyCertificates(address),
    fallback_application_name: 'lowwater',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3000,
    types: { getTypeParser: chooseParser },
    stream: () => new NamedSocket(),
    ...limits,
  };
}

/** Each connection asks again: the name may lead to a new primary. */
const names = new NameLookup({});

/** A socket that looks names up without the thread pool. `pg` connects by port and host, or by the path of a local socket. */
class NamedSocket extends Socket {
  override connect(...[first, host]: readonly unknown[]): this {
    return typeof first === 'number' && typeof host === 'string'
      ? super.connect({ port: first, host, lookup: names.lookup })
      : super.connect(String(first));
  }
}

/** Modes that `libpq` takes for less are verified all the same, as `pg` would do with a warning on standard error. */
function verifyCertificates(url: string): string {
  return url.includes('uselibpqcompat')
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** False where something between refuses to set limits for a session, as PgBouncer does unless it is told otherwise. */
async function learnLimits(
  address: string,
  { mustWrite, log }: { readonly mustWrite: boolean; readonly log: Log | undefined },
): Promise<boolean> {
  try {
    await trySession(clientConfig(address, writingLimitMs), mustWrite);
    return true;
  } catch (error) {
    if (!(error instanceof Error && /unsupported startup parameter/.test(error.message)))
      throw asStorageError(error, 'unsent');
  }
  const limit = await trySession(clientConfig(address, null), mustWrite).catch((error: unknown) => {
    throw asStorageError(error, 'unsent');
  });
  if (limit === '0')
    log?.warn(
      {},
      "the server sets no time limit for statements and PgBouncer lets none through: ALTER ROLE … SET statement_timeout = '2s' and " +
        "idle_in_transaction_session_timeout = '2s', so that a daemon that was stopped holds up no other",
    );
  return false;
}

/** Gives the time limit that holds for statements. */
async function trySession(config: ClientConfig, mustWrite: boolean): Promise<string> {
  const client = new Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const query = {
      text: "SELECT current_setting('statement_timeout') AS limit, current_setting('transaction_read_only') AS readonly",
      query_timeout: connectMs,
    };
    const { rows } = await client.query<{ limit: string; readonly: string }>(query);
    if (mustWrite && rows[0]?.readonly === 'on')
      throw new StorageError(
        'read-only',
        'the PostgreSQL database: no host of storage.postgres.url takes writes, which its target_session_attrs asks for',
      );
    return rows[0]?.limit ?? '0';
  } finally {
    client.end().catch(() => undefined);
  }
}

/** `limitMs` null: however long it takes. */
function run(client: PoolClient, progress: Progress, limitMs: number | null): Ask {
  return async <Row>(text: string, values?: readonly Value[]) => {
    const query = {
      text,
      ...(values === undefined ? {} : { values: [...values] }),
      ...(limitMs === null ? {} : { query_timeout: limitMs + answerMs }),
    };
    try {
      const { rows } = await client.query(query);
      return typedRows<Row>(rows);
    } catch (error) {
      throw asStorageError(error, progress);
    }
  };
}

/** The statement beside each call says what its rows are; numbers and bytes come as `chooseParser` makes them. */
function typedRows<Row>(rows: readonly unknown[]): readonly Row[] {
  return rows as readonly Row[];
}

type Parser = (text: string) => unknown;

/** By type (pg_type.dat in PostgreSQL's sources). Whole numbers are safe integers, all of them written by lowwater. */
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [16, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
  [20, Number],
  [23, Number],
  [114, (text) => JSON.parse(text)],
]);

function chooseParser(oid: number): Parser {
  return parsers.get(oid) ?? String;
}
