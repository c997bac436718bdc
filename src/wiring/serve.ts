import { createHash } from 'node:crypto';
import { createPing } from '../channels/ping.ts';
import { createChannel } from '../channels/registry.ts';
import type { LoadedConfiguration } from '../cli/context.ts';
import { readConfiguration } from '../cli/load-configuration.ts';
import { untilAborted } from '../cli/until-aborted.ts';
import { nameProblems } from '../config/config-problem.ts';
import { fingerprintOf, watchConfig } from '../config/sources.ts';
import type { AcknowledgeLink } from '../daemon/compose.ts';
import { Daemon } from '../daemon/daemon.ts';
import { inSlices, inTurns } from '../daemon/slices.ts';
import { createForeignTexts } from '../domain/foreign-text.ts';
import { type ConfigProblem, OperatorError } from '../domain/operator-error.ts';
import type { ServerSettings, Settings, StorageSettings } from '../domain/settings.ts';
import { weekMs } from '../domain/time.ts';
import { signLink } from '../http/ack-link.ts';
import type { ReportsOnDemand } from '../http/options.ts';
import { startWebServer } from '../http/server.ts';
import { readProxyVariables } from '../net/proxy-variables.ts';
import { createEntryClients } from '../providers/transport/client.ts';
import { createTrials } from '../replay/trial.ts';
import { leaveDaemonNote, removeDaemonNote } from '../store/sqlite/daemon-note.ts';
import { identifyOpen } from '../store/sqlite/file-system.ts';
import { readIdOf } from '../store/store.ts';
import { cronCalendar } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import type { SystemLog } from '../system/log.ts';
import { systemRandom } from '../system/random.ts';
import { watchPath } from '../system/watch-path.ts';
import { createLivePage, describePage } from './live-page.ts';
import { type ProcessLog, secretsAtOnce } from './process-log.ts';
import { type MakeDaemon, type Ownership, type OwnershipDependencies, ownFile } from './run-single.ts';

/** A loaded configuration. Its file is read again when it changes, or anything that it was made of. */
interface ServeOrder extends LoadedConfiguration {
  /** The log, which is opened here. It knows the configuration's secrets. */
  readonly log: ProcessLog;
  readonly version: string;
  readonly signal: AbortSignal;
  /** Called once the daemon polls and listens, with the page's address; null without a server. */
  readonly started?: (url: string | null) => void;
}

/** For how long links in messages work: people have had a reminder of an incident that is open for longer. */
const linkLifeMs = weekMs;

/** Runs database, polls, channels and page, and watches the configuration file, until `signal` aborts. */
export async function serve(order: ServeOrder): Promise<void> {
  const { settings, warnings } = order;
  // A proxy variable without a usable address would cut off all providers and receivers, so nothing is started.
  readProxyVariables(process.env);
  const log = await order.log.open(settings.log.level);
  if (process.env.LOWWATER_IMAGE) log.info(describePage(settings), 'lowwater starts in a container');
  logWarnings(log, warnings);
  // Watches before the database is opened: that may take long, and a change or a SIGHUP meanwhile must not be missed.
  const reloads = watchReloads(order, log);
  try {
    await serveWatched(order, log, reloads);
  } finally {
    await reloads.close();
  }
  log.info({}, 'stopped');
}

