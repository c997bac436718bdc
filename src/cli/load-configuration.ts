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

/** Thrown after the problems of the file were printed: nothing more has to be said. */
export class RefusedConfiguration extends Error {}

/** Thrown if the end was requested before the configuration was read, for example from a file system that hangs. */
export class EndedEarly extends CommandError {}

/** Throws `UsageError` if there is no file, `RefusedConfiguration` after it has printed all problems, or `EndedEarly`. */
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

/** Warnings that are given as long as the database is one of an earlier version: until the first start of this one. */
async function findChangedMeanings({ storage, ...settings }: Settings): Promise<readonly ConfigProblem[]> {
  if (storage.path === undefined) return [];
  const { peekSchema } = await import('../store/sqlite/peek-schema.ts');
  const schema = await peekSchema(storage.path);
  if (schema === null) return [];
  const { listChangedMeanings } = await import('../config/list-changed-meanings.ts');
  return listChangedMeanings(settings, schema);
}

/** Reads file and environment. The log knows the secrets before anything else does. `before`: the settings in use. */
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
  /** The wrong or unresolved parts as `section.key`, for example `server.token`; `''` if a problem affects no part. Empty without problems. */
  readonly lost: ReadonlySet<string>;
  /** Whether neither the file nor `LOWWATER_DATA` names the database: the daemon's may be in another place. */
  readonly isDatabaseGuessed: boolean;
}

/**
 * The configuration for a command that needs only the server and the database. The rest may be wrong or unresolved, which is noted in
 * one line on standard error. Throws `UsageError` if there is no file, `RefusedConfiguration` if nothing of it can be read.
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
  // Without readable accounts, the salvaged settings contain a made-up one.
  const accounts = lost.has('accounts') ? [] : settings.accounts;
  return placeDatabase(context, { file, settings: { ...settings, accounts }, lost });
}

/** The folders in which the recommended unit and the image keep the database of a configuration in /etc/lowwater. */
const usualFolders = ['/var/lib/lowwater', '/data'];

/** Finds the database: a shell outside the unit or the container does not have its `LOWWATER_DATA`. */
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

/** Finds the database of a configuration that gives or implies `path`. */
export function findDatabase({ env }: Pick<CommandContext, 'env'>, file: string, path: string) {
  const isUnsaid = path === resolve(dirname(file), 'lowwater.db') && !env.LOWWATER_DATA && !existsSync(path);
  if (!isUnsaid) return { found: path, isGuessed: false };
  const places = usualFolders.map((folder) => resolve(folder, 'lowwater.db'));
  const found = dirname(file) === '/etc/lowwater' ? places.find((place) => existsSync(place)) : undefined;
  return { found: found ?? path, isGuessed: true };
}

/** Whether the whole section, or any of these keys of it, is wrong or unresolved. */
export function isLost(
  { lost }: Pick<OperatorConfiguration, 'lost'>,
  section: string,
  keys: readonly string[],
): boolean {
  return lost.has(section) || keys.some((key) => lost.has(`${section}.${key}`));
}

/** The database of a configuration. Throws `CommandError` if its place is wrong or unresolved, and never guesses. `why`: a prefix of the error. */
export function requireStorage(configuration: OperatorConfiguration, why = ''): StorageSettings {
  if (isLost(configuration, 'storage', ['path', 'postgres']))
    throw new CommandError(`${why}the configuration does not say where the database is`);
  return configuration.settings.storage;
}

async function readFile(context: CommandContext, file: string): ReturnType<typeof loadConfigFile> {
  const reading = readConfiguration(file, context.process.hide);
  // Races for a flag, not the file: the result of a race lives as long as the signal, and would keep a large file's text.
  const isRead = await Promise.race([reading.then(() => true), untilAborted(context.signal)]);
  if (isRead !== true) throw new EndedEarly('stopped before the configuration was read');
  return reading;
}

/** Warns of settings that are allowed but perhaps not intended, in commands that are about the configuration itself. */
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

/** `$LOWWATER_CONFIG`, else `./config.json`, else `/etc/lowwater/config.json`; null if there is none. */
export function usualConfiguration(context: Pick<CommandContext, 'env' | 'cwd'>): string | null {
  const named = context.env.LOWWATER_CONFIG;
  return named
    ? resolve(context.cwd, named)
    : (usualPlaces(context).find((place) => existsSync(place)) ?? null);
}

/** The file of `--config`, else the usual one. */
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

/** Prints all problems, then throws `RefusedConfiguration`. */
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
  // A problem of the configuration as a whole says so itself.
  if (file === undefined && path === '' && line === null) return message;
  const place = [file ?? main, line, column].filter((part) => part !== null && part !== undefined).join(':');
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
