import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { Cluster, MemberCard, Owner } from '../../../src/ports/cluster.ts';
import type { FencedStore, StoreFile } from '../../../src/ports/store.ts';
import { openCluster } from '../../../src/store/postgres/open-cluster.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { noon, silent } from '../sqlite/batches.ts';

export const program = 'lowwater 1.0.0';

/** The address of a new, empty database. */
export async function makeDatabase(): Promise<Secret> {
  return (await sharedPostgres()).createDatabase();
}

let opened: Promise<Secret> | null = null;

/** As `makeDatabase`, and its tables are made already: once for all tests of a worker, as that takes most of what such a test does. */
export async function makeTables(): Promise<Secret> {
  opened ??= openOnce();
  return (await sharedPostgres()).createDatabase(await opened);
}

async function openOnce(): Promise<Secret> {
  const url = await makeDatabase();
  const cluster = openCluster({ url, leaseMs: 60_000, log: silent, now: () => noon, program });
  await cluster.open();
  await cluster.close();
  return url;
}

export async function open(
  url: Secret,
  options: { readonly leaseMs?: number; readonly as?: string; readonly now?: () => number } = {},
): Promise<Cluster> {
  const { leaseMs = 60_000, as = program, now = () => noon } = options;
  const cluster = openCluster({ url, leaseMs, log: silent, now, program: as });
  onTestFinished(() => cluster.close());
  await cluster.open();
  return cluster;
}

export function card(parts: Partial<MemberCard> = {}): MemberCard {
  return {
    incarnation: randomUUID(),
    node: 'one',
    advertise: null,
    configHash: 'abc',
    status: null,
    ...parts,
  };
}

/** A new member that owns the accounts. */
export async function own(cluster: Cluster): Promise<{
  readonly incarnation: string;
  readonly epoch: number;
  readonly store: FencedStore & StoreFile;
}> {
  const { incarnation, ...rest } = card();
  await cluster.join({ incarnation, ...rest });
  const epoch = await cluster.claim(incarnation);
  if (epoch === null) throw new Error('somebody owns the accounts');
  return { incarnation, epoch, store: storeOf(cluster, { incarnation, epoch }) };
}

/** What an owner writes into, and what can be asked of it. */
export function storeOf(cluster: Cluster, owner: Owner): FencedStore & StoreFile {
  return Object.assign(cluster.store(owner), cluster.reader);
}

/** The same database through a proxy that can be told to break. */
export async function throughProxy(url: Secret): Promise<{ readonly url: Secret; readonly proxy: TcpProxy }> {
  const proxy = await startTcpProxy((await sharedPostgres()).port);
  onTestFinished(() => proxy.close());
  const address = new URL(url.reveal());
  address.port = String(proxy.port);
  return { url: new Secret(address.href), proxy };
}

/** A session in which a transaction stays open. */
export async function holdOpen(url: Secret, text: string): Promise<Client> {
  const client = new Client({ connectionString: url.reveal() });
  await client.connect();
  await client.query(text);
  return client;
}
