import { type Incident, mapNotified, oneKey, type TakeOver } from '../domain/alert.ts';
import type { Notification } from '../domain/outbox.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import type { Settings } from '../domain/settings.ts';
import { severities } from '../domain/severity.ts';
import { dayMs, minuteMs, weekMs } from '../domain/time.ts';
import type { Calendar, Random } from '../ports/clock.ts';
import type { StoredState } from '../ports/store.ts';
import { digestKeyNote } from './access.ts';
import { restoreAnnounced } from './announced-runs.ts';
import { accountsAtOnce } from './changed-accounts.ts';
import { followChannels, forgetUnreadableReceivers, noteUntold } from './channel-changes.ts';
import { unsent } from './delivery-ended.ts';
import { incidentOf, reunite } from './incidents.ts';
import { scheduleAccount } from './judge.ts';
import { pollGap } from './poll-gaps.ts';
import { putNotification } from './queue.ts';
import { watchAccounts } from './reconfigure.ts';
import { noteDamagedPolls, noteDamagedRecords, scheduleSelfAlerts } from './self-alerts.ts';
import { noteSetBack } from './set-back.ts';
import { applySilences, withdrawLost, withdrawNotified } from './silencing.ts';
import { restoreSpending } from './spending.ts';
import { MonitorState, scheduleBy, type WatchedAccount } from './state.ts';
import { shiftAlert } from './transition.ts';

/** Messages that were pending for longer while lowwater was down are not sent (a restored old backup). */
const staleMessageMs = weekMs;

/** A damaged instant must not hold up what comes behind it for ever. */
const longestWaitMs = dayMs;

/** The first polls come within half a minute (`firstPolls`): what was pending waits no longer for them. */
const maxConfirmMs = minuteMs;

/** Written when the daemon stopped on request. */
export const aliveNote = 'alive-at';

/** Readings of an account are loaded later (`spending.ts`). */
export function startMonitor(start: MonitorStart): MonitorState {
  return atOnce(restoreMonitor(start));
}

export interface MonitorStart {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly stored: StoredState;
  readonly now: number;
  /** Null where the same node, or one with the same configuration, owned the accounts before. */
  readonly takeOver?: TakeOver | null;
  /** `settings` are a part of those in force: what they do not name stays, and where accounts are read is not known. */
  readonly isOfPart?: boolean;
}

/** The time in between counts neither as breach nor as recovery: timestamps are shifted. Yields between thousands. */
export function* restoreMonitor(given: MonitorStart): Parts<MonitorState> {
  const { stored, now, takeOver = null, isOfPart = false, ...start } = given;
  const state = new MonitorState(start, now);
  state.takeOver = takeOver;
  state.isOfPart = isOfPart;
  const lastRun = lastRunOf(stored, now);
  state.endedCleanly = lastRun.exact;
  state.lastRunEndedAt = lastRun.endedAt;
  for (const [name, value] of Object.entries(stored.notes)) state.notes.setInMemory(name, { name, value });
  // It was about that one end: after the clock is set back it would lie in the future.
  if (stored.notes[aliveNote] !== undefined) state.notes.delete(aliveNote);
  forgetUnreadableReceivers(state);
  const downMs = Math.max(0, now - lastRun.endedAt);
  yield* holdStored(state, stored);
  reunite(state, now);
  for (const message of stored.messages) restoreMessage(state, message, downMs, now);
  yield* watchAccounts(state, state.settings.accounts, now);
  yield* resumeAccounts(state, stored, now);
  // The clock is behind: timestamps would lie in the future.
  if (lastRun.endedAt > now) followClock(state, now - lastRun.endedAt, now);
  // A daemon that dies before its first poll: the next one counts from here.
  state.notes.write(livedNote, String(now));
  noteUntold(state, now);
  followChannels(state, now);
  state.expected.restore();
  restoreAnnounced(state);
  applySilences(state, now);
  scheduleSelfAlerts(state);
  noteDamagedPolls(state, stored.damaged, now);
  noteDamagedRecords(state, stored.damagedRecords ?? [], now);
  for (const { source, key: id, at } of stored.damagedRecords ?? [])
    if (source === 'message' && at !== undefined) withdrawLost(state, { id, at });
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
  state.takeOver = null;
  return state;
}

