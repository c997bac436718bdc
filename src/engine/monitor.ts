import type { Calendar, Random, StoreReader } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { announceTouched } from './announce.ts';
import { judgeElapsed } from './judge.ts';
import { restoreState } from './restore.ts';
import { reviewSilences } from './silencing.ts';
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

/** Does what became due by time alone, then decides for everything touched what is to be said. Ends every turn. */
export function endTurn(state: MonitorState, now: number): void {
  for (let key = state.due.takeDue(now); key !== undefined; key = state.due.takeDue(now)) {
    wake(state, key, now);
  }
  announceTouched(state, now);
}

function wake(state: MonitorState, key: string, now: number): void {
  if (key === 'silences') {
    reviewSilences(state, now);
    return;
  }
  const [kind, id = ''] = splitOnce(key);
  if (kind === 'incident') state.touched.add(id);
  const account = kind === 'account' ? state.accounts.get(id) : undefined;
  if (account !== undefined) judgeElapsed(state, account, now);
}

function splitOnce(key: string): [string, string] {
  const colon = key.indexOf(':');
  return [key.slice(0, colon), key.slice(colon + 1)];
}
