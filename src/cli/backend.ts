import { formatAmount, type Micros } from '../domain/money.ts';
import { isRefusal } from '../domain/operator.ts';
import { cleanText, plural } from '../domain/plain-text.ts';
import { type Balance, unitOf } from '../domain/reading.ts';
import type { Settings } from '../domain/settings.ts';
import type { Wanted } from '../engine/orders.ts';
import type { DescribedDaemon } from '../http/api/daemon.ts';
import type { StoreFile } from '../ports/store.ts';
import type { StoredViews } from '../views/stored-views.ts';
import { sayDuration } from '../wording/moments.ts';
import { type Command, CommandError, type CommandInput, exitCodes, UsageError } from './command.ts';
import type { CommandContext } from './context.ts';
import { askDaemon, type DaemonAnswer, type DaemonRequest } from './daemon/daemon-connection.ts';
import {
  differenceOf,
  type FoundDaemon,
  findByNote,
  findDaemon,
  namedServer,
  type OpenDaemon,
  requireDaemon,
} from './daemon/find-daemon.ts';
import { type OperatorViews, openRemoteViews } from './daemon/remote-views.ts';
import {
  loadForOperator,
  locateConfiguration,
  type OperatorConfiguration,
  requireStorage,
} from './load-configuration.ts';
import { findPrograms, leaveOrder, openReader } from './open-reader.ts';
import { printJson } from './terminal/output.ts';

/** Names that commands accept: those of the daemon if one answers, else those of the configuration. */
export type Names = Pick<DescribedDaemon, 'accounts' | 'rules' | 'channels' | 'reports'>;

/** The object of an operator's command: a running daemon, the database of a configuration, or both. */
export interface Backend {
  readonly timezone: string;
  readonly names: Names;
  /** Null if no daemon answers that lets this command in. */
  readonly daemon: FoundDaemon | null;
  /** The settings of the file, as far as it can be read; null if a daemon was named instead, or has already checked the file. */
  readonly settings: Settings | null;
  /** The parts of the file that are wrong or unresolved (`OperatorConfiguration`). */
  readonly lost: ReadonlySet<string>;
  /** Views of the daemon, else of the database, which is opened at the first call. */
  views(): Promise<OperatorViews>;
  /** Views of the database. Throws `CommandError` if only a daemon is named. */
  storedViews(): Promise<StoredViews>;
  /** Gives an order to the daemon, or leaves it in the database if no daemon answers. Throws `CommandError` for a refusal. */
  order(request: DaemonRequest, left: LeftHere): Promise<DaemonAnswer>;
}

/** An order that is left in the database, made only once it is known to go there. `orderId`: given if the output names it. */
export interface LeftHere {
  readonly wanted: () => Wanted | Promise<Wanted>;
  readonly by: string;
  readonly orderId?: string;
}

export interface OperatorCommand extends Omit<Command, 'run' | 'asksDaemon'> {
  run(context: CommandContext, input: CommandInput, backend: Backend): Promise<number>;
}

/** Makes a command that asks a daemon, or the database if no daemon answers. */
export function operatorCommand({ run, ...command }: OperatorCommand): Command {
  return {
    ...command,
    asksDaemon: true,
    run: (context, input) => withBackend(context, input, (backend) => run(context, input, backend)),
  };
}

/** Finds the daemon, or opens the database, for the duration of the work. Problems with the daemon are named on standard error. */
export async function withBackend<T>(
  context: CommandContext,
  input: CommandInput,
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  const opened: StoreFile[] = [];
  try {
    const backend = await openBackend(context, input, opened);
    for (const problem of backend.daemon?.facts?.problems ?? [])
      await context.stderr.write(`warning: ${cleanText(problem, 500)}\n`);
    return await work(backend);
  } finally {
    for (const reader of opened) await reader.close();
  }
}

