import type { Batch, Calendar, Random, StoreReader } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { announceTouched } from './announce.ts';
import { batchOf } from './changes.ts';
import { judgeElapsed } from './judge.ts';
import { restoreState } from './restore.ts';
import { forgetSettled } from './settle.ts';
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
  const { settings, calendar, random } = parts;
  const state = emptyState({ settings, calendar, random });
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

/** What is to be committed now, and what to do once it is. Null when nothing changed. */
export function takeBatch(state: MonitorState): Batch | null {
  return state.changes.empty ? null : batchOf(state);
}

/** The batch is safe on disk: the changes are forgotten, and with them what nobody needs in memory any more. */
export function batchStored(state: MonitorState): void {
  const messages = [...state.changes.messages];
  const incidents = new Set([...state.changes.incidents, ...endedIncidents(state, messages)]);
  state.changes.clear();
  forgetSettled(state, messages, incidents);
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

/** Incidents that the messages which just ended spoke of. */
function endedIncidents(state: MonitorState, messages: readonly string[]): string[] {
  return messages.flatMap((id) => {
    const message = state.messages.get(id);
    return message === undefined || message.state === 'pending'
      ? []
      : message.items.map((item) => item.incident);
  });
}
