import { dirname } from 'node:path';
import { CommandError, UsageError } from '../cli/command.ts';
import type {
  DatabaseIdentity,
  LoadedSettings,
  RefusedScenario,
  Rooms,
  RunningSimulator,
  SimulatorOrder,
} from '../cli/context.ts';
import { listSecretTexts } from '../daemon/known-secrets.ts';
import { formatDuration } from '../domain/duration.ts';
import { parseJson } from '../domain/json.ts';
import { isoText } from '../domain/moment.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { plural } from '../domain/plain-text.ts';
import type { Secret } from '../domain/secret.ts';
import type { Settings, StorageSettings } from '../domain/settings.ts';
import type { FoundDamage } from '../store/store.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import { createLiveRooms } from './live-rooms.ts';
import type { ProcessLog } from './process-log.ts';

/** The rooms of the house as the command line uses them, on the real clock and the real disk. */
export function createRooms({ log, version }: { readonly log: ProcessLog; readonly version: string }): Rooms {
  const program = `lowwater ${version}`;
  return {
    ...createLiveRooms({ log, version }),
    loadSettings: (file) => loadSettings(file, log),
    async describeSettings(settings, warnings) {
      const { describeSettings } = await import('../config/describe-settings.ts');
      return describeSettings(settings, warnings);
    },
    async readSchema() {
      const { editorJsonSchema } = await import('../config/json-schema.ts');
      return editorJsonSchema();
    },
    async openReader(storage) {
      const { openConfigured } = await import('../store/store.ts');
      return openConfigured(storage, { program, now: systemClock.now, damaged: warnOfDamage });
    },
    async openSql(path, limitMs) {
      const [{ openSqlFile }, { endProcessAfter }] = await Promise.all([
        import('../store/store.ts'),
        import('../system/watchdog.ts'),
      ]);
      const file = openSqlFile(path, warnOfDamage);
      const release = endProcessAfter(
        limitMs,
        `the query took longer than ${formatDuration(limitMs)} and was ended, so that the log of the database does not grow: ask for less, or raise --timeout`,
      );
      const close = () => {
        release();
        file.close();
      };
      return { ask: file.ask, close };
    },
    async loadCalendar() {
      const { cronCalendar } = await import('../system/calendar.ts');
      return cronCalendar;
    },
    async loadPollShelf() {
      const { PackedPolls } = await import('../store/runs/packed-polls.ts');
      return () => new PackedPolls();
    },
    async readDaemonNote(path) {
      const { readDaemonNote } = await import('./daemon-note.ts');
      return readDaemonNote(path);
    },
    identifyDatabase: (storage) => identifyDatabase(storage, program),
    async leaveOrder(storage, order) {
      const { orderIn } = await import('../store/store.ts');
      await orderIn(storage, { program, order });
    },
    async lookAtCluster(settings, postgres) {
      const [{ lookAtCluster }, { hashSettings }] = await Promise.all([
        import('../store/postgres/reader.ts'),
        import('./hash-settings.ts'),
      ]);
      const seen = await lookAtCluster({ url: postgres.url, program });
      return { ...seen, configHash: await hashSettings(settings, postgres) };
    },
    async compareConfigurations({ url }, { owner, other }) {
      const [{ readConfigurations }, { compareConfigurations }] = await Promise.all([
        import('../store/postgres/configurations.ts'),
        import('../cluster/compare-configurations.ts'),
      ]);
      const found = await readConfigurations({ url, program, hashes: [owner, other] });
      const [before, after] = [found.get(owner), found.get(other)];
      if (before === undefined || after === undefined) return null;
      return compareConfigurations(JSON.parse(before), JSON.parse(after));
    },
    async migrateStore({ from, to }) {
      const { migrateStore } = await import('../store/migrate-store.ts');
      return migrateStore({
        from: from.postgres === undefined ? from : from.postgres,
        to: await readPlace(to, log),
        program,
        now: systemClock.now(),
      });
    },
    startSimulator: (order) =>
      startSimulator(order).catch((error: unknown) => {
        throw explainListenError(error, `${order.host}:${order.port}`);
      }),
  };
}

/** One line on standard error: what is left out is named, and what was asked is answered without it. */
function warnOfDamage({ account, earliestAt, latestAt, polls }: FoundDamage): void {
  const span = [earliestAt, latestAt].map((at) => (at === null ? '?' : isoText(at))).join(' to ');
  process.stderr.write(
    `warning: ${plural(polls, 'stored poll')} of ${account} (${span}) are damaged and left out\n`,
  );
}

