import type { Incident } from '../domain/alert.ts';
import { weekMs } from '../domain/duration.ts';
import type { Notification } from '../domain/outbox.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import type { Settings } from '../domain/settings.ts';
import type { Calendar, Random } from '../ports/clock.ts';
import type { StoredState } from '../ports/store.ts';
import { abandonUnknownChannels } from './channel-changes.ts';
import { followClock, livedNote, skipUnwatched } from './clock-change.ts';
import { noteDamagedPolls } from './damaged-polls.ts';
import { restoreSpending } from './learn-spending.ts';
import { putMessage } from './queue.ts';
import { accountsAtOnce, watchAccounts } from './reconfigure.ts';
import { untell } from './retract.ts';
import { scheduleSilences } from './silencing.ts';
import { emptyState, type MonitorState, wakeBy, writeNote } from './state.ts';

/**
 * Messages that lay undelivered longer than this while lowwater was down are not sent any more (an old
 * backup, restored).
 */
const staleMessageMs = weekMs;

/** The note that says when the daemon was told to stop and had done so. */
export const aliveNote = 'alive-at';

/**
 * The daemon's knowledge at its start: what the configuration names and the database remembers. What was read of each account
 * before is yet to be recalled (`recall.ts`).
 */
export function startMonitor(start: MonitorStart): MonitorState {
  return atOnce(restoreMonitor(start));
}

export interface MonitorStart {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly stored: StoredState;
  readonly now: number;
}

/**
 * Takes up the work where the last daemon stopped. The time in between counts neither as breach nor as
 * recovery: the clocks of alerts are moved along. Between thousands of accounts others may have their turn.
 */
export function* restoreMonitor({ stored, now, ...start }: MonitorStart): Parts<MonitorState> {
  const state = emptyState({ ...start, now });
  const lastRun = lastRunOf(stored, now);
  state.endedCleanly = lastRun.exact;
  state.lastRunEndedAt = lastRun.endedAt;
  for (const [name, value] of Object.entries(stored.notes)) state.notes.hold(name, { name, value });
  // It spoke of that one end: were it still there when the clock has been set back, it would lie in the future.
  if (stored.notes[aliveNote] !== undefined) state.notes.delete(aliveNote);
  for (const account of stored.accounts) {
    state.polled.hold(account.account, account);
    if (account.reading !== null) state.unloaded.add(account.account);
  }
  yield;
  for (const alert of stored.alerts) state.alerts.hold(alert);
  for (const incident of stored.incidents) state.incidents.hold(incident.id, completed(incident));
  for (const silence of stored.silences) state.silences.hold(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.hold(backoff.group, backoff);
  const downMs = Math.max(0, now - lastRun.endedAt);
  for (const message of stored.messages) restoreMessage(state, message, { downMs, now });
  yield* watchAccounts(state, now);
  const spending = new Map(stored.spending.map((it) => [it.account, it]));
  for (const accounts of inParts(state.accounts.values(), accountsAtOnce)) {
    for (const account of accounts) {
      const graceMs = lastRun.exact ? 0 : account.pollIntervalMs;
      skipUnwatched(state, account.settings.id, Math.max(0, now - lastRun.endedAt - graceMs));
      restoreSpending(state, account, spending.get(account.id));
    }
    yield;
  }
  // The clock is behind where it was: what was measured on it would otherwise lie in the future.
  if (lastRun.endedAt > now) followClock(state, now - lastRun.endedAt, now);
  // The time until now has been counted: who follows a daemon that dies before its first poll counts from here.
  writeNote(state, livedNote, String(now));
  abandonUnknownChannels(state, now);
  scheduleSilences(state, now);
  noteDamagedPolls(state, stored.damaged, now);
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
  return state;
}

/** What versions before did not store. They told nobody of an acknowledgement: it counts as told, so that none comes late. */
function completed(incident: Incident): Incident {
  const acknowledgedAt = incident.acknowledgement?.at ?? null;
  const notified = Object.entries(incident.notified).map(([channel, it]) => [
    channel,
    Object.hasOwn(it, 'acknowledgedAt') ? it : { ...it, acknowledgedAt },
  ]);
  return { ...incident, eased: incident.eased ?? null, notified: Object.fromEntries(notified) };
}

/**
 * When the last daemon ended. A daemon that was told to stop wrote it down. One that died is known to have
 * lived at its last poll, its start and the last jump of its clock, and perhaps for a poll interval after: so much is
 * counted as watched, so that a daemon that dies again and again still gets to the end of a `for` and notices staleness.
 */
function lastRunOf(stored: StoredState, now: number): { readonly endedAt: number; readonly exact: boolean } {
  const stoppedAt = Number(stored.notes[aliveNote] ?? Number.NaN);
  const polledAt = stored.accounts.map((it) => it.polledAt ?? Number.NEGATIVE_INFINITY);
  const livedAt = Math.max(Number(stored.notes[livedNote] ?? Number.NEGATIVE_INFINITY), ...polledAt);
  if (stoppedAt >= livedAt) return { endedAt: stoppedAt, exact: true };
  // Nobody ever ran: there is no time in which anybody should have watched.
  if (!Number.isFinite(livedAt)) return { endedAt: now, exact: true };
  return { endedAt: livedAt, exact: false };
}

function restoreMessage(
  state: MonitorState,
  message: Notification,
  { downMs, now }: { readonly downMs: number; readonly now: number },
): void {
  const tooOld = now - message.createdAt > staleMessageMs && downMs > staleMessageMs;
  putMessage(
    state,
    tooOld
      ? { ...message, state: 'dead', lastError: 'too old when lowwater came back' }
      : { ...message, giveUpAt: message.giveUpAt + downMs },
  );
  if (tooOld) untell(state, message, new Set());
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
