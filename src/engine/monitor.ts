import type { Calendar, Random, StoreReader } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { restoreState } from './restore.ts';
import { emptyState, type MonitorState } from './state.ts';

/** The daemon's knowledge at its start: what the configuration names and the database remembers. */
export function startMonitor(parts: {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly reader: StoreReader;
  readonly now: number;
}): MonitorState {
  const state = emptyState(parts);
  restoreState(state, parts.reader, parts.now);
  return state;
}