async function serveWatched(order: ServeOrder, log: SystemLog, reloads: Reloads): Promise<void> {
  const { settings, version, signal } = order;
  const sessionKeyOf = createSessionKeys(settings);
  const texts = createForeignTexts([]);
  const learn = async (secrets: readonly string[]): Promise<void> => {
    for await (const part of inSlices(secrets, secretsAtOnce)) for (const secret of part) texts.add(secret);
  };
  await learn(order.secrets);
  let current = settings;
  const makeDaemon: MakeDaemon = (it) =>
    new Daemon({
      ...it,
      openProvider: (settings) =>
        createEntryClients(settings, { texts, clock: systemClock, random: systemRandom }),
      openChannels: ({ channels }) =>
        channels.map((channel) => createChannel(channel, { clock: systemClock, texts })),
      clock: systemClock,
      log,
      ping: createPing(systemClock),
      acknowledgeUrl: (link) => acknowledgeUrl(current.server, link),
    });
  const ownership = await openOwnership(settings, { settings, log, version, makeDaemon });
  const { views } = ownership;
  const { storage } = settings;
  const found = await readIdOf(storage, `lowwater ${version}`);
  // Identifies the file now: another file may be in its place when the note is written again.
  const open = identifyOpen(storage);
  const database = () => found ?? ownership.databaseId?.() ?? null;
  const trials = createTrials({
    settings: () => current,
    reader: ownership.reader,
    calendar: cronCalendar,
    clock: systemClock,
  });
  const page = createLivePage(({ server, timezone, language }) =>
    startWebServer({
      views,
      trials,
      settings: server,
      log,
      clock: systemClock,
      random: systemRandom,
      ackKey: sessionKeyOf(server),
      timezone,
      language,
      database,
      reports: createReportsOnDemand(() => current, ownership, signal),
    }),
  );
  const followPage = async (next: Pick<LoadedConfiguration, 'settings' | 'sources'>): Promise<void> => {
    await page.follow(next.settings);
    const checked = fingerprintOf(next.sources);
    leaveDaemonNote(storage, { address: page.url, database: found, checked, ...open, version });
  };
  try {
    await followPage(order);
    const failed = Promise.withResolvers<{ readonly why: unknown }>();
    ownership.begin((why) => failed.resolve({ why }));
    log.info({ version, accounts: settings.accounts.length, url: page.url ?? undefined }, 'started');
    reloads.begin({
      inForce: () => current,
      async apply(loaded) {
        const { settings: next, secrets } = loaded;
        // The page comes first: only this part of a configuration can turn out to be impossible, and then
        // none of the configuration takes effect.
        await followPage(loaded);
        // A former secret stays secret: a receiver may still repeat it.
        await learn(secrets);
        current = next;
        await ownership.apply(next);
      },
      refuse: (text) => ownership.refuse(text),
    });
    order.started?.(page.url);
    const failure = await Promise.race([untilAborted(signal), failed.promise]);
    log.info({}, 'ending');
    await reloads.close();
    await Promise.all([page.close(), ownership.end()]);
    if (failure !== undefined) throw failure.why;
  } finally {
    removeDaemonNote(storage);
    await ownership.close();
  }
}

/** The single daemon of a SQLite file, or one of several that share a database. Code for the latter is loaded only if needed. */
async function openOwnership({ storage }: Settings, parts: OwnershipDependencies): Promise<Ownership> {
  if (storage.postgres === undefined) return ownFile(storage.path, parts);
  const { ownShared } = await import('./run-clustered.ts');
  return ownShared(storage.postgres, parts);
}

/** The actions of a reload on the configuration that was read again. */
interface ReloadActions {
  inForce(): Settings;
  apply(loaded: Pick<LoadedConfiguration, 'settings' | 'secrets' | 'sources'>): Promise<void>;
  refuse(text: string): void;
}

const password = /(?<=^[a-z]+:\/\/[^:@/]*):[^@/]*@/;

/** Compares everything except the retention and a password, which may change while the daemon runs. */
function isSameStorage(before: StorageSettings, after: StorageSettings): boolean {
  const textOf = ({ path, postgres }: StorageSettings): string =>
    JSON.stringify([path, { ...postgres, url: postgres?.url.reveal().replace(password, '@') }]);
  return textOf(before) === textOf(after);
}

/** Logs the warnings of a configuration that takes effect, one line each. */
function logWarnings(log: SystemLog, warnings: readonly ConfigProblem[]): void {
  for (const { message, ...place } of warnings.slice(0, maxWarnings))
    log.warn({ ...place, warning: message }, 'configuration warning');
  if (warnings.length > maxWarnings)
    log.warn({ more: warnings.length - maxWarnings }, 'more configuration warnings: see lowwater validate');
}

