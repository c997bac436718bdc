import { alertKey, type Incident } from '../../core/alert.ts';
import type { OutboxMessage } from '../../core/outbox.ts';
import { reloadLogSince } from '../../core/reading-log.ts';
import { shiftAlert } from '../../core/transition.ts';
import type { StoreReader } from '../ports.ts';
import { forgetChannels, watchAccounts } from './reconfigure.ts';
import { scheduleSilences } from './silencing.ts';
import { type MonitorState, wakeBy } from './state.ts';

/** Messages that lay undelivered longer than this while lowwater was down are not sent any more (an old backup, restored). */
const staleMessageMs = 7 * 86_400_000;

/** The note that says when the daemon was last known to be running. */
export const aliveNote = 'alive-at';

/**
 * Takes up the work where the last daemon stopped. The time in between counts neither as breach nor as recovery: the clocks of
 * alerts are moved by the polls that were missed.
 */
export function restoreState(state: MonitorState, reader: StoreReader, now: number): void {
  const stored = reader.load();
  const aliveAt = Math.max(
    Number(stored.notes[aliveNote] ?? 0),
    ...stored.accounts.map((it) => it.polledAt ?? 0),
  );
  for (const [name, value] of Object.entries(stored.notes)) state.notes.set(name, value);
  for (const alert of stored.alerts) state.alerts.set(alertKey(alert.account, alert.rule), alert);
  for (const incident of stored.incidents) state.incidents.set(incident.id, incident);
  for (const silence of stored.silences) state.silences.set(silence.id, silence);
  for (const backoff of stored.backoffs) state.backoffs.set(backoff.group, backoff);
  restoreMessages(state, { messages: stored.messages, reader, downMs: aliveAt > 0 ? now - aliveAt : 0, now });
  watchAccounts(state, { known: new Map(stored.accounts.map((it) => [it.account, it])), now });
  for (const account of state.accounts.values()) {
    const missedMs = aliveAt === 0 ? 0 : Math.max(0, now - aliveAt - account.pollIntervalMs);
    shiftAccount(state, account.settings.id, missedMs);
    const since = reloadLogSince({ windowMs: account.log.windowMs, now });
    const before = reader.readingBefore(account.settings.id, since);
    if (before !== null) account.log.append(before);
    for (const reading of reader.readings({
      account: account.settings.id,
      since,
      until: Number.MAX_SAFE_INTEGER,
    })) {
      account.log.append(reading);
    }
  }
  scheduleSilences(state, now);
  forgetChannels(state);
  for (const incident of state.incidents.values()) resumeIncident(state, incident, now);
}

/** Moves what is measured for one account by a time in which nobody watched, or by which the wall clock jumped. */
export function shiftAccount(state: MonitorState, id: string, byMs: number): void {
  const account = state.accounts.get(id);
  if (account === undefined || byMs === 0) return;
  account.poll = { ...account.poll, unwatchedMs: account.poll.unwatchedMs + byMs };
  state.changes.accounts.add(id);
  for (const alert of [...account.alerts.values()]) {
    const shifted = shiftAlert(alert, byMs);
    account.alerts.set(alert.rule, shifted);
    const key = alertKey(id, alert.rule);
    state.alerts.set(key, shifted);
    state.changes.alerts.add(key);
  }
}

function restoreMessages(
  state: MonitorState,
  it: {
    readonly messages: readonly OutboxMessage[];
    readonly reader: StoreReader;
    readonly downMs: number;
    readonly now: number;
  },
): void {
  const { reader, downMs, now } = it;
  for (const message of it.messages) {
    const tooOld = now - message.createdAt > staleMessageMs && downMs > staleMessageMs;
    const kept = tooOld
      ? { ...message, state: 'dead' as const, lastError: 'too old when lowwater came back' }
      : {
          ...message,
          giveUpAt: message.giveUpAt + downMs,
          dueAt: Math.min(message.dueAt, now + staleMessageMs),
        };
    state.messages.set(message.id, kept);
    state.changes.messages.add(message.id);
    if (kept.state === 'pending') recallIncidents(state, reader, message);
    if (kept.state === 'pending') {
      state.queues.set(message.channel, [...(state.queues.get(message.channel) ?? []), message.id]);
    }
  }
}

/** Events, and incidents that came and went, are loaded only for the messages that still have to tell of them. */
function recallIncidents(state: MonitorState, reader: StoreReader, message: OutboxMessage): void {
  for (const { incident: id } of message.items) {
    const incident = state.incidents.has(id) ? null : reader.incident(id);
    if (incident !== null) state.incidents.set(id, incident);
  }
}

/**
 * What ended while nobody could be told is told now. Reminders and escalations of open incidents wait for one poll of the account:
 * the incident may be over.
 */
function resumeIncident(state: MonitorState, incident: Incident, now: number): void {
  const account = state.accounts.get(incident.account);
  if (incident.resolvedAt !== null || account === undefined) state.touched.add(incident.id);
  else wakeBy(state, `incident:${incident.id}`, now + account.pollIntervalMs);
}
