import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { eventually } from '../eventually.ts';
import { type ClusterBed, type ClusterNode, makeClusterBed, patienceMs } from './cluster-bed.ts';
import { judgeCommits, judgeReadingsOnce } from './cluster-run.ts';

const leaseMs = 3000;
/** Two leases and 3 s. */
export const pairGapMs = 2 * leaseMs + 3000;

type Heal = () => Promise<void>;
type Hurt = (bed: ClusterBed, owner: ClusterNode) => Promise<Heal>;

const nothing: Heal = async () => undefined;

async function lock(bed: ClusterBed, statement: string): Promise<Heal> {
  const client = new Client({ connectionString: bed.url.reveal(), application_name: 'a person' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  // Where somebody has it, it is taken when it is free.
  void client.query(statement).catch(() => undefined);
  return () => client.end();
}

/** A statement that waits for no standby, which may be dead. */
async function change({ server, url }: ClusterBed, statement: string): Promise<void> {
  await server.sql(url, `SET synchronous_commit = local; ${statement}`);
}

async function settings(bed: ClusterBed, set: string, reset: string): Promise<Heal> {
  const apply = async (statement: string): Promise<void> => {
    await bed.server.sql(bed.url, statement);
    await bed.server.sql(bed.url, 'SELECT pg_reload_conf()');
  };
  await apply(set);
  return () => apply(reset);
}

function through(node: ClusterNode, mode: 'cut' | 'hang' | 'mute'): Heal {
  node.proxy.mode = mode;
  return async () => {
    node.proxy.breakAll();
    node.proxy.mode = 'pass';
  };
}

/** What befalls the daemons, named so that a pair can be drawn again. */
export const pairFaults = {
  killed: async (_, owner) => {
    await owner.end('SIGKILL');
    return async () => owner.start();
  },
  stopped: async (_, owner) => {
    owner.process()?.child.kill('SIGSTOP');
    return async () => void owner.process()?.child.kill('SIGCONT');
  },
  ended: async (_, owner) => {
    void owner.end('SIGTERM');
    return async () => {
      await owner.end('SIGTERM');
      owner.start();
    };
  },
  'hands over': async (_, owner) => {
    void owner.command('cluster', 'hand-over');
    return nothing;
  },
  'hands over twice': async (bed) => {
    const { epoch } = await bed.owner();
    for (const order of [
      { kind: 'hand-over', at: Date.now(), epoch },
      { kind: 'hand-over', at: Date.now() },
    ])
      await change(bed, `INSERT INTO operator_order (slot, body) VALUES (0, '${JSON.stringify(order)}')`);
    return nothing;
  },
  'cut off': async (_, owner) => through(owner, 'cut'),
  unheard: async (_, owner) => through(owner, 'hang'),
  'all cut off': async ({ nodes }) => {
    const heals = nodes.map((node) => through(node, 'cut'));
    return async () => {
      for (const heal of heals) await heal();
    };
  },
  'server crashes': async ({ server }) => {
    server.stop('immediate');
    await pause(1500);
    server.start();
    return nothing;
  },
  'clock goes back': async (bed) => {
    const { node } = await bed.owner();
    const later = "UPDATE member SET expires_at = expires_at + interval '1 hour' WHERE node = ";
    await change(bed, `${later}'${node}'`);
    return nothing;
  },
  'slot locked': (bed) => lock(bed, 'SELECT no FROM slot FOR UPDATE'),
  'accounts locked': (bed) => lock(bed, 'LOCK TABLE account IN ACCESS EXCLUSIVE MODE'),
  'standby dead': (bed) =>
    settings(
      bed,
      "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
      'ALTER SYSTEM RESET synchronous_standby_names',
    ),
  'bytes escaped': async (bed) => {
    const name = new URL(bed.url.reveal()).pathname.slice(1);
    await change(bed, `ALTER DATABASE ${name} SET bytea_output = 'escape'`);
    for (const { proxy } of bed.nodes) proxy.breakAll();
    return nothing;
  },
  'order of a newer program': async (bed) => {
    await change(bed, `INSERT INTO operator_order (slot, body) VALUES (0, '{"kind":"sing","at":1}')`);
    return nothing;
  },
  'a record is refused': async (bed) => {
    await change(bed, "ALTER TABLE alert ADD CONSTRAINT no_otp CHECK (account <> 'otp') NOT VALID");
    return async () => void (await change(bed, 'ALTER TABLE alert DROP CONSTRAINT no_otp'));
  },
  'batch by hand': async (bed) => {
    // No commit, which the ledger would note.
    await change(bed, 'SET session_replication_role = replica; UPDATE member SET batch = batch + 7');
    return nothing;
  },
  'epoch by hand': async (bed) => {
    await change(bed, 'UPDATE slot SET epoch = epoch + 5');
    return nothing;
  },
  'garbage status': async (bed) => {
    await change(
      bed,
      `INSERT INTO member VALUES ('garbage', 'west', 'nowhere', 'x', 'lowwater 9', now() + interval '1 hour', 0);
       INSERT INTO member_status VALUES ('garbage', 'no JSON')`,
    );
    return async () => void (await change(bed, "DELETE FROM member WHERE incarnation = 'garbage'"));
  },
} as const satisfies Readonly<Record<string, Hurt>>;

type Name = keyof typeof pairFaults;
const names = Object.keys(pairFaults).filter((name): name is Name => name in pairFaults);

export interface PairResult {
  readonly pair: string;
  readonly gapMs: number;
  /** For how long at most somebody was said to poll while nobody had done so for a lease. */
  readonly falseMs: number;
  readonly epochs: number;
  readonly broken: readonly string[];
}

/** The pair of a seed, at the moments of the seed. `named`: these two instead, the second one may be absent. */
export async function playPair(seed: number, named?: readonly string[]): Promise<PairResult> {
  const draw = drawFrom(seed);
  const first = names[draw(names.length)] ?? 'killed';
  const rest = names.filter((name) => name !== first);
  const drawn = [first, rest[draw(rest.length)] ?? 'killed'];
  const pair = named === undefined ? drawn : names.filter((name) => named.includes(name));
  const moments = [draw(1000), draw(1800)];
  const bed = await makeClusterBed(['north', 'south'], { lease: `${leaseMs}ms` });
  try {
    const before = await bed.owner();
    const owner = bed.nodes.find(({ name }) => name === before.node);
    if (owner === undefined) throw new Error('nobody owns the accounts');
    bed.provider.level = 100;
    await pause(1500);
    const from = Date.now();
    const watch = watchReadiness(bed);
    const heals: Heal[] = [];
    for (const [nth, name] of pair.entries()) {
      await pause(moments[nth]);
      heals.push(await pairFaults[name](bed, owner));
    }
    await pause(12_000);
    const falseMs = watch.end();
    for (const heal of heals.toReversed()) await heal();
    await bed.untilMembers(bed.nodes.length);
    await pause(2 * leaseMs);
    const gapMs = longestGap(bed, from);
    const after = await bed.owner();
    bed.provider.level = 1000;
    const isRenumbered = pair.includes('batch by hand');
    const broken = [
      ...(await judgeEnds(bed)),
      ...(await judgeCommits(bed)).filter((line) => !(isRenumbered && line.startsWith('batch '))),
      ...(await judgeReadingsOnce(bed)),
      ...(falseMs > leaseMs ? [`said for ${falseMs} ms that somebody polls`] : []),
    ];
    return { pair: pair.join(' + '), gapMs, falseMs, epochs: after.epoch - before.epoch, broken };
  } catch (error) {
    const said = bed.nodes.map((node) => `${node.name}: ${node.process()?.output().stdout.slice(-3000)}`);
    throw new Error(`${pair.join(' + ')}: ${String(error)}\n${said.join('\n')}`);
  } finally {
    await bed.close();
  }
}

/** Whole numbers below a bound; the same ones for the same seed (mulberry32). */
function drawFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** No incident that reached a receiver stays open there once the balance is high again. */
async function judgeEnds(bed: ClusterBed): Promise<readonly string[]> {
  const open = (): readonly string[] => {
    const last = new Map<string, string>();
    for (const { path, body } of bed.sink.posts)
      for (const { incident, rule, state } of alertsOf(body)) {
        if (rule === 'sms-low') last.set(`${path} ${incident}`, state);
      }
    return [...last].flatMap(([name, state]) => (state === 'resolved' ? [] : [name]));
  };
  try {
    await eventually('every incident ends at its receivers', () => open().length === 0, patienceMs);
    return [];
  } catch {
    return open().map((name) => `stays open: ${name}`);
  }
}

function alertsOf(body: string) {
  const { data } = JSON.parse(body) as {
    readonly data: {
      readonly alerts: readonly {
        readonly incident: string;
        readonly rule: string;
        readonly state: string;
      }[];
    };
  };
  return data.alerts;
}

function longestGap({ provider }: ClusterBed, from: number): number {
  const instants = [from, ...provider.said.map(({ at }) => at).filter((at) => at >= from), Date.now()];
  return Math.max(...instants.map((at, index) => at - (instants[index - 1] ?? at)));
}

/** Asks every daemon who polls, and compares with the provider. */
function watchReadiness({ nodes, provider }: ClusterBed): { readonly end: () => number } {
  let longest = 0;
  let ended = false;
  const since = new Map<string, number>();
  const ask = async ({ name, origin }: ClusterNode): Promise<void> => {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(1000) });
    const { polling } = (await response.json()) as { readonly polling: string };
    if (polling === 'nobody' || polling === 'unknown') since.delete(name);
    else since.set(name, since.get(name) ?? Date.now());
    const from = Math.max(since.get(name) ?? Date.now(), (provider.said.at(-1)?.at ?? 0) + leaseMs);
    longest = Math.max(longest, Date.now() - from);
  };
  void (async () => {
    while (!ended) {
      await Promise.all(nodes.map((node) => ask(node).catch(() => undefined)));
      await pause(250);
    }
  })();
  return {
    end: () => {
      ended = true;
      return longest;
    },
  };
}
