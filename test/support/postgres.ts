import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Secret } from '../../src/domain/secret.ts';
import { freePort } from './free-port.ts';

/** A PostgreSQL of a test's own, in a temporary folder. */
export interface PostgresCluster {
  readonly port: number;
  /** Password of the user `lowwater`. */
  readonly password: string;
  /** A new database, empty or a copy of one that nobody is connected to; its address. */
  createDatabase(copyOf?: Secret): Promise<Secret>;
  /** A statement as the superuser, on a connection of its own. */
  sql(database: Secret, text: string): Promise<readonly Record<string, unknown>[]>;
  /** The same for who asks again and again, on a connection that is kept: to make one costs more than most of what is asked. */
  look(database: Secret, text: string): Promise<readonly Record<string, unknown>[]>;
  /** As `pg_ctl stop -m`. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): void;
  /** Makes a primary of a standby. */
  promote(): void;
  /** Stops it and removes its folder. */
  remove(): void;
}

const bin = findPrograms();

if (bin === null && process.env.LOWWATER_REQUIRE_POSTGRES !== undefined)
  throw new Error('PostgreSQL (initdb, pg_ctl) is not installed');

/** Why tests that need PostgreSQL are left out; null where it is installed. */
export const noPostgres: string | null =
  bin === null ? 'PostgreSQL (initdb, pg_ctl) is not installed: its tests are left out' : null;

let shared: Promise<PostgresCluster> | null = null;

/** One for all tests of a worker, which ends with it. Nobody stops it, and each test makes a database of its own. */
export function sharedPostgres(): Promise<PostgresCluster> {
  shared ??= startPostgres();
  return shared;
}

/**
 * Starts a cluster; the caller removes it. `standbyOf`: it begins as a copy of that one, whose changes it takes over from the port given
 * there. `env`: of its processes.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  {
    standbyOf = null,
    env = {},
  }: {
    readonly standbyOf?: { readonly port: number; readonly password: string } | null;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<PostgresCluster> {
  if (bin === null) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-postgres-'));
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const password = standbyOf?.password ?? firstPassword;
  const run = (program: string, args: readonly string[], more = env): void => {
    execFileSync(program, args, {
      cwd: folder,
      stdio: 'pipe',
      env: { PATH: `${bin}:${process.env.PATH}`, LC_ALL: 'C', PGPASSWORD: password, ...more },
      ...user,
    });
  };
  if (standbyOf === null) {
    const pattern = patternOf(bin);
    if (!existsSync(join(pattern, 'PG_VERSION')))
      makePattern({ pattern, folder, run: (program, args) => run(program, args, {}) });
    run('cp', ['-R', pattern, data]);
  } else {
    const from = ['-h', '127.0.0.1', '-p', String(standbyOf.port), '-U', 'lowwater'];
    run('pg_basebackup', ['-D', data, ...from, '-R', '-c', 'fast']);
  }
  const port = await freePort();
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    fsync: 'off',
    shared_buffers: '32MB',
    max_wal_size: '256MB',
    max_connections: '60',
    ...settings,
  };
  const options = Object.entries(all)
    .map(([name, value]) => `-c ${name}='${value}'`)
    .join(' ');
  const start = (): void =>
    run('pg_ctl', ['start', '-w', '-s', '-D', data, '-l', join(folder, 'log'), '-o', options]);
  const stop = (mode: 'fast' | 'immediate'): void =>
    run('pg_ctl', ['stop', '-w', '-s', '-D', data, '-m', mode]);
  const address = (database: string): Secret =>
    new Secret(`postgres://lowwater:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`);
  const sql: PostgresCluster['sql'] = async (database, text) => {
    const client = new Client({ connectionString: database.reveal() });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(text);
      return rows;
    } finally {
      await client.end();
    }
  };
  const kept = new Map<string, Client>();
  const look: PostgresCluster['look'] = async (database, text) => {
    const address = database.reveal();
    const known = kept.get(address);
    // The server may have ended it since.
    const found = await known?.query<Record<string, unknown>>(text).catch(() => null);
    if (found) return found.rows;
    kept.delete(address);
    known?.end().catch(() => undefined);
    const client = new Client({ connectionString: address });
    client.on('error', () => undefined);
    await client.connect();
    kept.set(address, client);
    return (await client.query<Record<string, unknown>>(text)).rows;
  };
  let databases = 0;
  start();
  endWithProcess(folder, join(data, 'postmaster.pid'));
  return {
    port,
    password,
    async createDatabase(copyOf) {
      databases += 1;
      const name = `test_${databases}`;
      const template = copyOf === undefined ? 'template1' : new URL(copyOf.reveal()).pathname.slice(1);
      const [of] = await look(address('postgres'), 'SHOW server_version_num');
      // Files are copied as they are: to log each page, as is usual since version 15, takes twice the processor time.
      const strategy = Number(of?.server_version_num) >= 150_000 ? 'STRATEGY file_copy' : '';
      await look(address('postgres'), `CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`);
      return address(name);
    },
    sql,
    look,
    stop,
    start,
    promote: () => run('pg_ctl', ['promote', '-w', '-s', '-D', data]),
    remove() {
      if (existsSync(join(data, 'postmaster.pid'))) stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const firstPassword = 'correct horse/battery';

/** Where an empty cluster of these programs is kept for all runs: to copy it takes a tenth of what `initdb` does. Copies have one identifier. */
function patternOf(bin: string): string {
  const { ino, mtimeMs } = statSync(join(bin, 'initdb'));
  return join(tmpdir(), `lowwater-postgres-pattern-${process.getuid?.()}-${ino}-${mtimeMs}`);
}

/** Whole from the moment that others see it; who comes second has made it for nothing. Systems empty the folder of what was not used for days. */
function makePattern({
  pattern,
  folder,
  run,
}: {
  readonly pattern: string;
  readonly folder: string;
  readonly run: (program: string, args: readonly string[]) => void;
}): void {
  const [made, password] = [join(folder, 'made'), join(folder, 'password')];
  rmSync(pattern, { recursive: true, force: true });
  writeFileSync(password, firstPassword, { mode: 0o644 });
  const access = ['-U', 'lowwater', '-A', 'scram-sha-256', `--pwfile=${password}`];
  run('initdb', ['-D', made, ...access, '-E', 'UTF8', '-N', '--wal-segsize=1']);
  try {
    renameSync(made, pattern);
  } catch {
    rmSync(made, { recursive: true, force: true });
  }
}

/** PostgreSQL refuses to run as root; its packages make a user for it. */
export function serverUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const ask = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: ask('-u'), gid: ask('-g') };
}

function findPrograms(): string | null {
  const versions = '/usr/lib/postgresql';
  const packaged = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((left, right) => Number(right) - Number(left))
        .map((version) => join(versions, version, 'bin'))
    : [];
  const places = [...packaged, ...(process.env.PATH ?? '').split(':')];
  return (
    places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'pg_ctl'))) ?? null
  );
}

/** A server that outlived a test run would be there for good. */
function endWithProcess(folder: string, pidFile: string): void {
  const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done
    [ -f "${pidFile}" ] && kill -QUIT "$(head -n 1 "${pidFile}")" && sleep 1
    rm -rf "${folder}"`;
  spawn('sh', ['-c', script], { stdio: 'ignore', detached: true }).unref();
}
