import { formatProblem } from '../config/config-problem.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { ConfigProblem } from '../domain/config-problem.ts';
import type { Settings } from '../domain/settings.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import type { SystemLog } from '../system/log.ts';
import type { ProcessLog } from './process-log.ts';
import { readConfiguration } from './read-configuration.ts';

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
