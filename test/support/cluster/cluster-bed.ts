import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Secret } from '../../../src/domain/secret.ts';
import { type BuiltProcess, type Ended, runBuilt, startBuilt } from '../built-program.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type PostgresCluster, startPostgres } from '../postgres.ts';
import { type SlackSink, startSlackSink } from '../slack-sink.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { type LedgerProvider, startLedgerProvider } from './ledger-provider.ts';

/** A machine of its own, as far as a process with a way of its own to the database can be one. */
export interface ClusterNode {
  readonly name: string;
  readonly proxy: TcpProxy;
  readonly origin: string;
  /** The process that runs now, or ran last. */
  readonly process: () => BuiltProcess | null;
  start(): void;
  /** Sets the wall clock of its processes wrong. */
  shiftClock(aheadMs: number): void;
  /** Another command of the program, as on this machine. */
  command(...words: readonly string[]): Promise<Ended>;
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts another daemon of this name, and waits until that ends by itself. */
  twin(): Promise<{ readonly code: number | null; readonly output: string }>;
}

export interface ClusterBed {
  readonly server: PostgresCluster;
  readonly url: Secret;
  /** The configuration of all nodes. */
  readonly configFile: string;
  readonly provider: LedgerProvider;
  readonly sink: SlackSink;
  readonly nodes: readonly ClusterNode[];
  /** Who owns the accounts now, by the database. */
  owner(): Promise<{ readonly node: string | null; readonly epoch: number }>;
  /** Every commit that the database took, in order: what it itself says of who owned the accounts then. */
  commits(): Promise<readonly Committed[]>;
  untilMembers(count: number): Promise<void>;
  untilOwner(name: string): Promise<void>;
  /** From now on this server holds the database: who asks the bed asks it. The ways of the nodes are theirs. */
  moveTo(server: PostgresCluster): void;
  close(): Promise<void>;
}

export interface Committed {
  readonly at: number;
  readonly incarnation: string;
  readonly batch: number;
  readonly epoch: number;
  readonly owner: string | null;
}

/** Written by the database itself, so that nothing of the program that is tested has a hand in it. */
const ledger = `CREATE TABLE ledger (no bigserial, at timestamptz DEFAULT clock_timestamp(), incarnation text, batch bigint, epoch bigint, owner text);
  CREATE FUNCTION note_batch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ledger (incarnation, batch, epoch, owner)
    SELECT NEW.incarnation, NEW.batch, slot.epoch, slot.incarnation FROM slot WHERE no = 0;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_batch AFTER UPDATE OF batch ON member FOR EACH ROW EXECUTE FUNCTION note_batch()`;

export const accountIds = ['otp', 'marketing', 'voice'] as const;
const renewalMs = 6000 / 4 + 500;

export function secretOf(account: string): string {
  return `secret-of-${account}-4711`;
}

/** Nobody takes longer than this, however busy the machine. */
export const patienceMs = 60_000;