const maxWarnings = 50;

type Reloads = ReturnType<typeof watchReloads>;

/** Reloads on SIGHUP and when the file, or one that it names, changes. Only one reload runs at a time. */
function watchReloads({ file, sources, log: { hide } }: ServeOrder, log: SystemLog) {
  const actions = Promise.withResolvers<ReloadActions>();
  let running = Promise.resolve();
  let applying = Promise.resolve();
  let closed = false;
  const reload = (): void => {
    running = running.then(reloadOnce);
  };
  const reloadOnce = async (): Promise<void> => {
    const all = await actions.promise;
    try {
      await reloadFile(all);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      log.error({ err: error }, 'the changed configuration cannot be put in force; the running one stays');
      all.refuse(error.message);
    }
  };
  const reloadFile = async ({ inForce, apply, refuse }: ReloadActions): Promise<void> => {
    const { loaded, sources } = await readConfiguration(file, hide, inForce());
    // The process is ending: a page that was opened now would keep it alive.
    if (closed) return;
    watch.setSources(sources);
    if (loaded.kind === 'loaded' && !isSameStorage(inForce().storage, loaded.settings.storage)) {
      const why =
        'storage: another database takes a restart of the daemon; nothing of the changed file is in force';
      log.error({ problems: [why] }, 'the changed configuration is refused; the running one stays');
      refuse(why);
      return;
    }
    if (loaded.kind === 'loaded') {
      const warnings = await inTurns(loaded.warnings);
      applying = apply({ ...loaded, sources });
      await applying;
      logWarnings(log, warnings);
      log.setLevel(loaded.settings.log.level);
      return;
    }
    const problems = nameProblems(loaded.problems);
    log.error({ problems }, 'the changed configuration is invalid; the running one stays');
    refuse(problems.join('; '));
  };
  const watch = watchConfig({ sources, onChange: reload, clock: systemClock, watchPath });
  process.on('SIGHUP', reload);
  return {
    /** Runs the reloads that were requested before this call; later ones run when they are requested. */
    begin: (given: ReloadActions): void => actions.resolve(given),
    /** From now on no reload takes effect. Waits for one that is being applied. */
    async close(): Promise<void> {
      closed = true;
      watch.close();
      process.off('SIGHUP', reload);
      // A failure is reported where the reload was requested.
      await applying.catch(() => undefined);
    },
  };
}

/** The key survives a restart, and daemons that share a database have the same one, if a token or that database is configured. */
function createSessionKeys({ storage }: Settings): (server: ServerSettings) => Buffer {
  const untilNextStart = systemRandom.bytes(32);
  return ({ token }) => {
    const secret = token ?? storage.postgres?.url;
    if (secret === undefined) return untilNextStart;
    return createHash('sha256').update(`lowwater links ${secret.reveal()}`).digest();
  };
}

function acknowledgeUrl(
  server: ServerSettings | null,
  { incident, now, key }: AcknowledgeLink,
): string | null {
  if (server === null || server.publicUrl === null) return null;
  return `${server.publicUrl}/a/${signLink(key, { incident: incident.id, expiresAt: now + linkLifeMs })}`;
}

/** Makes the reports of a running daemon when somebody asks for them over HTTP. */
function createReportsOnDemand(
  settings: () => Settings,
  ownership: Pick<Ownership, 'reader'>,
  signal: AbortSignal,
): ReportsOnDemand {
  const find = (id: string) => {
    const report = settings().reports.find((candidate) => candidate.id === id);
    return report === undefined ? null : { settings: settings(), report, reader: ownership.reader };
  };
  return {
    ids: () => settings().reports.map(({ id }) => id),
    async compose(id, width) {
      const order = find(id);
      return order && (await import('../cli/act-here.ts')).renderReport(order, width);
    },
    async send(id) {
      const order = find(id);
      return order && (await import('../cli/act-here.ts')).sendReport(order, signal);
    },
  };
}
