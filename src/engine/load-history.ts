import type { Reading } from '../domain/reading.ts';
import { reloadLogSince } from '../spending/reading-log.ts';
import { scheduleAccount } from './judge.ts';
import { catchUpSpending, spendingKnownSince } from './learn-spending.ts';
import type { MonitorState } from './state.ts';
import type { WatchedAccount } from './watched-account.ts';

/**
 * What an account that is asleep has yet to be given of its stored readings: those since an instant and, for its log, the one
 * before that. All accounts at once at the start would keep everything waiting, so each gets its own when somebody first looks
 * at it or polls it, before anything else is appended.
 */
export function loadSince(state: MonitorState, account: WatchedAccount, now: number): number {
  return Math.min(logSince(account, now), spendingKnownSince(state, account));
}

/**
 * The memory that rules look back on, as it would be had lowwater not been restarted. In the order of their times, readings from
 * before and after a clock was set back would alternate, and look like spending: they come as they were stored, `readings`
 * from the newest one before `loadSince` on. Empty where they could not be read: rules that look back begin anew then.
 */
export function loadHistory(state: MonitorState, account: WatchedAccount, loaded: LoadedHistory): void {
  state.unloaded.delete(account.id);
  const since = logSince(account, loaded.now);
  const from = newestBefore(loaded.readings, since)?.at ?? since;
  for (const reading of loaded.readings) if (reading.at >= from) account.log.append(reading);
  if (loaded.areAll) state.unlearned.delete(account.id);
  catchUpSpending(state, account, loaded.readings);
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
