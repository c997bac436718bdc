import type { Settings } from '../app/settings.ts';
import { formatProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { readTextFile } from '../config/read-text-file.ts';
import { cronCalendar, findCronProblem } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import type { ProcessLog } from './process-log.ts';

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
      const { env } = process;
      const now = systemClock.now();
      const loaded = loadConfig({
        path,
        readFile: readTextFile,
        env,
        findCronProblem,
        nextRun: cronCalendar.next,
        now,
      });
      const { watchedFiles } = loaded;
      if (loaded.kind === 'invalid')
        return { kind: 'invalid', lines: loaded.problems.map(formatProblem), watchedFiles };
      // Before anything else sees the new settings: their secrets must not be printed.
      log.hide(loaded.secrets);
      return { kind: 'loaded', settings: loaded.settings, watchedFiles };
    },
  };
}
