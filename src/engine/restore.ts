import type { Heir, Incident } from '../domain/alert.ts';
import { minuteMs, weekMs } from '../domain/duration.ts';
import type { Notification } from '../domain/outbox.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import type { Settings } from '../domain/settings.ts';
import type { Calendar, Random } from '../ports/clock.ts';
import type { StoredState } from '../ports/store.ts';
import { followChannels } from './channel-changes.ts';
import { followClock, livedNote, skipUnwatched } from './clock-change.ts';
import { noteDamagedPolls } from './damaged-polls.ts';
import { restoreExpected } from './expect-top-up.ts';
import { restoreSpending } from './learn-spending.ts';
import { putNotification } from './queue.ts';
import { accountsAtOnce, watchAccounts } from './reconfigure.ts';
import { withdrawNotified } from './retract.ts';
import { scheduleSelfAlerts } from './self-alerts.ts';
import { scheduleSilences } from './silencing.ts';
import { MonitorState, scheduleBy, writeNote } from './state.ts';

/**
 * Notifications that were pending for longer while lowwater was down are not sent (a restored old backup).
 */
const staleMessageMs = weekMs;

/** The first polls come within half a minute (`domain/schedule.ts`): what was pending waits no longer for them. */
const maxConfirmMs = minuteMs;

/** Written when the daemon stopped on request. */
export const aliveNote = 'alive-at';

/**
 * The state at the start, from configuration and database. Readings of an account are loaded later
 * (`load-history.ts`).
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
  /** Where another node owned the accounts before, and had another configuration. */
  readonly heir?: Heir | null;
}

/**
 * Continues where the last daemon stopped. The time in between counts neither as breach nor as recovery:
 * timestamps are shifted. Yields between thousands of accounts.
 */
export function* restoreMonitor({ stored, now, heir = null, ...start }: MonitorStart): Parts<MonitorState> {
  const state = new MonitorState(start, now);
  state.heir = heir;
  const lastRun = lastRunOf(stored, now);
  state.endedCleanly = lastRun.exact;
  state.lastRunEndedAt = lastRun.endedAt;
  for (const [name, value] of Object.entries(stored.notes)) state.notes.hold(name, { name, value });
  // It was about that one end: after the clock is set back it would lie in the future.
  if (stored.notes[aliveNote] !== undefined) state.notes.delete(aliveNote);
  holdAccounts(state, stored.accounts);
  yield;
  for (const alert of stored.alerts) state.alerts.hold(alert);
  const downMs = Math.max(0, now - lastRun.endedAt);
  holdIncidents(state, stored.incidents, downMs);
  for (const silence of stored.silences) state.silences.hold(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.hold(backoff.group, backoff);
  for (const message of stored.messages) restoreMessage(state, message, { downMs, now });
  yield* watchAccounts(state, now);
  const spending = new Map(stored.spending.map((row) => [row.account, row]));
  for (const accounts of inParts(state.accounts.values(), accountsAtOnce)) {
    for (const account of accounts) {
      const graceMs = lastRun.exact ? 0 : account.pollIntervalMs;
      skipUnwatched(state, account.settings.id, Math.max(0, now - lastRun.endedAt - graceMs));
      restoreSpending(state, account, spending.get(account.id));
      if (downMs > account.pollIntervalMs) state.unconfirmed.add(account.id);
    }
    yield;
  }
  // The clock is behind: timestamps would lie in the future.
  if (lastRun.endedAt > now) followClock(state, now - lastRun.endedAt, now);
  // A daemon that dies before its first poll: the next one counts from here.
  writeNote(state, livedNote, String(now));
  state.unconfirmedUntil = now + maxConfirmMs;
  followChannels(state, now);
  restoreExpected(state);
  scheduleSilences(state, now);
  scheduleSelfAlerts(state);
  noteDamagedPolls(state, stored.damaged, now);
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
  state.heir = null;
  return state;
}

function holdAccounts(state: MonitorState, accounts: StoredState['accounts']): void {
  for (const account of accounts) {
    // Versions before stored neither.
    const { purse = null, seriesSince = 0 } = account;
    state.polled.hold(account.account, { ...account, purse, seriesSince });
    if (account.reading !== null) state.unloaded.add(account.account);
  }
}

function holdIncidents(state: MonitorState, incidents: readonly Incident[], downMs: number): void {
  for (const incident of incidents) {
    const whole = completed(incident, downMs);
    // The next daemon counts from this start on.
    if (downMs > 0 && incident.resolvedAt === null) state.incidents.set(incident.id, whole);
    else state.incidents.hold(incident.id, whole);
  }
}

/**
 * Fields that older versions did not store. They did not notify of acknowledgements: those count as notified,
 * so that none comes late.
 */
function completed(incident: Incident, downMs: number): Incident {
  const acknowledgedAt = incident.acknowledgement?.at ?? null;
  const isOpen = incident.resolvedAt === null && downMs > 0;
  const notified = Object.entries(incident.notified).map(([channel, last]) => {
    const whole = Object.hasOwn(last, 'acknowledgedAt') ? last : { ...last, acknowledgedAt };
    return [channel, isOpen ? { ...whole, pausedMs: (last.pausedMs ?? 0) + downMs } : whole];
  });
  return { ...incident, eased: incident.eased ?? null, notified: Object.fromEntries(notified) };
}

/**
 * When the last daemon ended. One that stopped on request wrote it down. One that died lived at its last
 * poll, start or clock change, and perhaps for a poll interval after: that much counts as watched, so that a
 * daemon that dies again and again still completes a `for` and detects staleness.
 */
function lastRunOf(stored: StoredState, now: number): { readonly endedAt: number; readonly exact: boolean } {
  const stoppedAt = Number(stored.notes[aliveNote] ?? Number.NaN);
  const polledAt = stored.accounts.map((account) => account.polledAt ?? Number.NEGATIVE_INFINITY);
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
  if (!state.endedCleanly) state.inherited.add(message.id);
  putNotification(
    state,
    tooOld
      ? { ...message, state: 'dead', lastError: 'too old when lowwater came back' }
      : { ...message, giveUpAt: message.giveUpAt + downMs },
  );
  if (tooOld) withdrawNotified(state, message, new Set());
}

/**
 * Ends are notified now. Reminders and escalations of open incidents wait for a poll of the account: the
 * incident may be over.
 */
function resumeIncident(state: MonitorState, incident: Incident, now: number): void {
  const account = state.accounts.get(incident.account);
  if (incident.resolvedAt !== null || account === undefined) state.touched.add(incident.id);
  else scheduleBy(state, `incident:${incident.id}`, now + account.pollIntervalMs);
}
