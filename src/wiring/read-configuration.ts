import { loadConfigFile } from '../config/load-config.ts';
import type { Settings } from '../domain/settings.ts';
import { cronCalendar, findCronProblem } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import type { ProcessLog } from './process-log.ts';

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
