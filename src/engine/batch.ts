import { type Incident, isSettled } from '../domain/alert.ts';
import { incidentsOf } from '../domain/outbox.ts';
import type { Batch, StoredSpending } from '../ports/store.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import { queueOf } from './queue.ts';
import type { MonitorState } from './state.ts';

/**
 * The most polls in a batch, and the most account records: all of 50,000 accounts have changed after a start, and hours of
 * polls wait when a disk works again. In one transaction they would take a second, in which nothing else happens. What is left
 * goes into the next batch. Alerts, incidents and messages belong together and are taken whole.
 */
const maxReadings = 500;

/** Null when there are no changes. Each batch ends with `batchStored` or `batchReturned` before the next is taken. */
export function takeBatch(state: MonitorState): Batch | null {
  if (isAllTaken(state)) return null;
  const accounts = state.polled.take(maxReadings);
  const spending = state.spending.take(maxReadings);
  const alerts = state.alerts.take();
  const messages = state.messages.take();
  const notes = state.notes.take();
  return {
    polls: [...state.polls.take(maxReadings)],
    accounts: accounts.rows,
    removedAccounts: accounts.removed,
    spending: spending.rows.flatMap(storedSpending),
    backoffs: state.backoffs.take().rows,
    alerts: alerts.rows,
    removedAlerts: alerts.removed,
    incidents: state.incidents.take().rows,
    messages: messages.rows,
    removedMessages: messages.removed,
    silences: state.silences.take().rows,
    notes: Object.fromEntries([
      ...notes.rows.map(({ name, value }) => [name, value]),
      ...notes.removed.map((name) => [name, null]),
    ]),
  };
}

/** Drops the recorded changes as if they were stored, for replay. Returns the changed incidents. */
export function discardChanges(state: MonitorState): readonly Incident[] {
  const incidents = state.incidents.take().rows;
  const messages = state.messages.take().rows;
  const others = ['polled', 'spending', 'backoffs', 'alerts', 'silences', 'notes'] as const;
  for (const table of others) state[table].unsaved.take();
  state.polls.take();
  batchStored(state, { messages, incidents });
  return incidents;
}

/** The batch is on disk: what is no longer needed leaves memory. */
export function batchStored(
  state: MonitorState,
  { messages, incidents, notes = {} }: Pick<Batch, 'messages' | 'incidents'> & Partial<Pick<Batch, 'notes'>>,
): void {
  for (const part of takenFrom(state)) part.stored();
  for (const name of Object.keys(notes)) state.acts.delete(name);
  const ended = messages.filter((message) => message.state !== 'pending');
  for (const { id } of ended) if (state.messages.get(id)?.state !== 'pending') state.messages.forget(id);
  const known = new Set([...incidents.map(({ id }) => id), ...incidentsOf(ended)]);
  const settled = [...known].filter((id) => {
    const incident = state.incidents.get(id);
    return incident !== undefined && isSettled(incident);
  });
  if (settled.length === 0) return;
  // Once for a whole batch: the queue of a channel that refuses for hours is long.
  const queued = incidentsOf([...state.queues.keys()].flatMap((channel) => queueOf(state, channel)));
  for (const id of settled) if (!queued.has(id)) forgetSettled(state, id);
}

/** The batch was not stored: its records go into the next one, as they are by then. */
export function batchReturned(state: MonitorState): void {
  for (const part of takenFrom(state)) part.putBack();
}

export function isAllTaken(state: MonitorState): boolean {
  const { polls, polled, spending } = state;
  return polls.size + polled.unsaved.size + spending.unsaved.size === 0 && changedOnlyReadings(state);
}

/** The numbers of orders, readings and messages that are not known to be stored. */
export function countUnstored({ acts, polls, messages }: MonitorState) {
  return { orders: acts.size, readings: polls.unstored, messages: messages.unsaved.unstored };
}

export function changedOnlyReadings({ otherChanges }: MonitorState): boolean {
  for (const { size } of otherChanges) if (size > 0) return false;
  return true;
}

function takenFrom({ polls, polled, spending, otherChanges }: MonitorState) {
  return [polls, polled.unsaved, spending.unsaved, ...otherChanges];
}

function storedSpending(spending: AccountSpending): StoredSpending[] {
  const bytes = spending.bytes();
  return bytes === null ? [] : [{ account: spending.account, bytes }];
}

function forgetSettled(state: MonitorState, id: string): void {
  state.incidents.forget(id);
  state.due.delete(`incident:${id}`);
  for (const { name } of state.settings.channels) state.channelTries.delete(`${name}/${id}`);
}
