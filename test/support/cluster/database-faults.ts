import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Secret } from '../../../src/domain/secret.ts';
import { openPostgresReader } from '../../../src/store/postgres/reader.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type PostgresCluster, serverUser, startPostgres } from '../postgres.ts';
import { accountIds, type ClusterBed, type ClusterNode, makeClusterBed, patienceMs } from './cluster-bed.ts';
import { countRepeats } from './cluster-run.ts';

/** What befalls the database that the daemons share. */
export const databaseFaults = [
  'its clock an hour ahead',
  'its standby dies',
  'it fails over',
  'it loses commits',
  'it splits',
  'pgbouncer ends',
  'a second of its name',
] as const;

export type DatabaseFault = (typeof databaseFaults)[number];

/** Two leases and 3 s: nobody is to wait longer for a poll while a daemon lives and reaches the database. */
export const maxGapMs = 15_000;

export interface DatabaseFaultResult {
  /** The longest time in which no account was polled. */
  readonly gapMs: number;
  /** Answers of the provider that are not stored, but for what was under way. */
  readonly lost: number;
  readonly repeats: number;
}

const faketime = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
].find((place) => existsSync(place));
const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((place) => existsSync(place));

/** Why a fault cannot be played here; null where it can. */
export function missingFor(fault: DatabaseFault): string | null {
  if (fault === 'its clock an hour ahead' && faketime === undefined) return 'libfaketime is not installed';
  if (fault === 'pgbouncer ends' && pgbouncer === undefined) return 'pgbouncer is not installed';
  return null;
}

/** Plays a fault on a bed of its own, once; throws where the daemons do not come to rest. */
export async function playDatabaseFault(fault: DatabaseFault): Promise<DatabaseFaultResult> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-fault-'));
  const clockFile = join(folder, 'clock');
  writeFileSync(clockFile, '+0');
  const env =
    fault === 'its clock an hour ahead' && faketime !== undefined
      ? {
          LD_PRELOAD: faketime,
          FAKETIME_TIMESTAMP_FILE: clockFile,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }
      : {};
  const user = serverUser();
  if (user !== null) for (const path of [folder, clockFile]) chownSync(path, user.uid, user.gid);
  const bed = await makeClusterBed(['north', 'south'], { env });
  const ends: (() => void | Promise<void>)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const from = Date.now();
    await hurt(fault, { bed, folder, clockFile, ends });
    // What is hurt has healed: the one that owns polls on.
    await bed.untilMembers(bed.nodes.length);
    await pause(3000);
    const lost = await countLost(bed);
    return { gapMs: longestGap(bed, from), lost, repeats: countRepeats(bed).repeats };
  } finally {
    await bed.close();
    for (const end of ends) await end();
  }
}

interface Playing {
  readonly bed: ClusterBed;
  readonly folder: string;
  readonly clockFile: string;
  readonly ends: (() => void | Promise<void>)[];
}

