import { formatProblem } from '../config/config-problem.ts';
import type { Settings } from '../domain/settings.ts';
import type { ProcessLog } from './process-log.ts';
import { readConfiguration } from './read-configuration.ts';

/** The configuration file of a running daemon, to be read again when it changes. */
export interface ConfigurationFile {
  readonly path: string;
  load(): ReloadedConfiguration;
}

export type ReloadedConfiguration =
  | { readonly kind: 'loaded'; readonly settings: Settings; readonly watchedFiles: readonly string[] }
  | { readonly kind: 'invalid'; readonly lines: readonly string[]; readonly watchedFiles: readonly string[] };

export function openConfigurationFile(path: string, log: ProcessLog): ConfigurationFile {
  return {
    path,
    load() {
      const loaded = readConfiguration(path);
      const { watchedFiles } = loaded;
      if (loaded.kind === 'invalid')
        return { kind: 'invalid', lines: loaded.problems.map(formatProblem), watchedFiles };
      // Before anything else sees the new settings: their secrets must not be printed.
      log.hide(loaded.secrets);
      return { kind: 'loaded', settings: loaded.settings, watchedFiles };
    },
  };
}