async function openBackend(
  context: CommandContext,
  input: CommandInput,
  opened: StoreFile[],
): Promise<Backend> {
  const server = namedServer(context, input);
  if (server !== null) {
    const daemon = await requireDaemon(server);
    return atDaemon(daemon, differenceOf(daemon.facts, context));
  }
  const deaf = new Set<string>();
  const known = await findByNote(context, locateConfiguration(input.option('config'), context), deaf);
  if (known !== null && differenceOf(known.facts, context) === null) return atDaemon(known, null);
  const configuration = await loadForOperator(context, input);
  const local = { settings: configuration.settings, lost: configuration.lost };
  const found = await findDaemon(context, configuration, deaf);
  const daemon = found?.refusal === null ? found : null;
  if (daemon !== null && daemon.facts !== null) {
    const difference = differenceOf(daemon.facts, context);
    if (difference === null) return { ...atDaemon(daemon, null), ...local };
    await context.stderr.write(`note: ${difference}: reading its database\n`);
  }
  if (daemon !== null && daemon.facts === null)
    await context.stderr.write(`note: an older lowwater answers at ${daemon.url}: reading its database\n`);
  if (found !== null && found.refusal !== null)
    await context.stderr.write(
      `note: the daemon at ${found.url} refuses (${found.refusal}); trying its database\n`,
    );
  requireStorage(configuration, `${found === null ? 'no daemon answers' : 'the daemon refuses'}, and `);
  return { ...local, ...atDatabase(context, configuration, daemon, opened) };
}

function atDaemon(daemon: OpenDaemon, difference: string | null): Backend {
  return {
    timezone: daemon.facts.timezone,
    names: daemon.facts,
    daemon,
    settings: null,
    lost: new Set(),
    async views() {
      if (difference !== null) throw new CommandError(difference);
      return openRemoteViews(daemon);
    },
    storedViews: () =>
      Promise.reject(new CommandError(difference ?? `the daemon at ${daemon.url} went away`)),
    async order(request) {
      const answer = await askDaemon(daemon, request);
      if (answer.kind === 'absent') throw new CommandError(`the daemon at ${daemon.url} went away`);
      if (answer.kind === 'refused') {
        // A daemon of another version may not know the order.
        const why = difference === null ? answer.message : `${answer.message} (${difference})`;
        throw refusedAs(answer.status === badRequest, why);
      }
      return answer;
    },
  };
}

const badRequest = 400;

/** An order that can never be done this way is wrong usage. One that cannot be done now is a failure. */
function refusedAs(isInvalid: boolean, why: string): Error {
  return isInvalid ? new UsageError(why) : new CommandError(why);
}

const maxNamed = 10;

/** `daemon`: one that takes orders, although its views cannot be read. */
function atDatabase(
  context: CommandContext,
  { file, settings, lost }: OperatorConfiguration,
  daemon: FoundDaemon | null,
  opened: StoreFile[],
): Omit<Backend, 'settings' | 'lost'> {
  const { accounts, rules, channels, reports, timezone, storage } = settings;
  const storedViews = async (): Promise<StoredViews> => {
    const { openStoredViews } = await import('../views/stored-views.ts');
    const { cronCalendar: calendar } = await import('../system/calendar.ts');
    const reader = opened[0] ?? (await openReader(context, storage));
    opened[0] = reader;
    return openStoredViews({ ...context, settings, reader, calendar, isOfPart: lost.size > 0 });
  };
  const leave = async ({ wanted, ...given }: LeftHere): Promise<DaemonAnswer> => {
    const { makeOrder, wasDoneBefore } = await import('../engine/orders.ts');
    const from = { door: 'command line', address: null } as const;
    const { random, clock } = context;
    const order = makeOrder(await wanted(), { ...given, from, at: clock.now(), random });
    const done = await (await storedViews()).order(order, {
      ...(await findPrograms(context, storage)),
      leave: (left) => leaveOrder(context, storage, left),
    });
    if (isRefusal(done)) throw refusedAs(done.refused === 'invalid', done.why);
    // The order was done before, so nothing was left: answers as the daemon would.
    return wasDoneBefore(done)
      ? { kind: 'answered', body: { heldBy: done.doneBy }, database: null, isLeft: false }
      : { kind: 'absent' };
  };
  return {
    timezone,
    names: {
      accounts: accounts.map(({ id }) => id),
      rules: [...new Set(rules.map(({ id }) => id))],
      channels: channels.map(({ name }) => name),
      reports: reports.map(({ id }) => id),
    },
    daemon,
    storedViews,
    async views() {
      const views = await storedViews();
      const { unnamed } = views;
      if (unnamed.length > 0)
        await context.stderr.write(
          `warning: ${file} does not say enough of ${plural(unnamed.length, 'account')} of the database: ${unnamed.slice(0, maxNamed).join(', ')}${unnamed.length > maxNamed ? ', …' : ''}\n`,
        );
      return {
        ...views,
        audit: async (since) => views.audit({ since, before: Number.MAX_SAFE_INTEGER }),
        silences: async () => views.silences(),
        expected: async () => views.expected(),
        announced: async () => views.announced(),
      };
    },
    async order(request, left) {
      const answer: DaemonAnswer = daemon === null ? { kind: 'absent' } : await askDaemon(daemon, request);
      if (answer.kind === 'refused') throw refusedAs(answer.status === badRequest, answer.message);
      return answer.kind === 'absent' ? leave(left) : answer;
    },
  };
}

