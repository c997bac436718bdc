import { Socket } from 'node:net';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { parsePostgresAddress } from '../../domain/addresses.ts';
import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import { attemptMs, NameLookup } from '../../net/name-lookup.ts';
import type { Log } from '../../ports/log.ts';
import { asStorageError } from './failure.ts';

const connectMs = 3000;

/** Settings on which every statement relies. Other settings of a role do not matter. */
const needed: ReadonlyMap<string, string> = new Map([
  ['default_transaction_isolation', 'read committed'],
  ['standard_conforming_strings', 'on'],
  ['array_nulls', 'on'],
]);
const askedSettings = ['statement_timeout', 'transaction_read_only'];

/** Settings of every session. They override those of the role, the database and the server. */
const sessionOptions = [
  // The server notices within seconds that a connection's other end is gone, and releases its locks.
  ...['tcp_keepalives_idle=3', 'tcp_keepalives_interval=1', 'tcp_keepalives_count=3'],
  'idle_session_timeout=0',
  ...[...needed].map(([name, value]) => `${name}=${value.replace(' ', '\\ ')}`),
];

/**
 * The first host that takes writes; else the first that answers, unless the URL demands writes. As in libpq, a refused password ends the
 * search, but an untrusted certificate does not.
 */
export async function chooseHost(
  url: Secret,
  limitMs: number,
  log: Log | undefined,
): Promise<{ readonly address: string; readonly limited: boolean }> {
  const hosts = parsePostgresAddress(url.reveal());
  const { urls, mustWrite } =
    hosts !== null && 'urls' in hosts ? hosts : { urls: [url.reveal()], mustWrite: false };
  let failure: unknown;
  let readable: string | null = null;
  for (const address of urls) {
    try {
      return { address, limited: await learnLimits(address, limitMs, mustWrite || urls.length > 1, log) };
    } catch (error) {
      failure = error;
      if (endsSearch(error)) break;
      if (error instanceof StorageError && error.kind === 'read-only') readable ??= address;
    }
  }
  if (mustWrite || readable === null) throw failure;
  return { address: readable, limited: await learnLimits(readable, limitMs, false, log) };
}

function endsSearch(error: unknown): boolean {
  return !(error instanceof StorageError) || (error.kind === 'unfit' && error.cause instanceof DatabaseError);
}

/** Options to connect to one host. `limitMs`: null if no session limit can be set. `lockLimitMs`: the longest wait for a lock; 0 for no limit. */
export function clientConfig(address: string, limitMs: number | null, lockLimitMs = 0): ClientConfig {
  const limits =
    limitMs === null
      ? {}
      : {
          statement_timeout: limitMs,
          idle_in_transaction_session_timeout: limitMs,
          options: [...sessionOptions, `lock_timeout=${lockLimitMs}`]
            .map((option) => `-c ${option}`)
            .join(' '),
        };
  return {
    connectionString: verifyCertificates(address),
    fallback_application_name: 'lowwater',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3000,
    types: { getTypeParser: (oid: number) => parsers.get(oid) ?? String },
    stream: () => new NamedSocket(),
    ...limits,
  };
}

/** Each connection looks the name up again: it may lead to a new primary. */
const names = new NameLookup({});

/** A socket that looks names up without the thread pool. `pg` connects by port and host, or by the path of a local socket. */
class NamedSocket extends Socket {
  override connect(...[first, host]: readonly unknown[]): this {
    return typeof first === 'number' && typeof host === 'string'
      ? super.connect({
          port: first,
          host,
          lookup: names.lookup,
          autoSelectFamilyAttemptTimeout: attemptMs(connectMs),
        })
      : super.connect(String(first));
  }
}

/** Modes in which `libpq` checks less are verified fully all the same. `pg` would do that too, but with a warning on standard error. */
function verifyCertificates(url: string): string {
  return url.includes('uselibpqcompat')
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** Whether limits can be set for a session. PgBouncer refuses that unless it is configured otherwise. */
async function learnLimits(
  address: string,
  limitMs: number,
  mustWrite: boolean,
  log: Log | undefined,
): Promise<boolean> {
  try {
    await trySession(clientConfig(address, limitMs), mustWrite);
    return true;
  } catch (error) {
    const cause = error instanceof StorageError ? error.cause : null;
    if (!(cause instanceof Error && /unsupported startup parameter/.test(cause.message))) throw error;
  }
  const limit = await trySession(clientConfig(address, null), mustWrite);
  if (limit === '0')
    log?.warn(
      {},
      "the server sets no time limit for statements and PgBouncer lets none through: ALTER ROLE … SET statement_timeout = '2s' and " +
        "idle_in_transaction_session_timeout = '2s', so that a daemon that was stopped holds up no other",
    );
  return false;
}

async function trySession(config: ClientConfig, mustWrite: boolean): Promise<string> {
  let client: Client | null = null;
  try {
    client = new Client(config);
    client.on('error', () => undefined);
    await client.connect();
    const query = {
      text: `SELECT ${[...askedSettings, ...needed.keys()].map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
      query_timeout: connectMs,
    };
    const [found] = (await client.query<Readonly<Record<string, string>>>(query)).rows;
    for (const [name, value] of needed) refuseSetting(name, found?.[name], value);
    if (mustWrite && found?.transaction_read_only === 'on')
      throw new StorageError(
        'read-only',
        'the PostgreSQL database: no host of storage.postgres.url takes writes, which its target_session_attrs asks for',
      );
    return found?.statement_timeout ?? '0';
  } catch (error) {
    throw asStorageError(error, 'unsent', config.connectionString ?? '');
  } finally {
    client?.end().catch(() => undefined);
  }
}

/** Checks a setting of the role: it applies when PgBouncer passes on no setting of the session. */
function refuseSetting(name: string, value: string | undefined, needed: string): void {
  if (value === undefined || value === needed) return;
  const advice = `${name} is '${value}' for the user of storage.postgres.url, and has to be '${needed}': ALTER ROLE … RESET ${name}`;
  throw new StorageError('unfit', `the PostgreSQL database: ${advice}`);
}

/** Bytes in either format of `bytea_output` (https://www.postgresql.org/docs/current/datatype-binary.html). */
function readBytes(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  const plain = text.replace(/\\(\\|\d{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(plain, 'latin1');
}

type Parser = (text: string) => unknown;

/** Parsers by type (pg_type.dat in PostgreSQL's sources). All whole numbers are written by lowwater, and are safe integers. */
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [16, (text) => text === 't'],
  [17, readBytes],
  [20, Number],
  [23, Number],
  [114, (text) => JSON.parse(text)],
]);