async function hurt(fault: DatabaseFault, playing: Playing): Promise<void> {
  const { bed, clockFile } = playing;
  const { node: ownerName } = await bed.owner();
  const owner = bed.nodes.find(({ name }) => name === ownerName);
  const other = bed.nodes.find((node) => node !== owner);
  if (owner === undefined || other === undefined) throw new Error('nobody owns the accounts');
  switch (fault) {
    case 'its clock an hour ahead':
      writeFileSync(clockFile, '+1h');
      await pause(20_000);
      await refuseWithoutEffect(bed);
      writeFileSync(clockFile, '+0');
      await pause(15_000);
      return;
    case 'its standby dies':
      await bed.server.sql(bed.url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
      await bed.server.sql(bed.url, 'SELECT pg_reload_conf()');
      await pause(15_000);
      await bed.server.sql(bed.url, 'ALTER SYSTEM RESET synchronous_standby_names');
      await bed.server.sql(bed.url, 'SELECT pg_reload_conf()');
      await pause(8000);
      return;
    case 'it fails over':
    case 'it loses commits':
      await failOver(playing, fault === 'it loses commits');
      return;
    case 'it splits':
      await split(playing, owner, other);
      return;
    case 'pgbouncer ends':
      await goThroughPgBouncer(playing);
      await owner.end('SIGKILL');
      await bed.untilOwner(other.name);
      await pause(2000);
      owner.start();
      return;
    case 'a second of its name': {
      const { code, output } = await owner.twin();
      if (code !== 1 || !output.includes('give each a cluster.node of its own'))
        throw new Error(`the second one of its name ended with ${code}: ${output}`);
    }
  }
}

/** The clock of the server has to be wrong, and the sharers of it to say so on the channels. */
async function refuseWithoutEffect({ server, url, sink }: ClusterBed): Promise<void> {
  const [row] = await server.sql(url, 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now');
  if (Number(row?.now) - Date.now() < 3_000_000) throw new Error('the clock of the server was not shifted');
  if (!sink.posts.some(({ body }) => body.includes('cluster-degraded:clock')))
    throw new Error('no channel heard of the clock of the database');
}

/** A standby that takes over what its primary writes. */
async function follow({ bed, ends }: Playing): Promise<PostgresCluster> {
  const { server } = bed;
  const standby = await startPostgres({}, { standbyOf: server });
  ends.push(() => server.remove());
  await eventually('the standby follows', async () => {
    const rows = await server.sql(bed.url, "SELECT FROM pg_stat_replication WHERE state = 'streaming'");
    return rows.length > 0;
  });
  return standby;
}

async function failOver(playing: Playing, losesCommits: boolean): Promise<void> {
  const { bed } = playing;
  const standby = await follow(playing);
  if (losesCommits) {
    const address = new URL(bed.url.reveal());
    address.port = String(standby.port);
    const url = new Secret(address.href);
    await standby.sql(url, "ALTER SYSTEM SET primary_conninfo = ''");
    await standby.sql(url, 'SELECT pg_reload_conf()');
    await pause(2500);
  }
  bed.server.stop('immediate');
  standby.promote();
  bed.moveTo(standby);
  for (const { proxy } of bed.nodes) {
    proxy.target = standby.port;
    proxy.breakAll();
  }
  await pause(15_000);
}

/** The owner stays on the old server, which goes on; the other one is led to the new one. The owner has to let go. */
async function split(playing: Playing, owner: ClusterNode, other: ClusterNode): Promise<void> {
  const { bed } = playing;
  const standby = await follow(playing);
  const old = bed.server;
  standby.promote();
  bed.moveTo(standby);
  other.proxy.target = standby.port;
  other.proxy.breakAll();
  await bed.untilOwner(other.name);
  await eventually(
    'the owner on the older server lets go',
    async () => {
      const answer = await fetch(`${owner.origin}/readyz`);
      const { cluster, problems } = (await answer.json()) as {
        readonly cluster: { readonly role: string };
        readonly problems: readonly string[];
      };
      return cluster.role !== 'owner' && problems.some((text) => text.includes('two database servers'));
    },
    patienceMs,
  );
  await pause(8000);
  old.stop('immediate');
  owner.proxy.target = standby.port;
  owner.proxy.breakAll();
  await pause(5000);
}

async function goThroughPgBouncer({ bed, folder, ends }: Playing): Promise<void> {
  const port = await freePort();
  const [users, ini] = [join(folder, 'users'), join(folder, 'ini')];
  writeFileSync(users, `"lowwater" "${bed.server.password}"\n`, { mode: 0o644 });
  writeFileSync(
    ini,
    `[databases]\n* = host=127.0.0.1 port=${bed.server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = ${users}\npool_mode = transaction\ndefault_pool_size = 3\n`,
    { mode: 0o644 },
  );
  const start = () => spawn(pgbouncer ?? '', ['-q', ini], { stdio: 'ignore', ...serverUser() });
  const first = start();
  for (const { proxy } of bed.nodes) {
    proxy.target = port;
    proxy.breakAll();
  }
  await pause(8000);
  first.kill('SIGKILL');
  await pause(1000);
  const second = start();
  ends.push(() => void second.kill('SIGKILL'));
  await pause(8000);
}

function longestGap({ provider }: ClusterBed, from: number): number {
  const polled = provider.said.map(({ at }) => at).filter((at) => at >= from);
  const instants = [from, ...polled, Date.now()];
  return Math.max(...instants.map((at, index) => at - (instants[index - 1] ?? at)));
}

/** Answers that are not stored, but for one of each account that may be under way. */
async function countLost(bed: ClusterBed): Promise<number> {
  const said = bed.provider.said.map(({ micros }) => micros);
  const stored = new Set<number>();
  const reader = await openPostgresReader({ url: bed.url, program: 'the ledger' });
  for (const account of accountIds)
    for await (const readings of reader.readings({ account, since: 0, until: Number.MAX_SAFE_INTEGER }))
      for (const { balances } of readings) stored.add(balances.sms ?? 0);
  await reader.close();
  return Math.max(0, said.filter((micros) => !stored.has(micros)).length - accountIds.length);
}
