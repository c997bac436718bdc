import type { Incident } from '../../core/alert.ts';
import type { OutboxMessage } from '../../core/outbox.ts';
import type { Batch, Calendar, Random, StoreReader } from '../ports.ts';
import type { Settings } from '../settings.ts';
import { announceTouched } from './announce.ts';
import { batchOf } from './changes.ts';
import { judgeElapsed } from './judge.ts';
import { restoreState, shiftAccount } from './restore.ts';
import { forgetSettled } from './settle.ts';
import { reviewSilences } from './silencing.ts';
import { emptyState, type MonitorState } from './state.ts';

/** The daemon's knowledge at its start: what the configuration names and the database remembers. */
export function startMonitor(parts: {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly reader: StoreReader;
  readonly now: number;
}): MonitorState {
  const { settings, calendar, random } = parts;
  const state = emptyState({ settings, calendar, random });
  restoreState(state, parts.reader, parts.now);
  return state;
}

/** Does what became due by time alone, then decides for everything touched what is to be said. Ends every turn. */
export function endTurn(state: MonitorState, now: number): void {
  for (let key = state.due.takeDue(now); key !== undefined; key = state.due.takeDue(now)) {
    wake(state, key, now);
  }
  announceTouched(state, now);
}

/**
 * The wall clock jumped, or the machine slept: what is measured moves along, so that neither staleness nor a `for`, a reminder or a
 * retry comes early or late by it. What the calendar says (silences) is looked up anew.
 */
export function shiftTime(state: MonitorState, byMs: number, now: number): void {
  state.due.shift(byMs);
  for (const id of state.accounts.keys()) shiftAccount(state, id, byMs);
  for (const incident of [...state.incidents.values()]) {
    state.incidents.set(incident.id, shiftIncident(incident, byMs));
    state.changes.incidents.add(incident.id);
  }
  for (const message of [...state.messages.values()]) {
    if (message.state !== 'pending') continue;
    state.messages.set(message.id, shiftMessage(message, byMs));
    state.changes.messages.add(message.id);
  }
  for (const backoff of [...state.backoffs.values()]) {
    if (backoff.until === 0) continue;
    state.backoffs.set(backoff.group, { ...backoff, until: backoff.until + byMs });
    state.changes.backoffs.add(backoff.group);
  }
  for (const account of state.accounts.values()) {
    const { retryAt } = account.poll;
    if (retryAt !== null) account.poll = { ...account.poll, retryAt: retryAt + byMs };
  }
  for (const [key, at] of [...state.channelTries]) state.channelTries.set(key, at + byMs);
  reviewSilences(state, now);
}

/** What is to be committed now, and what to do once it is. Null when nothing changed. */
export function takeBatch(state: MonitorState): Batch | null {
  return state.changes.empty ? null : batchOf(state);
}

/** The batch is safe on disk: the changes are forgotten, and with them what nobody needs in memory any more. */
export function batchStored(state: MonitorState): void {
  const messages = [...state.changes.messages];
  const incidents = new Set([...state.changes.incidents, ...endedIncidents(state, messages)]);
  state.changes.clear();
  forgetSettled(state, messages, incidents);
}

function wake(state: MonitorState, key: string, now: number): void {
  if (key === 'silences') {
    reviewSilences(state, now);
    return;
  }
  const [kind, id = ''] = splitOnce(key);
  if (kind === 'incident') state.touched.add(id);
  const account = kind === 'account' ? state.accounts.get(id) : undefined;
  if (account !== undefined) judgeElapsed(state, account, now);
}

function splitOnce(key: string): [string, string] {
  const colon = key.indexOf(':');
  return [key.slice(0, colon), key.slice(colon + 1)];
}

function shiftIncident(incident: Incident, byMs: number): Incident {
  const told = Object.entries(incident.told).map(([channel, it]) => {
    const escalatedAt = it.escalatedAt === null ? null : it.escalatedAt + byMs;
    return [channel, { ...it, at: it.at + byMs, escalatedAt }] as const;
  });
  return { ...incident, escalationSince: incident.escalationSince + byMs, told: Object.fromEntries(told) };
}

function shiftMessage(message: OutboxMessage, byMs: number): OutboxMessage {
  return { ...message, dueAt: message.dueAt + byMs, giveUpAt: message.giveUpAt + byMs };
}

/** Incidents that the messages which just ended spoke of. */
function endedIncidents(state: MonitorState, messages: readonly string[]): string[] {
  return messages.flatMap((id) => {
    const message = state.messages.get(id);
    return message === undefined || message.state === 'pending'
      ? []
      : message.items.map((item) => item.incident);
  });
}
