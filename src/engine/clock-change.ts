import type { Incident } from '../domain/alert.ts';
import type { Notification } from '../domain/outbox.ts';
import { incidentOf } from './incidents.ts';
import { scheduleAccount } from './judge.ts';
import { pollGap } from './poll-gaps.ts';
import { reviewSilences } from './retract.ts';
import { type MonitorState, writeNote } from './state.ts';
import { shiftAlert } from './transition.ts';

/**
 * The note that says when a daemon lived, by the clock of its records. Written when they were shifted, so
 * that the next daemon does not shift them again.
 */
export const livedNote = 'lived-at';

/**
 * The wall clock changed or the machine slept: timestamps are shifted, so that staleness, `for`, reminders
 * and retries come neither early nor late. Silences are by the calendar and looked up again.
 */
export function followClock(state: MonitorState, byMs: number, now: number): void {
  state.due.shift(byMs);
  for (const id of state.accounts.keys()) shiftAccount(state, id, byMs);
  for (const alert of [...state.alerts.values()]) state.alerts.set(shiftAlert(alert, byMs));
  for (const incident of [...state.incidents.values()]) {
    state.incidents.set(incident.id, shiftIncident(incident, byMs));
  }
  for (const message of [...state.messages.values()]) {
    if (message.state !== 'pending') continue;
    state.messages.set(message.id, shiftMessage(message, byMs));
  }
  if (byMs < 0) shiftWaits(state, byMs);
  for (const account of state.accounts.values()) {
    // A clock that is set back into a schedule's hours may make an account stale that rested before.
    scheduleAccount(state, account);
  }
  for (const [key, at] of [...state.channelTries]) state.channelTries.set(key, at + byMs);
  writeNote(state, livedNote, String(now));
  reviewSilences(state, now);
}

/**
 * Time in which nobody watched an account counts neither as breach nor as recovery nor as staleness, and
 * nobody could acknowledge in it.
 */
export function skipUnwatched(state: MonitorState, id: string, byMs: number): void {
  if (byMs === 0) return;
  shiftAccount(state, id, byMs);
  for (const alert of [...state.alerts.of(id).values()]) {
    state.alerts.set(shiftAlert(alert, byMs));
    const incident = incidentOf(state, alert);
    if (incident === undefined) continue;
    state.incidents.set(incident.id, { ...incident, escalationSince: incident.escalationSince + byMs });
  }
}

function shiftAccount(state: MonitorState, id: string, byMs: number): void {
  const account = state.accounts.get(id);
  if (account === undefined) return;
  const { polledAt } = account.poll;
  account.poll = {
    ...account.poll,
    unwatchedMs: account.poll.unwatchedMs + byMs,
    // A poll in the future would look like another clock change after a restart.
    polledAt: polledAt === null || byMs > 0 ? polledAt : polledAt + byMs,
  };
  const pollGapMs = pollGap(state.calendar, account.settings.poll, account.poll);
  if (pollGapMs === account.pollGapMs) return;
  // Other polls are due now, perhaps sooner.
  account.pollGapMs = pollGapMs;
  scheduleAccount(state, account);
}

/**
 * Only for a clock that was set back. A machine that slept has waited meanwhile: what the provider asked for is over when it
 * is over for the provider.
 */
function shiftWaits(state: MonitorState, byMs: number): void {
  for (const backoff of [...state.backoffs.values()]) {
    if (backoff.until === 0) continue;
    state.backoffs.set(backoff.group, { ...backoff, until: backoff.until + byMs });
  }
  for (const account of state.accounts.values()) {
    const { retryAt } = account.poll;
    if (retryAt !== null) account.poll = { ...account.poll, retryAt: retryAt + byMs };
  }
}

function shiftIncident(incident: Incident, byMs: number): Incident {
  const notified = Object.entries(incident.notified).map(([channel, last]) => {
    const escalatedAt = last.escalatedAt === null ? null : last.escalatedAt + byMs;
    return [channel, { ...last, at: last.at + byMs, escalatedAt }] as const;
  });
  return {
    ...incident,
    escalationSince: incident.escalationSince + byMs,
    notified: Object.fromEntries(notified),
  };
}

function shiftMessage(message: Notification, byMs: number): Notification {
  return { ...message, dueAt: message.dueAt + byMs, giveUpAt: message.giveUpAt + byMs };
}