function* holdStored(state: MonitorState, stored: StoredState): Parts<void> {
  for (const account of stored.accounts) {
    // Versions before stored neither, and a digest under a key that was lost says nothing.
    const { seriesSince = 0 } = account;
    const purse = state.notes.has(digestKeyNote) && !state.isOfPart ? (account.purse ?? null) : null;
    state.polled.setInMemory(account.account, { ...account, purse, seriesSince });
    // One that came back and was not read since has history too.
    state.unloaded.add(account.account);
  }
  yield;
  for (const alert of stored.alerts) state.alerts.setInMemory(alert);
  for (const incident of stored.incidents) holdIncident(state, incident);
  for (const silence of stored.silences) state.silences.setInMemory(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.setInMemory(backoff.group, backoff);
}

/** The time without a daemon is skipped; what was due to be polled in it has to be confirmed. */
function* resumeAccounts(state: MonitorState, stored: StoredState, now: number): Parts<void> {
  const unwatchedMs = now - state.lastRunEndedAt;
  const spending = new Map(stored.spending.map((row) => [row.account, row]));
  for (const accounts of inParts(state.accounts.values(), accountsAtOnce)) {
    for (const account of accounts) {
      const graceMs = state.endedCleanly ? 0 : account.pollIntervalMs;
      skipUnwatched(state, account.settings.id, Math.max(0, unwatchedMs - graceMs), now);
      restoreSpending(state, account, spending.get(account.id));
      awaitPoll(state, account, unwatchedMs, now);
    }
    yield;
  }
}

/** Messages about what is open wait for a poll of the account: it may be over since. */
function awaitPoll(state: MonitorState, account: WatchedAccount, unwatchedMs: number, now: number): void {
  const open = [...account.alerts.values()].flatMap(({ incident }) => incident ?? []);
  if (unwatchedMs <= account.pollIntervalMs || open.length === 0) return;
  state.unconfirmed.set(account.id, open);
  state.unconfirmedUntil = now + maxConfirmMs;
}

function holdIncident(state: MonitorState, incident: Incident): void {
  if (incident.resolvedAt !== null || state.endedCleanly) state.incidents.setInMemory(incident.id, incident);
  else state.incidents.set(incident.id, perhapsRisen(incident));
}

/** Tools may have it under keys more than a daemon stored that died: one for each level that it can rise. */
function perhapsRisen(incident: Incident): Incident {
  return mapNotified(incident, ({ keys = oneKey, ...last }) => ({
    ...last,
    keys: { ...keys, unstored: keys.newest + severities.length - 1 },
  }));
}

/**
 * When the last daemon ended. One that stopped on request wrote it down. One that died lived at its last
 * poll, new account, message, start or clock change, and perhaps for a poll interval after: that much counts as watched, so that a
 * daemon that dies again and again still completes a `for` and detects staleness.
 */
function lastRunOf(stored: StoredState, now: number): { readonly endedAt: number; readonly exact: boolean } {
  const stoppedAt = Number(stored.notes[aliveNote] ?? Number.NaN);
  let livedAt = Number(stored.notes[livedNote] ?? Number.NEGATIVE_INFINITY);
  for (const { polledAt, firstSeenAt } of stored.accounts) {
    // One that came by a reload may not have been polled yet. A moment to come was seen by a clock that was off. Polls move
    // along with a clock that is set back, the moment in which an account was seen does not.
    livedAt = Math.max(livedAt, polledAt ?? (firstSeenAt > now ? livedAt : firstSeenAt));
  }
  // Accounts that are pushed may be silent for days.
  for (const { notified } of stored.incidents)
    for (const { at } of Object.values(notified)) livedAt = Math.max(livedAt, at > now ? livedAt : at);
  if (stoppedAt >= livedAt) return { endedAt: stoppedAt, exact: true };
  // Nobody ever ran: there is no time in which anybody should have watched.
  if (!Number.isFinite(livedAt)) return { endedAt: now, exact: true };
  return { endedAt: livedAt, exact: false };
}

/** The same of a daemon that owned the accounts at an instant, as those that share its database saw, and did not write when it ended. */
export function livedUntil(stored: StoredState, at: number): StoredState {
  const { [aliveNote]: stoppedAt, [livedNote]: known } = stored.notes;
  if (stoppedAt !== undefined || at <= Number(known)) return stored;
  return { ...stored, notes: { ...stored.notes, [livedNote]: String(at) } };
}

function restoreMessage(state: MonitorState, message: Notification, downMs: number, now: number): void {
  const tooOld = now - message.createdAt > staleMessageMs && downMs > staleMessageMs;
  if (!state.endedCleanly) state.inherited.add(message.id);
  putNotification(
    state,
    tooOld
      ? { ...message, state: 'dead', lastError: unsent.tooOld() }
      : {
          ...message,
          dueAt: Math.min(message.dueAt, now + longestWaitMs),
          giveUpAt: message.giveUpAt + downMs,
        },
  );
  if (tooOld) withdrawNotified(state, message, new Set());
}

/** Ends are notified now. What is open waits for a poll of the account, which may be a day away, for a minute at most: it may be over. */
function resumeIncident(state: MonitorState, incident: Incident, now: number): void {
  const account = state.accounts.get(incident.account);
  if (incident.resolvedAt !== null || account === undefined) state.touched.add(incident.id);
  else scheduleBy(state, `incident:${incident.id}`, now + Math.min(account.pollIntervalMs, maxConfirmMs));
}

/** When a daemon lived. Written when records were shifted, so that the next does not shift them again. */
export const livedNote = 'lived-at';

/** The clock changed or the machine slept: what counts by time comes neither early nor late. Silences are looked up. */
export function followClock(state: MonitorState, byMs: number, now: number): void {
  noteSetBack(state, byMs, now);
  state.due.shift(byMs);
  state.unconfirmedUntil += byMs;
  for (const [id, account] of state.accounts) {
    shiftAccount(state, id, byMs, now);
    awaitPoll(state, account, byMs, now);
    // A series that began by a clock that was ahead would leave out all readings until then.
    if (account.poll.seriesSince > now) account.poll = { ...account.poll, seriesSince: now };
  }
  for (const alert of [...state.alerts.values()]) state.alerts.set(shiftAlert(alert, byMs));
  for (const incident of [...state.incidents.values()])
    state.incidents.set(incident.id, shiftIncident(incident, byMs));
  for (const message of [...state.messages.values()]) {
    if (message.state !== 'pending') continue;
    const { dueAt, giveUpAt } = message;
    state.messages.set(message.id, { ...message, dueAt: dueAt + byMs, giveUpAt: giveUpAt + byMs });
  }
  if (byMs < 0) shiftWaits(state, byMs);
  // A clock that is set back into a schedule's hours may make an account stale that rested before.
  for (const account of state.accounts.values()) scheduleAccount(state, account);
  for (const [key, { at, rises }] of [...state.channelTries])
    state.channelTries.set(key, { at: at + byMs, rises });
  state.notes.write(livedNote, String(now));
  for (const silence of [...state.silences.values()])
    if (silence.expired && silence.endsAt > now) state.silences.set(silence.id, { ...silence, endsAt: now });
  applySilences(state, now);
  resumeIncidents(state, now);
}

/** Incidents that a silence held back which ended meanwhile may be over too. */
function resumeIncidents(state: MonitorState, now: number): void {
  for (const incident of state.incidents.values())
    if (state.unconfirmed.has(incident.account)) resumeIncident(state, incident, now);
    else state.touched.add(incident.id);
}

/** Time in which nobody watched counts as nothing, and nobody could acknowledge in it. `began`: an account seen first then did not miss it. */
export function skipUnwatched(state: MonitorState, id: string, byMs: number, began?: number): void {
  if (byMs === 0) return;
  shiftAccount(state, id, byMs, began);
  for (const alert of [...state.alerts.of(id).values()]) {
    state.alerts.set(shiftAlert(alert, byMs));
    const incident = incidentOf(state, alert);
    if (incident === undefined) continue;
    const paused = mapNotified(incident, (last) => ({ ...last, pausedMs: (last.pausedMs ?? 0) + byMs }));
    state.incidents.set(incident.id, { ...paused, escalationSince: incident.escalationSince + byMs });
  }
}

function shiftAccount(state: MonitorState, id: string, byMs: number, began: number | undefined): void {
  const account = state.accounts.get(id);
  if (account === undefined) return;
  const { polledAt, reading, firstSeenAt, unwatchedMs } = account.poll;
  account.poll = {
    ...account.poll,
    unwatchedMs: reading === null && firstSeenAt === began ? unwatchedMs : unwatchedMs + byMs,
    // A poll in the future would look like another clock change after a restart.
    polledAt: polledAt === null || byMs > 0 ? polledAt : polledAt + byMs,
  };
  const pollGapMs = pollGap(state.calendar, account.settings.poll, account.poll);
  if (pollGapMs === account.pollGapMs) return;
  // Other polls are due now, perhaps sooner.
  account.pollGapMs = pollGapMs;
  scheduleAccount(state, account);
}

/** Only for a clock that was set back: a machine that slept has waited meanwhile, for the provider too. */
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
  const shifted = mapNotified(incident, (last) => ({
    ...last,
    at: last.at + byMs,
    escalatedAt: last.escalatedAt === null ? null : last.escalatedAt + byMs,
  }));
  return { ...shifted, escalationSince: incident.escalationSince + byMs };
}
