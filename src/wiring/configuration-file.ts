import { formatProblem } from '../config/config-problem.ts';
import { type LoadedConfig, loadConfigFile } from '../config/load-config.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Settings } from '../domain/settings.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import { cronCalendar, findCronProblem } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import type { SystemLog } from '../system/log.ts';
import type { ProcessLog } from './process-log.ts';

/** The configuration file of a running daemon, to be read again when it changes. */
export interface ConfigurationFile {
  /** Reads without holding anything up, however slow the file system is. `before` is what is in force. */
  load(before?: Settings): Promise<ReloadedConfiguration>;
}

export type ReloadedConfiguration = (
  | Extract<LoadedConfig, { readonly kind: 'loaded' }>
  | { readonly kind: 'invalid'; readonly lines: readonly string[] }
) & {
  /** All that was read, to be watched. */
  readonly sources: readonly WatchedSource[];
};

export function openConfigurationFile(path: string, log: ProcessLog): ConfigurationFile {
  return {
    async load(before) {
      const { loaded, sources } = await readConfiguration(path, log, before);
      return loaded.kind === 'invalid'
        ? { kind: 'invalid', lines: loaded.problems.map(formatProblem), sources }
        : { ...loaded, sources };
    },
  };
}

/** What is allowed in a configuration that takes effect, but perhaps not meant: one line each. */
export function logWarnings(log: SystemLog, warnings: readonly ConfigProblem[]): void {
  for (const { message, ...place } of warnings)
    log.warn({ ...place, warning: message }, 'doubtful configuration');
}

/**
 * The configuration as the file and the environment of this process say it now. Before anything else sees the settings,
 * the log knows the secrets that it must not print. `before` is what is in force.
 */
export async function readConfiguration(
  path: string,
  log: ProcessLog,
  before?: Settings,
): ReturnType<typeof loadConfigFile> {
  const read = await loadConfigFile({
    path,
    env: process.env,
    findCronProblem,
    calendar: cronCalendar,
    now: systemClock.now(),
    ...(before === undefined ? {} : { before }),
  });
  if (read.loaded.kind === 'loaded') await log.hide(read.loaded.secrets);
  return read;
}
