import type { Reading } from '../domain/reading.ts';
import { reloadLogSince } from '../spending/reading-log.ts';
import { scheduleAccount } from './judge.ts';
import { catchUpSpending, spendingKnownSince } from './learn-spending.ts';
import type { MonitorState } from './state.ts';
import type { WatchedAccount } from './watched-account.ts';

/**
 * From when on stored readings have to be loaded: for the log, the one before its window too. Each account
 * loads its own when it is first polled or looked at, before any other reading is appended: all at once would
 * delay the start.
 */
export function loadSince(state: MonitorState, account: WatchedAccount, now: number): number {
  return Math.min(logSince(account, now), spendingKnownSince(state, account));
}

/**
 * Fills the log as if lowwater had not restarted. Readings come in the order of storage: by time, those from
 * before and after a clock change would alternate and look like spending. Empty where they could not be read:
 * rules that look back begin without history then.
 */
export function loadHistory(state: MonitorState, account: WatchedAccount, loaded: LoadedHistory): void {
  state.unloaded.delete(account.id);
  const { seriesSince } = account.poll;
  const readings = loaded.readings.filter(({ at }) => at >= seriesSince);
  const since = logSince(account, loaded.now);
  const from = newestBefore(readings, since)?.at ?? since;
  for (const reading of readings) if (reading.at >= from) account.log.append(reading);
  if (loaded.areAll) state.unlearned.delete(account.id);
  catchUpSpending(state, account, readings);
  // Waited for this.
  scheduleAccount(state, account);
}

export interface LoadedHistory {
  readonly readings: readonly Reading[];
  readonly areAll: boolean;
  readonly now: number;
}

function logSince(account: WatchedAccount, now: number): number {
  return reloadLogSince({ windowMs: account.log.windowMs, now });
}

function newestBefore(readings: readonly Reading[], at: number): Reading | null {
  return readings.reduce<Reading | null>(
    (newest, reading) => (reading.at < at && (newest === null || reading.at > newest.at) ? reading : newest),
    null,
  );
}
