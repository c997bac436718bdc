import { dayMs, hourMs } from '../domain/duration.ts';
import { parseJson } from '../domain/json.ts';
import { isSameCurrency } from '../domain/money.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import { amountOf, hasSameBalances, type Reading } from '../domain/reading.ts';
import { frameOf } from './spending.ts';
import { type MonitorState, type WatchedAccount, writeNote } from './state.ts';

/** Notes with the runs that people announced, a list for each account. */
const prefix = 'announced:';
const reportedMs = dayMs;

/** Adds up what is spent in announced runs; those that were over a day ago are forgotten. */
export function followRuns(state: MonitorState, account: WatchedAccount, previous: Reading | null): void {
  const { reading } = account.poll;
  const known = state.announced.get(account.id);
  if (known === undefined || reading === null) return;
  const runs = known.filter(({ endsAt }) => reading.at < endsAt + reportedMs);
  const isComparable =
    previous !== null &&
    previous.at < reading.at &&
    isSameCurrency(reading.currency, previous.currency) &&
    hasSameBalances(reading, previous);
  const after = isComparable ? runs.map((run) => addSpending(account, run, previous, reading)) : runs;
  if (runs.length < known.length || after.some((run, index) => run !== runs[index]))
    keepAnnounced(state, account.id, after);
}

function addSpending(
  account: WatchedAccount,
  run: AnnouncedRun,
  previous: Reading,
  reading: Reading,
): AnnouncedRun {
  const inRunMs = Math.min(reading.at, run.endsAt) - Math.max(previous.at, run.startsAt);
  if (inRunMs <= 0) return run;
  const fell = Math.max(0, amountOf(previous, run.balance) - amountOf(reading, run.balance));
  const usual = account.spending.usual(run.balance)?.hour ?? 0;
  return {
    ...run,
    spentMicros: run.spentMicros + Math.round((fell * inRunMs) / (reading.at - previous.at)),
    usualMicros: run.usualMicros + Math.round((usual * inRunMs) / hourMs),
  };
}

export function restoreAnnounced(state: MonitorState): void {
  for (const { name, value } of state.notes.values()) {
    // Only `keepAnnounced` writes these notes.
    const stored: unknown = name.startsWith(prefix) ? parseJson(value) : null;
    if (Array.isArray(stored)) holdRuns(state, name.slice(prefix.length), stored);
  }
}

export function keepAnnounced(state: MonitorState, account: string, runs: readonly AnnouncedRun[]): void {
  if (runs.length > 0) writeNote(state, prefix + account, JSON.stringify(runs));
  else state.notes.delete(prefix + account);
  holdRuns(state, account, runs);
}

/** The forecast knows of them from now on. */
function holdRuns(state: MonitorState, id: string, runs: readonly AnnouncedRun[]): void {
  if (runs.length > 0) state.announced.set(id, runs);
  else state.announced.delete(id);
  const account = state.accounts.get(id);
  if (account !== undefined) account.spending.adopt(frameOf(state, account));
}
