import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool, type PoolClient } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import { NameLookup } from '../../net/name-lookup.ts';
import type { Log } from '../../ports/log.ts';
import { asStorageError, type Progress } from './failure.ts';

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

/** Connects when it is first asked, and again where that failed. */
export function openDatabase({ url, log }: { readonly url: Secret; readonly log?: Log }): Database {
  let opened: Promise<Pools> | null = null;
  let closed = false;
  const pools = (): Promise<Pools> => {
    if (closed) throw new StorageError('other', 'the PostgreSQL database was closed');
    opened ??= openPools(url, log).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  const forReading = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    withClient((await pools()).reading, work);
  const forWriting = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    withClient((await pools()).writing, work);
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
    async close() {
      if (closed) return;
      closed = true;
      // Where it cannot be reached there is nothing to close.
      const { writing, reading } = (await opened?.catch(() => null)) ?? {};
      await Promise.all([writing?.end(), reading?.end()]);
    },
  };
}

interface Pools {
  readonly writing: Pool;
  readonly reading: Pool;
}

async function openPools(url: Secret, log: Log | undefined): Promise<Pools> {
  const limited = await learnLimits(url, log);
  const open = (limitMs: number, max: number): Pool => {
    const pool = new Pool({ ...clientConfig(url, limited ? limitMs : null), max, idleTimeoutMillis: 60_000 });
    // A connection that breaks while nobody uses it: the next who asks gets another one.
    pool.on('error', () => undefined);
    return pool;
  };
  return { writing: open(writingLimitMs, 3), reading: open(readingLimitMs, 4) };
}

function clientConfig(url: Secret, limitMs: number | null): ClientConfig {
  const limits =
    limitMs === null
      ? {}
      : {
          statement_timeout: limitMs,
          idle_in_transaction_session_timeout: limitMs,
          options: keepAlive,
        };
  return {
    connectionString: verifyCertificates(url.reveal()),
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
async function learnLimits(url: Secret, log: Log | undefined): Promise<boolean> {
  try {
    await trySession(clientConfig(url, writingLimitMs));
    return true;
  } catch (error) {
    if (!(error instanceof Error && /unsupported startup parameter/.test(error.message)))
      throw asStorageError(error, 'unsent');
  }
  const limit = await trySession(clientConfig(url, null)).catch((error: unknown) => {
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
async function trySession(config: ClientConfig): Promise<string> {
  const client = new Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const query = { text: 'SHOW statement_timeout', query_timeout: connectMs };
    const { rows } = await client.query<{ statement_timeout: string }>(query);
    return rows[0]?.statement_timeout ?? '0';
  } finally {
    client.end().catch(() => undefined);
  }
}

/** A connection whose work failed is not used again: what is under way on it is nobody's business any more. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asStorageError(error, 'unsent');
  });
  const ignore = (): void => undefined;
  client.on('error', ignore);
  try {
    const result = await work(client);
    client.off('error', ignore);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
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
