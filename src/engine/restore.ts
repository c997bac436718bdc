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

/** Older messages are not sent if lowwater was down for longer than this too, as after the restore of an old backup. */
const staleMessageMs = weekMs;

/** A damaged instant must not hold up the messages behind it for ever. */
const longestWaitMs = dayMs;

/** Pending messages wait no longer than this for the first polls, which come within half a minute (`firstPolls`). */
const maxConfirmMs = minuteMs;

/** The note of when the daemon stopped on request. */
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
  /** Null when the same node, or one with the same configuration, owned the accounts before. */
  readonly takeOver?: TakeOver | null;
  /** `settings` are only a part of those in force: what they do not name stays, and the addresses of accounts are not known. */
  readonly isOfPart?: boolean;
}

/** Restores the state. The time in between counts neither as breach nor as recovery: timestamps are shifted. Yields between thousands of accounts. */
export function* restoreMonitor(given: MonitorStart): Parts<MonitorState> {
  const { stored, now, takeOver = null, isOfPart = false, ...start } = given;
  const state = new MonitorState(start, now);
  state.takeOver = takeOver;
  state.isOfPart = isOfPart;
  const lastRun = lastRunOf(stored, now);
  state.endedCleanly = lastRun.exact;
  state.lastRunEndedAt = lastRun.endedAt;
  for (const [name, value] of Object.entries(stored.notes)) state.notes.setInMemory(name, { name, value });
  // The note was about that one end: after the clock is set back it would lie in the future.
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
  for (const { key: id, at } of stored.damagedRecords ?? [])
    if (at !== undefined) withdrawLost(state, { id, at });
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
  state.takeOver = null;
  return state;
}

function* holdStored(state: MonitorState, stored: StoredState): Parts<void> {
  for (const account of stored.accounts) {
    // Earlier versions stored neither, and a digest under a key that was lost says nothing.
    const { seriesSince = 0 } = account;
    const purse = state.notes.has(digestKeyNote) && !state.isOfPart ? (account.purse ?? null) : null;
    state.polled.setInMemory(account.account, { ...account, purse, seriesSince });
    // An account that came back and was not read since has history too.
    state.unloaded.add(account.account);
  }
  yield;
  for (const alert of stored.alerts) state.alerts.setInMemory(alert);
  for (const incident of stored.incidents) holdIncident(state, incident);
  for (const silence of stored.silences) state.silences.setInMemory(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.setInMemory(backoff.group, backoff);
}

/** Skips the time without a daemon. Open incidents of accounts whose poll was due in it have to be confirmed. */
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

/** Messages about open incidents wait for a poll of the account, because the incidents may be over since. */
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

/** Incident tools may have more keys of it than a daemon that died has stored: one for each level that it can rise. */
function perhapsRisen(incident: Incident): Incident {
  return mapNotified(incident, ({ keys = oneKey, ...last }) => ({
    ...last,
    keys: { ...keys, unstored: keys.newest + severities.length - 1 },
  }));
}

/**
 * When the last daemon ended. A daemon that stopped on request wrote it down. One that died was alive at its last
 * poll, new account, message, start or clock change, and perhaps for a poll interval after that. This interval counts as watched, so that a
 * daemon that dies again and again still completes a `for` and detects staleness.
 */
function lastRunOf(stored: StoredState, now: number): { readonly endedAt: number; readonly exact: boolean } {
  const stoppedAt = Number(stored.notes[aliveNote] ?? Number.NaN);
  let livedAt = Number(stored.notes[livedNote] ?? Number.NEGATIVE_INFINITY);
  for (const { polledAt, firstSeenAt } of stored.accounts) {
    // An account that came by a reload may not have been polled yet. An instant in the future was set by a clock that was off: polls
    // move along with a clock that is set back, but the instant at which an account was first seen does not.
    livedAt = Math.max(livedAt, polledAt ?? (firstSeenAt > now ? livedAt : firstSeenAt));
  }
  // Notifications count too, because pushed accounts may be silent for days.
  for (const { notified } of stored.incidents)
    for (const { at } of Object.values(notified)) livedAt = Math.max(livedAt, at > now ? livedAt : at);
  if (stoppedAt >= livedAt) return { endedAt: stoppedAt, exact: true };
  // No daemon ever ran: there is no time in which one should have watched.
  if (!Number.isFinite(livedAt)) return { endedAt: now, exact: true };
  return { endedAt: livedAt, exact: false };
}

/** The stored state with `at` as the instant at which its daemon last lived, as others that share the database saw, unless it wrote its own end. */
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

/** Ends are notified now. Open incidents may be over: they wait for a poll of the account, for a minute at most, because it may be a day away. */
function resumeIncident(state: MonitorState, incident: Incident, now: number): void {
  const account = state.accounts.get(incident.account);
  if (incident.resolvedAt !== null || account === undefined) state.touched.add(incident.id);
  else scheduleBy(state, `incident:${incident.id}`, now + Math.min(account.pollIntervalMs, maxConfirmMs));
}

/** The note of when a daemon lived. It is written when records were shifted, so that the next daemon does not shift them again. */
export const livedNote = 'lived-at';

/** Follows a clock that changed or a machine that slept: what counts by time comes neither early nor late. Silences are looked up again. */
export function followClock(state: MonitorState, byMs: number, now: number): void {
  noteSetBack(state, byMs, now);
  state.due.shift(byMs);
  state.unconfirmedUntil += byMs;
  for (const [id, account] of state.accounts) {
    shiftAccount(state, id, byMs, now);
    awaitPoll(state, account, byMs, now);
    // A series that began by a clock that was ahead would leave out all readings until that instant.
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
  // A clock that is set back into the hours of a poll schedule may make an account stale whose polls rested before.
  for (const account of state.accounts.values()) scheduleAccount(state, account);
  for (const [key, { at, rises }] of [...state.channelTries])
    state.channelTries.set(key, { at: at + byMs, rises });
  state.notes.write(livedNote, String(now));
  for (const silence of [...state.silences.values()])
    if (silence.expired && silence.endsAt > now) state.silences.set(silence.id, { ...silence, endsAt: now });
  applySilences(state, now);
  resumeIncidents(state, now);
}

/** Has all incidents decided on again. Those that await a poll go on waiting: if their silence ended meanwhile, they may be over too. */
function resumeIncidents(state: MonitorState, now: number): void {
  for (const incident of state.incidents.values())
    if (state.unconfirmed.has(incident.account)) resumeIncident(state, incident, now);
    else state.touched.add(incident.id);
}

/** Time in which nobody watched counts as nothing, and nobody could acknowledge in it. An account that was first seen at `began` did not miss it. */
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

/** Only when the clock was set back: a machine that slept has already waited that long, for the provider too. */
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
