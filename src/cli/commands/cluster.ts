import { nobodyOwns } from '../../cluster/cluster-status.ts';
import { compareConfigurations, haveSameConfiguration } from '../../cluster/compare-configurations.ts';
import type { PostgresSettings } from '../../domain/settings.ts';
import { isoText } from '../../domain/time.ts';
import type { ClusterLook } from '../../ports/cluster.ts';
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadForOperator, type OperatorConfiguration, requireStorage } from '../load-configuration.ts';
import { leaveOrder, lookAt, programOf } from '../open-reader.ts';
import { printRows } from '../terminal/table.ts';
import { formatShortDuration } from '../terminal/text.ts';

export const clusterStatusCommand: Command = {
  name: 'cluster status',
  summary: 'the daemons that share the database: who owns the accounts, who stands by',
  details: `Asks the database. Exit 1 where nobody owns the accounts.

--json prints {"epoch","owner","members":[{"node","role","advertise","program","sameConfiguration","leaseEndsAt"}]}; role is owner or
standby, owner a node or null.`,
  options: { json: jsonOption },
  run: async (context, input) => {
    const seen = await lookAt(context, requirePostgres(await loadForOperator(context, input)));
    const cluster = describeCluster(seen);
    await printRows(context, input, {
      rows: cluster.members,
      none: 'No daemon is known to this database: none runs, or none can write to it.',
      json: () => cluster,
      columns: [
        { header: 'NODE', value: ({ node }) => node },
        {
          header: 'ROLE',
          value: ({ role }) => (role === 'owner' ? `owner (epoch ${cluster.epoch})` : 'stands by'),
        },
        { header: 'CONFIGURATION', value: ({ sameConfiguration }) => nameSameness(sameConfiguration) },
        {
          header: 'LEASE',
          value: ({ leaseEndsAt }) => formatShortDuration(Date.parse(leaseEndsAt) - seen.databaseNow),
          align: 'right',
        },
        { header: 'PROGRAM', value: ({ program }) => program, rank: 1 },
        { header: 'ADDRESS', value: ({ advertise }) => advertise ?? '-', rank: 2 },
      ],
    });
    if (cluster.owner !== null) return exitCodes.ok;
    await context.stderr.write(`warning: ${nobodyOwns}\n`);
    return exitCodes.failed;
  },
};

/** The longest wait until another daemon has taken over, and the pause between looks. */
const patienceMs = 30_000;
const lookEveryMs = 250;

export const clusterHandOverCommand: Command = {
  name: 'cluster hand-over',
  summary: 'let the owner of the accounts give them to a daemon that stands by',
  details: `For maintenance: the owner waits until another daemon can take over, stores what it knows and lets go. Waits until one has. Where none
does, the owner keeps them.

A daemon with another configuration would watch other accounts, by other rules: where one stands by, --force is asked for, and what differs
is listed.`,
  options: { force: { summary: 'also to a daemon with another configuration' } },
  run: async (context, input) => {
    const configuration = await loadForOperator(context, input);
    const postgres = requirePostgres(configuration);
    const look = (): Promise<ClusterLook> => lookAt(context, postgres);
    const before = await look();
    if (before.owner === null)
      throw new CommandError('nobody owns the accounts: there is nothing to hand over');
    if (before.members.length < 2)
      throw new CommandError('no other daemon stands by: nobody would take the accounts over');
    if (!input.flag('force')) await refuseDiffering(context, postgres, before);
    const { makeOrder, writeOrder } = await import('../../engine/orders.ts');
    const { user: by, random, clock } = context;
    const from = { door: 'command line', address: null } as const;
    const order = makeOrder(
      { kind: 'hand-over', epoch: before.epoch },
      { by, from, at: clock.now(), random },
    );
    await leaveOrder(context, configuration.settings.storage, writeOrder(order));
    const next = await waitForNext(context, look, before);
    if (next === null)
      throw new CommandError(
        `no other daemon has taken the accounts over within ${formatShortDuration(patienceMs)}: see \`lowwater cluster status\` and the logs`,
      );
    const owner = nodeOf(before, before.owner);
    if (next === owner)
      throw new CommandError(
        `${owner} has the accounts again: it let go of them and no other daemon took them`,
      );
    await context.stdout.write(`${owner} has handed the accounts over to ${next}.\n`);
    return exitCodes.ok;
  },
};

/** Throws if a daemon that may take the accounts over has another configuration than the owner. */
async function refuseDiffering(
  context: CommandContext,
  { url }: PostgresSettings,
  { members, owner: incarnation }: ClusterLook,
): Promise<void> {
  const owner = members.find((member) => member.incarnation === incarnation);
  if (owner === undefined) return;
  const other = members.find((member) => haveSameConfiguration(owner, member) === false);
  if (other === undefined) return;
  const hashes = { owner: owner.configHash, other: other.configHash };
  const { findConfigurations, withSchema } = await import('../../store/postgres/reader.ts');
  const found = await withSchema(url, programOf(context), (database) =>
    findConfigurations(database, Object.values(hashes)),
  );
  const [before, after] = [found.get(hashes.owner), found.get(hashes.other)];
  const differences =
    before === undefined || after === undefined
      ? null
      : compareConfigurations(JSON.parse(before), JSON.parse(after));
  throw new CommandError(
    `the configuration of ${other.node} is not that of ${owner.node} (${differences ?? 'it has not said what it consists of'}): ` +
      'give both the same file, or repeat with --force',
  );
}

function requirePostgres(configuration: OperatorConfiguration): PostgresSettings {
  const { postgres } = requireStorage(configuration);
  if (postgres !== undefined) return postgres;
  throw new CommandError(
    'the configuration names a SQLite file, which one daemon has for itself: storage.postgres.url lets several share a database',
  );
}

/** The node that owns the accounts under a later epoch; null if there is none in time. */
async function waitForNext(
  { clock }: CommandContext,
  look: () => Promise<ClusterLook>,
  before: ClusterLook,
): Promise<string | null> {
  const until = clock.monotonic() + patienceMs;
  while (clock.monotonic() < until) {
    const seen = await look();
    if (seen.epoch > before.epoch && seen.owner !== null) return nodeOf(seen, seen.owner);
    await new Promise<void>((resolve) => clock.setTimer(lookEveryMs, resolve));
  }
  return null;
}

function nodeOf({ members }: ClusterLook, incarnation: string): string {
  return members.find((member) => member.incarnation === incarnation)?.node ?? 'a daemon that is gone';
}

function nameSameness(same: boolean | null): string {
  if (same === null) return 'not comparable';
  return same ? "as the owner's" : "NOT the owner's";
}

export type DescribedCluster = ReturnType<typeof describeCluster>;

/** The daemons that share a database, as JSON and tables show them. */
export function describeCluster({ epoch, owner, members }: ClusterLook) {
  const leading = members.find(({ incarnation }) => incarnation === owner);
  return {
    epoch,
    owner: leading?.node ?? null,
    members: members.map((member) => ({
      node: member.node,
      role: member === leading ? ('owner' as const) : ('standby' as const),
      advertise: member.advertise,
      program: member.program,
      sameConfiguration: leading === undefined ? null : haveSameConfiguration(leading, member),
      leaseEndsAt: isoText(member.expiresAt),
    })),
  };
}