/** Writes amounts of balances (default: the account's first) with their currency, if that can be read: an order that was done is reported anyway. */
export async function amountWriter(backend: Backend, about: readonly { readonly account: string }[]) {
  const known = await findAccounts(backend, new Set(about.map(({ account }) => account))).catch(() => []);
  return (
    micros: Micros,
    { account: id, balance }: { readonly account: string; readonly balance?: Balance },
  ) => {
    const account = known.find((each) => each?.id === id) ?? null;
    return formatAmount(micros, account && unitOf(account, balance ?? account.balances[0]?.id ?? null));
  };
}

async function findAccounts(backend: Backend, ids: ReadonlySet<string>) {
  const views = await backend.views();
  return Promise.all([...ids].map((id) => views.account(id)));
}

/** Prints what became of an order: a sentence, or JSON with `inForce`, which says whether a daemon has executed it already. */
export async function printOrdered(
  context: CommandContext,
  input: CommandInput,
  said: { readonly about: object; readonly sentence: string; readonly answer: DaemonAnswer },
): Promise<number> {
  const { answer } = said;
  const inForce = answer.kind === 'answered' && !answer.isLeft;
  if (inForce && answer.isUnstored)
    await context.stderr.write(
      'warning: the daemon has it in memory only, as the database cannot be written: it is lost if the daemon ends before\n',
    );
  const later =
    answer.kind === 'answered'
      ? ' The daemon that answered stands by: the order is in the database, and the owner of the accounts takes it within 2 seconds.'
      : ' No daemon answered over HTTP: the order is in the database, and the daemon takes it within 2 seconds, or when it starts.';
  if (input.flag('json')) await printJson(context, { ...said.about, inForce });
  else await context.stdout.write(`${said.sentence}${inForce ? '' : later}\n`);
  return exitCodes.ok;
}

/** The limit of the built-in `stale` rule: this many polls, and at least this time. */
const missedPolls = 3;
const leastMs = 120_000;

/**
 * Warns on standard error if the database has fallen behind: it then describes the past, and "nothing
 * fires" says nothing about now. Returns whether it has. Accounts that are polled by cron, or that have to wait because the provider asked
 * for it, may have a good reason for an old poll.
 */
export async function warnOfOldData(
  context: CommandContext,
  { daemon, settings }: Pick<Backend, 'daemon' | 'settings'>,
  views: Pick<OperatorViews, 'accounts'>,
): Promise<boolean> {
  if (daemon?.facts != null || settings === null) return false;
  const now = context.clock.now();
  const byCron = new Set(settings.accounts.flatMap(({ id, poll }) => (poll.kind === 'cron' ? [id] : [])));
  const expected = (await views.accounts()).filter(
    ({ id, outcome, polledAt, backoffUntil }) =>
      polledAt !== null && backoffUntil === null && (outcome === 'ok' || !byCron.has(id)),
  );
  const newest = Math.max(...expected.map(({ polledAt }) => polledAt ?? 0));
  // An account that is polled daily counts as read for days, so it does not show that a daemon polls the others.
  const often = expected.filter(({ id, polled }) => polled && !byCron.has(id));
  const limit = Math.max(leastMs, missedPolls * Math.min(...often.map((each) => each.pollIntervalMs)));
  const isRecent = often.length === 0 ? expected.some(({ isRead }) => isRead) : now - newest <= limit;
  if (expected.length === 0 || isRecent) return false;
  await context.stderr.write(
    `warning: the newest poll in the database is ${sayDuration(now - newest)} old: no daemon is running, or it cannot store what it sees\n`,
  );
  return true;
}
