import type { Incident } from '../domain/alert.ts';
import type { OutboxMessage } from '../domain/outbox.ts';
import {
  type Calendar,
  type Random,
  StorageError,
  type StoredState,
  type StoreReader,
} from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { reloadLogSince } from '../spending/reading-log.ts';
import { abandonUnknownChannels } from './channel-changes.ts';
import { followClock, skipUnwatched } from './clock-moved.ts';
import { untell } from './delivery-ended.ts';
import { catchUpSpending, restoreSpending } from './learn-spending.ts';
import { putMessage } from './queue.ts';
import { watchAccounts } from './reconfigure.ts';
import { scheduleSilences } from './silencing.ts';
import { emptyState, type MonitorState, wakeBy } from './state.ts';
import type { WatchedAccount } from './watched-account.ts';

/**
 * Messages that lay undelivered longer than this while lowwater was down are not sent any more (an old
 * backup, restored).
 */
const staleMessageMs = 7 * 86_400_000;

/** The note that says when the daemon was last known to be running. */
export const aliveNote = 'alive-at';

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

/**
 * Takes up the work where the last daemon stopped. The time in between counts neither as breach nor as
 * recovery: the clocks of alerts are moved along.
 */
function restoreState(state: MonitorState, reader: StoreReader, now: number): void {
  const stored = reader.load();
  const lastRun = lastRunOf(stored, now);
  state.endedCleanly = lastRun.exact;
  state.lastRunEndedAt = lastRun.endedAt;
  for (const [name, value] of Object.entries(stored.notes)) state.notes.hold(name, { name, value });
  // It spoke of that one end: were it still there when the clock has been set back, it would lie in the future.
  if (stored.notes[aliveNote] !== undefined) state.notes.delete(aliveNote);
  for (const account of stored.accounts) state.polled.hold(account.account, account);
  for (const alert of stored.alerts) state.alerts.hold(alert);
  for (const incident of stored.incidents) state.incidents.hold(incident.id, completed(incident));
  for (const silence of stored.silences) state.silences.hold(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.hold(backoff.group, backoff);
  restoreMessages(state, {
    reader,
    messages: stored.messages,
    downMs: Math.max(0, now - lastRun.endedAt),
    now,
  });
  watchAccounts(state, now);
  const spending = new Map(stored.spending.map((it) => [it.account, it]));
  for (const account of state.accounts.values()) {
    const graceMs = lastRun.exact ? 0 : account.pollIntervalMs;
    skipUnwatched(state, account.settings.id, Math.max(0, now - lastRun.endedAt - graceMs));
    restoreSpending(state, account, spending.get(account.id));
    state.asleep.add(account.id);
    account.recall = (it) => recall(state, it, { reader, now });
  }
  // The clock is behind where it was: what was measured on it would otherwise lie in the future.
  if (lastRun.endedAt > now) followClock(state, now - lastRun.endedAt, now);
  abandonUnknownChannels(state, now);
  scheduleSilences(state, now);
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
}

/**
 * What was stored before this process began, read when somebody first looks at an account or polls it: all accounts at once
 * would keep everything waiting. What is stored later is appended as it comes in, which is after this.
 */
function recall(
  state: MonitorState,
  account: WatchedAccount,
  { reader, now }: { readonly reader: StoreReader; readonly now: number },
): void {
  state.asleep.delete(account.id);
  if (account.poll.reading === null) return;
  try {
    fillLog(account, reader, now);
    catchUpSpending(state, account, reader);
  } catch (error) {
    // Polls and alerts go on while the database cannot be read; rules that look back begin anew.
    if (!(error instanceof StorageError)) throw error;
  }
}

/** What versions before did not store. They told nobody of an acknowledgement: it counts as told, so that none comes late. */
function completed(incident: Incident): Incident {
  const acknowledgedAt = incident.acknowledgement?.at ?? null;
  const told = Object.entries(incident.told).map(([channel, it]) => [
    channel,
    Object.hasOwn(it, 'acknowledgedAt') ? it : { ...it, acknowledgedAt },
  ]);
  return { ...incident, eased: incident.eased ?? null, told: Object.fromEntries(told) };
}

/**
 * When the last daemon ended. A daemon that was told to stop wrote it down. One that died is known to have
 * lived at its last poll, and perhaps for a poll interval after: so much is counted as watched, so that a
 * daemon that dies again and again still gets to the end of a `for` and notices staleness.
 */
function lastRunOf(stored: StoredState, now: number): { readonly endedAt: number; readonly exact: boolean } {
  const stoppedAt = Number(stored.notes[aliveNote] ?? Number.NaN);
  const polledAt = Math.max(...stored.accounts.map((it) => it.polledAt ?? Number.NEGATIVE_INFINITY));
  if (stoppedAt >= polledAt) return { endedAt: stoppedAt, exact: true };
  // Nothing was ever polled: there is no time in which anybody should have watched.
  if (!Number.isFinite(polledAt)) return { endedAt: now, exact: true };
  return { endedAt: polledAt, exact: false };
}

/**
 * The memory that rules look back on, as it would be had lowwater not been restarted. In the order of their times, readings from
 * before and after a clock was set back would alternate, and look like spending; the one at the window's start, too, stands where
 * it was stored.
 */
function fillLog(account: WatchedAccount, reader: StoreReader, now: number): void {
  const { id } = account.settings;
  const since = reloadLogSince({ windowMs: account.log.windowMs, now });
  const from = reader.readingBefore(id, since)?.at ?? since;
  const query = { account: id, since: from, until: Number.MAX_SAFE_INTEGER, asStored: true };
  for (const reading of reader.readings(query)) account.log.append(reading);
}

function restoreMessages(
  state: MonitorState,
  it: {
    readonly reader: StoreReader;
    readonly messages: readonly OutboxMessage[];
    readonly downMs: number;
    readonly now: number;
  },
): void {
  const { reader, downMs, now } = it;
  for (const message of it.messages) {
    const tooOld = now - message.createdAt > staleMessageMs && downMs > staleMessageMs;
    putMessage(
      state,
      tooOld
        ? { ...message, state: 'dead', lastError: 'too old when lowwater came back' }
        : { ...message, giveUpAt: message.giveUpAt + downMs },
    );
    // An incident whose end is on its way counts as settled in the database, but the message still needs it.
    for (const { incident } of message.items) {
      const known = state.incidents.has(incident) ? null : reader.incident(incident);
      if (known !== null) state.incidents.hold(incident, completed(known));
    }
    if (tooOld) untell(state, message, new Set());
  }
}

/**
 * What ended while nobody could be told is told now. Reminders and escalations of open incidents wait for one
 * poll of the account: the incident may be over.
 */
function resumeIncident(state: MonitorState, incident: Incident, now: number): void {
  const account = state.accounts.get(incident.account);
  if (incident.resolvedAt !== null || account === undefined) state.touched.add(incident.id);
  else wakeBy(state, `incident:${incident.id}`, now + account.pollIntervalMs);
}