/** A PostgreSQL, and two daemons on it that were started and have agreed who owns the accounts. */
export async function makeClusterBed(
  names: readonly string[] = ['north', 'south'],
  {
    env = {},
    lease = '6s',
  }: { readonly env?: Readonly<Record<string, string>>; readonly lease?: string } = {},
): Promise<ClusterBed> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-cluster-'));
  let server = await startPostgres({ fsync: 'on' }, { env });
  let url = await server.createDatabase();
  const provider = await startLedgerProvider(1000);
  const sink = await startSlackSink();
  const configFile = join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify(configuration(provider, sink, lease)));
  const nodes: ClusterNode[] = [];
  for (const name of names) nodes.push(await makeNode({ name, folder, configFile, url, server }));
  const bed: ClusterBed = {
    get server() {
      return server;
    },
    get url() {
      return url;
    },
    configFile,
    provider,
    sink,
    nodes,
    moveTo(next) {
      const moved = new URL(url.reveal());
      moved.port = String(next.port);
      url = new Secret(moved.href);
      server = next;
    },
    async owner() {
      const [row] = await server.look(
        url,
        'SELECT epoch::int, node FROM slot LEFT JOIN member ON member.incarnation = slot.incarnation AND expires_at > clock_timestamp()',
      );
      return { node: typeof row?.node === 'string' ? row.node : null, epoch: Number(row?.epoch) };
    },
    async commits() {
      const rows = await server.look(
        url,
        'SELECT *, (extract(epoch FROM at) * 1000)::float8 AS ms FROM ledger ORDER BY no',
      );
      return rows.map((row) => ({
        at: Number(row.ms),
        incarnation: String(row.incarnation),
        batch: Number(row.batch),
        epoch: Number(row.epoch),
        owner: row.owner === null ? null : String(row.owner),
      }));
    },
    async untilMembers(count) {
      await eventually(
        `${count} daemons are members`,
        async () => {
          const rows = await server
            // One whose clock was set back left a row that lies in the future, beside that of its next start.
            .look(url, 'SELECT DISTINCT node FROM member WHERE expires_at > clock_timestamp()')
            .catch(() => []);
          return rows.length === count;
        },
        patienceMs,
      );
    },
    async untilOwner(name) {
      // Before there are tables, nobody owns anything.
      const isIt = () =>
        bed.owner().then(
          ({ node }) => node === name,
          () => false,
        );
      await eventually(`${name} owns the accounts`, isIt, patienceMs);
    },
    async close() {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')));
      await Promise.all([provider.close(), sink.close(), ...nodes.map(({ proxy }) => proxy.close())]);
      server.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    const [first, ...others] = nodes;
    first?.start();
    await bed.untilOwner(first?.name ?? '');
    await server.sql(url, ledger);
    for (const node of others) node.start();
    await bed.untilMembers(names.length);
    // An owner hears of whoever joined when it renews its lease.
    await pause(renewalMs);
    return bed;
  } catch (error) {
    const said = nodes.map(
      (node) =>
        `${node.name}: ${node.process()?.output().stdout.slice(-2000)}${node.process()?.output().stderr}`,
    );
    await bed.close();
    throw new Error(`${String(error)}\n${said.join('\n')}`);
  }
}

/** One file for all nodes, as in a real cluster: what differs comes from the environment. */
function configuration(provider: LedgerProvider, sink: SlackSink, lease: string): object {
  return {
    provider: { baseUrl: provider.url, timeout: '5s', maxRequestsPerSecond: 20 },
    poll: { every: '1s' },
    accounts: accountIds.map((id) => ({ id, authSecret: secretOf(id) })),
    rules: [
      { id: 'sms-low', type: 'below', threshold: 200, severity: 'warning', match: { account: 'otp' } },
      // Several second of no polling are what these runs are about.
      { id: 'quiet', type: 'stale', after: '10m' },
    ],
    channels: {
      hook: { type: 'webhook', url: `${sink.origin}/hook` },
      second: { type: 'webhook', url: `${sink.origin}/second` },
    },
    routes: [{ channels: ['hook', 'second'], groupWait: '0s' }],
    server: { port: `\${env:NODE_PORT}` },
    storage: { postgres: { url: `\${env:NODE_DATABASE}` } },
    cluster: { node: `\${env:NODE_NAME}`, advertise: `\${env:NODE_ADDRESS}`, lease },
  };
}

async function makeNode(it: {
  readonly name: string;
  readonly folder: string;
  readonly configFile: string;
  readonly url: Secret;
  readonly server: PostgresCluster;
}): Promise<ClusterNode> {
  const { name, folder, configFile, url, server } = it;
  const proxy = await startTcpProxy(server.port);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const address = new URL(url.reveal());
  address.port = String(proxy.port);
  const env = {
    NODE_NAME: name,
    NODE_PORT: String(port),
    NODE_ADDRESS: origin,
    NODE_DATABASE: address.href,
  };
  const clockFile = join(folder, `clock-of-${name}`);
  const clock = {
    NODE_OPTIONS: `--import=${new URL('shift-clock.ts', import.meta.url).href}`,
    SHIFT_CLOCK_FILE: clockFile,
  };
  let running: BuiltProcess | null = null;
  const words = (command: readonly string[]): readonly string[] => [...command, '--config', configFile];
  return {
    name,
    proxy,
    origin,
    process: () => running,
    start() {
      running = startBuilt(words(['run']), { cwd: folder, env: { ...env, ...clock } });
    },
    async twin() {
      const twin = startBuilt(words(['run']), {
        cwd: folder,
        env: { ...env, NODE_PORT: String(await freePort()) },
      });
      const { code, stdout, stderr } = await twin.ended;
      return { code, output: stdout + stderr };
    },
    shiftClock: (aheadMs) => writeFileSync(clockFile, String(aheadMs)),
    command: (...command) => runBuilt(words(command), { cwd: folder, env }),
    async end(signal) {
      running?.child.kill(signal);
      await running?.ended;
    },
  };
}