/** A database that a command names: an address with placeholders as in the configuration, so that no password has to be typed, or a file. */
async function readPlace(
  text: string,
  log: ProcessLog,
): Promise<{ readonly path: string } | { readonly url: Secret }> {
  const [{ interpolate }, { readFileSync }, { resolve }] = await Promise.all([
    import('../config/interpolate.ts'),
    import('node:fs'),
    import('node:path'),
  ]);
  const filled = interpolate(text, {
    env: (name) => process.env[name],
    file(path) {
      try {
        return { kind: 'text', text: readFileSync(path, 'utf8') };
      } catch {
        return { kind: 'failed', reason: 'it cannot be read' };
      }
    },
  });
  if (filled.kind === 'failed') throw new UsageError(`--to: ${filled.messages.join('; ')}`);
  if (!/^[a-z]+:\/\//i.test(filled.text)) return { path: resolve(filled.text) };
  const { postgresAddress } = await import('../schema/addresses.ts');
  const address = postgresAddress('').safeParse(filled.text);
  if (!address.success)
    throw new UsageError(`--to ${address.error.issues.map(({ message }) => message).join('; ')}`);
  await log.hide(listSecretTexts(address));
  return { url: address.data };
}

async function loadSettings(path: string, log: ProcessLog): Promise<LoadedSettings> {
  const { readConfiguration } = await import('./configuration-file.ts');
  const { loaded, sources, salvage } = await readConfiguration(path, log);
  if (loaded.kind === 'invalid')
    return {
      kind: 'refused',
      problems: loaded.problems,
      async salvage() {
        const saved = salvage();
        await log.hide(saved?.secrets ?? []);
        return saved;
      },
    };
  const { settings, secrets } = loaded;
  const warnings = [...loaded.warnings, ...(await findChangedMeanings(settings))];
  return { kind: 'loaded', settings, secrets, warnings, sources };
}

/** Said as long as the database is one of an earlier version: until the first start of this one. */
async function findChangedMeanings({ storage, ...settings }: Settings): Promise<readonly ConfigProblem[]> {
  if (storage.path === undefined) return [];
  const { peekSchema } = await import('../store/sqlite/peek-schema.ts');
  const schema = await peekSchema(storage.path);
  if (schema === null) return [];
  const { listChangedMeanings } = await import('../config/list-changed-meanings.ts');
  return listChangedMeanings(settings, schema);
}

/** A file that is not there, or that no daemon of this version has opened, is surely not the database of a daemon that answers. */
async function identifyDatabase(storage: StorageSettings, program: string): Promise<DatabaseIdentity> {
  const [{ readIdOf }, { accessSync, constants, existsSync }] = await Promise.all([
    import('../store/store.ts'),
    import('node:fs'),
  ]);
  const place = storage.path ?? 'the PostgreSQL database';
  const id = await readIdOf(storage, { program });
  if (id !== null) return { kind: 'known', id, place };
  if (storage.path === undefined) return { kind: 'unknown', why: 'it does not answer' };
  try {
    accessSync(dirname(place), constants.R_OK | constants.X_OK);
    if (existsSync(place)) accessSync(place, constants.R_OK);
  } catch {
    return { kind: 'unknown', why: `${place} cannot be read` };
  }
  return existsSync(place)
    ? { kind: 'none', why: `no daemon of this version has opened ${place}` }
    : { kind: 'none', why: `${place} does not exist` };
}

async function startSimulator(order: SimulatorOrder): Promise<RunningSimulator | RefusedScenario> {
  if (order.provider !== null) return startSimulatedProvider(order, order.provider);
  const { defaultScenario } = await import('../simulator/default-scenario.ts');
  const read = order.scenarioFile === null ? defaultScenario : await readScenario(order.scenarioFile);
  if ('problems' in read) return { kind: 'refused', problems: read.problems };
  const { startSimulator } = await import('../simulator/server.ts');
  const { host, port } = order;
  const simulator = await startSimulator({
    host,
    port,
    scenario: read,
    clock: systemClock,
    random: systemRandom,
  });
  return {
    kind: 'running',
    url: simulator.url,
    accounts: read.accounts.map(({ id, authSecret }) => ({ id, credentials: { authSecret } })),
    close: simulator.close,
  };
}

async function startSimulatedProvider(
  { host, port }: SimulatorOrder,
  type: string,
): Promise<RunningSimulator | RefusedScenario> {
  const [{ presetKinds }, { startSimulatedApi, demoAccount }] = await Promise.all([
    import('../providers/presets/preset-kinds.ts'),
    import('../simulator/simulated-api.ts'),
  ]);
  const kind = presetKinds.find((each) => each.type === type);
  if (kind?.loadSimulation === undefined)
    return { kind: 'refused', problems: [`"${type}" is no preset; "lowwater providers" lists them`] };
  const account = demoAccount(kind);
  const api = await startSimulatedApi({
    host,
    port,
    simulation: await kind.loadSimulation(),
    accounts: [account],
    requestsPerSecond: 10,
    spentPerHour: 12_000_000,
    clock: systemClock,
  });
  return {
    kind: 'running',
    url: api.url,
    accounts: [{ id: `${type}-main`, credentials: account.credentials }],
    close: api.close,
  };
}

/** An address that cannot be listened on is the person's to change; anything else stays what it is. */
function explainListenError(error: unknown, address: string): unknown {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null;
  if (code === 'EADDRINUSE') return new CommandError(`cannot listen on ${address}: another program does`);
  return code === null ? error : new CommandError(`cannot listen on ${address}: ${code}`);
}

async function readScenario(path: string) {
  const [{ parseScenario }, { readFileSource, largestDocumentBytes }] = await Promise.all([
    import('../simulator/scenario.ts'),
    import('../config/sources.ts'),
  ]);
  const { content: file } = await readFileSource(path, largestDocumentBytes);
  if (file.kind === 'failed') return { problems: [`${path}: ${file.reason}`] };
  const json = parseJson(file.text);
  if (json === undefined) return { problems: [`${path} is not JSON`] };
  const parsed = parseScenario(json);
  return parsed.kind === 'valid' ? parsed.scenario : { problems: parsed.problems };
}
