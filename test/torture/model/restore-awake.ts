import { startMonitor } from '../../../src/engine/restore.ts';
import { loadHistory, loadSince } from '../../../src/engine/spending.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';

/** The state of the process that just began, with the history that its accounts will have once it is loaded. */
export function restoreLoaded(
  { settings, calendar }: MonitorState,
  store: SqliteStore,
  now: number,
): MonitorState {
  const random = { fraction: () => 0.5, id: () => 'none', bytes: (length: number) => Buffer.alloc(length) };
  const state = startMonitor({ settings, calendar, random, stored: store.load(), now });
  for (const id of [...state.unloaded]) {
    const account = state.accounts.get(id);
    if (account === undefined) continue;
    const since = loadSince(state, account, now);
    const before = store.readingBefore(id, since);
    const query = { account: id, since: before?.at ?? since, until: Number.MAX_SAFE_INTEGER, asStored: true };
    loadHistory(state, account, {
      readings: [...store.readings(query)].flat(),
      areAll: before === null,
    });
  }
  return state;
}
