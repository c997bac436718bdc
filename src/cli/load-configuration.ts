import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigProblem } from '../domain/config-problem.ts';
import { CommandError, type CommandInput, UsageError } from './command.ts';
import type { CommandContext, LoadedConfiguration } from './context.ts';
import { untilAborted } from './until-aborted.ts';

/** Thrown after the problems of the file were printed: nothing is left to say. */
export class RefusedConfiguration extends Error {}

/** Thrown when the end was asked for before the configuration was read, as from a file system that hangs. */
export class EndedEarly extends CommandError {}

/**
 * Finds, reads and checks the configuration. Throws `UsageError` when there is no file, and
 * `RefusedConfiguration` after it printed everything that is wrong with it, and `EndedEarly`.
 */
export async function loadConfiguration(
  context: CommandContext,
  input: CommandInput,
): Promise<LoadedConfiguration> {
  const file = locateConfiguration(input.option('config'), context);
  const loaded = await Promise.race([context.rooms.loadSettings(file), untilAborted(context.signal)]);
  if (loaded === undefined) throw new EndedEarly('ended before the configuration was read');
  if (loaded.kind === 'refused') {
    await printProblems(context, file, loaded.problems);
    throw new RefusedConfiguration();
  }
  return { file, ...loaded };
}

/**
 * What is allowed in the configuration, but perhaps not meant: for the commands that are about the
 * configuration itself.
 */
export async function printWarnings(
  { stderr }: CommandContext,
  { file, warnings }: LoadedConfiguration,
): Promise<void> {
  for (const warning of warnings) {
    await stderr.write(`${stderr.style.yellow('warning')}: ${formatProblem(file, warning)}\n`);
  }
}

/** `--config`, else `$LOWWATER_CONFIG`, else `./config.json`, else `/etc/lowwater/config.json`. */
function locateConfiguration(option: string | null, context: Pick<CommandContext, 'env' | 'cwd'>): string {
  const named = option ?? (context.env.LOWWATER_CONFIG || null);
  if (named !== null) return resolve(context.cwd, named);
  const places = [resolve(context.cwd, 'config.json'), '/etc/lowwater/config.json'];
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new UsageError(
    `no configuration: looked for ${places.join(' and ')}`,
    'name one with --config FILE or LOWWATER_CONFIG; config.example.json shows every section, "lowwater demo" needs none',
  );
}

async function printProblems(
  context: CommandContext,
  file: string,
  problems: readonly ConfigProblem[],
): Promise<void> {
  const { style } = context.stderr;
  for (const problem of problems) {
    await context.stderr.write(`${style.red('error')}: ${formatProblem(file, problem)}\n`);
  }
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  await context.stderr.write(`lowwater: ${count} in the configuration, nothing was started\n`);
}

/** `config.json:12: accounts[0].poll.every: must be …`, which editors and terminals turn into a link. */
function formatProblem(main: string, { file, path, line, message }: ConfigProblem): string {
  // A problem with the configuration as a whole names it by itself.
  if (file === undefined && path === '' && line === null) return message;
  const place = line === null ? (file ?? main) : `${file ?? main}:${line}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
