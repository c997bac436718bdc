import type { Desk } from './desk.ts';
import { createDesk } from './desk-view.ts';
import { startMonitor } from './monitor/monitor.ts';
import type { Calendar, Clock, Random, StoreReader } from './ports.ts';
import type { Settings } from './settings.ts';

/** The desk of a process that only reads the database, beside a daemon or without one. */
export function openDesk(parts: {
  readonly settings: Settings;
  readonly reader: StoreReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly calendar: Calendar;
}): Desk {
  const { settings, reader, clock, random, calendar } = parts;
  const state = startMonitor({ settings, reader, calendar, random, now: clock.now() });
  return createDesk({ state, reader, now: () => clock.now(), nextPollAt: () => null });
}
