import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { loadConfigFile } from '../config/load-config.ts';
import { inTurns } from '../daemon/slices.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { plural } from '../domain/plain-text.ts';
import type { Settings, StorageSettings } from '../domain/settings.ts';
import { systemClock } from '../system/clock.ts';
import { CommandError, type CommandInput, UsageError } from './command.ts';
import type { CommandContext, LoadedConfiguration, ProcessParts } from './context.ts';
import { untilAborted } from './until-aborted.ts';

/** Thrown after the problems of the file were printed: nothing is left to say. */
export class RefusedConfiguration extends Error {}

/** Thrown when the end was asked for before the configuration was read, as from a file system that hangs. */
export class EndedEarly extends CommandError {}

/** Throws `UsageError` without a file, `RefusedConfiguration` after all that is wrong is printed, and `EndedEarly`. */
export async function loadConfiguration(
  context: CommandContext,
  input: Pick<CommandInput, 'option'>,
): Promise<LoadedConfiguration> {
  const file = locateConfiguration(input.option('config'), context);
  const { loaded, sources } = await readFile(context, file);
  if (loaded.kind === 'invalid') return printProblems(context, file, loaded.problems);
  const warnings = [...(await inTurns(loaded.warnings)), ...(await findChangedMeanings(loaded.settings))];
  return { ...loaded, file, warnings, sources };
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

/** The configuration of file and environment now; the log knows its secrets first. `before` is what is in force. */
export async function readConfiguration(
  path: string,
  hide: ProcessParts['hide'],
  before?: Settings,
): ReturnType<typeof loadConfigFile> {
  const { loadConfigFile } = await import('../config/load-config.ts');
  const { cronCalendar } = await import('../system/calendar.ts');
  const read = await loadConfigFile({
    path,
    env: process.env,
    calendar: cronCalendar,
    now: systemClock.now(),
    ...(before === undefined ? {} : { before }),
  });
  if (read.loaded.kind === 'loaded') await hide(read.loaded.secrets);
  return read;
}

export interface OperatorConfiguration extends Pick<LoadedConfiguration, 'file' | 'settings'> {
  /** Its wrong or unresolved parts, as `section.key`, such as `server.token`, `''` where no part is lost by what is wrong; empty where all is well. */
  readonly lost: ReadonlySet<string>;
  /** The file does not name a database, nor does `LOWWATER_DATA`: that of the daemon may lie elsewhere. */
  readonly isDatabaseGuessed: boolean;
}

/**
 * The configuration for a command that needs only the server and the database: the rest may be wrong or unresolved, which is said in
 * one line on standard error. Throws `UsageError` when there is no file, `RefusedConfiguration` when nothing of it can be read.
 */
export async function loadForOperator(
  context: CommandContext,
  input: Pick<CommandInput, 'option'>,
): Promise<OperatorConfiguration> {
  const file = locateConfiguration(input.option('config'), context);
  const { loaded, salvage } = await readFile(context, file);
  if (loaded.kind === 'loaded')
    return placeDatabase(context, { file, settings: loaded.settings, lost: new Set() });
  const saved = salvage();
  if (saved === null) return printProblems(context, file, loaded.problems);
  await context.process.hide(saved.secrets);
  const count = plural(loaded.problems.length, 'problem');
  await context.stderr.write(
    `note: ${count} in ${file} (see lowwater validate); this command goes by what can be read\n`,
  );
  const { settings, lost } = saved;
  // One was made up for a configuration that says nothing of its accounts.
  const accounts = lost.has('accounts') ? [] : settings.accounts;
  return placeDatabase(context, { file, settings: { ...settings, accounts }, lost });
}

/** The folder in which the recommended unit and the image keep the database of a configuration in /etc/lowwater. */
const usualFolders = ['/var/lib/lowwater', '/data'];

/** A shell outside the unit or the container does not have its `LOWWATER_DATA`. */
function placeDatabase(
  context: CommandContext,
  configuration: Omit<OperatorConfiguration, 'isDatabaseGuessed'>,
): OperatorConfiguration {
  const { file, settings } = configuration;
  const { path } = settings.storage;
  if (path === undefined) return { ...configuration, isDatabaseGuessed: false };
  const { found, isGuessed } = findDatabase(context, file, path);
  const storage = { ...settings.storage, path: found };
  return { ...configuration, settings: { ...settings, storage }, isDatabaseGuessed: isGuessed };
}

/** The database of a configuration, which says that it lies at `path`. */
export function findDatabase({ env }: Pick<CommandContext, 'env'>, file: string, path: string) {
  const isUnsaid = path === resolve(dirname(file), 'lowwater.db') && !env.LOWWATER_DATA && !existsSync(path);
  if (!isUnsaid) return { found: path, isGuessed: false };
  const places = usualFolders.map((folder) => resolve(folder, 'lowwater.db'));
  const found = dirname(file) === '/etc/lowwater' ? places.find((place) => existsSync(place)) : undefined;
  return { found: found ?? path, isGuessed: true };
}

/** Whether any of these keys of a section is wrong or unresolved, or all of it. */
export function isLost(
  { lost }: Pick<OperatorConfiguration, 'lost'>,
  section: string,
  keys: readonly string[],
): boolean {
  return lost.has(section) || keys.some((key) => lost.has(`${section}.${key}`));
}

/** The database of a configuration. Throws `CommandError` where its place is wrong or unresolved: another file is not meant. `why` it is asked for. */
export function requireStorage(configuration: OperatorConfiguration, why = ''): StorageSettings {
  if (isLost(configuration, 'storage', ['path', 'postgres']))
    throw new CommandError(`${why}the configuration does not say where the database is`);
  return configuration.settings.storage;
}

async function readFile(context: CommandContext, file: string): ReturnType<typeof loadConfigFile> {
  const reading = readConfiguration(file, context.process.hide);
  // The result of a race lives as long as the signal: for a large file that would be all its text.
  const isRead = await Promise.race([reading.then(() => true), untilAborted(context.signal)]);
  if (isRead !== true) throw new EndedEarly('stopped before the configuration was read');
  return reading;
}

/** Warnings of things allowed, but perhaps not meant: for the commands that are about the configuration itself. */
export async function printWarnings(
  { stderr }: CommandContext,
  { file, warnings }: LoadedConfiguration,
): Promise<void> {
  for (const warning of warnings)
    await stderr.write(`${stderr.style.yellow('warning')}: ${formatProblem(file, warning)}\n`);
}

const usualPlaces = ({ cwd }: Pick<CommandContext, 'cwd'>) => [
  resolve(cwd, 'config.json'),
  '/etc/lowwater/config.json',
];

/** `$LOWWATER_CONFIG`, else `./config.json`, else `/etc/lowwater/config.json`; null where there is none. */
export function usualConfiguration(context: Pick<CommandContext, 'env' | 'cwd'>): string | null {
  const named = context.env.LOWWATER_CONFIG;
  return named
    ? resolve(context.cwd, named)
    : (usualPlaces(context).find((place) => existsSync(place)) ?? null);
}

/** `--config`, else the usual one. */
export function locateConfiguration(
  option: string | null,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): string {
  const found = option === null ? usualConfiguration(context) : resolve(context.cwd, option);
  if (found !== null) return found;
  throw new UsageError(
    `no configuration: looked for ${usualPlaces(context).join(' and ')}`,
    '"lowwater init" writes a first one; --config FILE or LOWWATER_CONFIG names another, "lowwater demo" needs none',
  );
}

/** Throws `RefusedConfiguration` after all is printed. */
export async function printProblems(
  context: CommandContext,
  file: string,
  problems: readonly ConfigProblem[],
): Promise<never> {
  const { style } = context.stderr;
  for (const problem of problems)
    await context.stderr.write(`${style.red('error')}: ${formatProblem(file, problem)}\n`);
  await context.stderr.write(`lowwater: ${plural(problems.length, 'problem')} in the configuration\n`);
  throw new RefusedConfiguration();
}

/** `config.json:12:5: accounts[0].poll.every: must be …`, which editors and terminals turn into a link. */
function formatProblem(main: string, { file, path, line, column, message }: ConfigProblem): string {
  // A problem with the configuration as a whole names it by itself.
  if (file === undefined && path === '' && line === null) return message;
  const place = [file ?? main, line, column].filter((part) => part !== null && part !== undefined).join(':');
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
