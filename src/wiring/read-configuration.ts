import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { readTextFile } from '../config/read-text-file.ts';
import { cronCalendar, findCronProblem } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';

/** The configuration as the file and the environment of this process say it now. */
export function readConfiguration(path: string): LoadedConfig {
  return loadConfig({
    path,
    readFile: readTextFile,
    env: process.env,
    findCronProblem,
    calendar: cronCalendar,
    now: systemClock.now(),
  });
}
