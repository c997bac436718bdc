import type { OutboxMessage } from '../domain/outbox.ts';
import { untell } from './delivery-ended.ts';
import { putMessage, queueOf, removeMessage } from './queue.ts';
import { isSilenced, scheduleSilences } from './silencing.ts';
import type { MonitorState } from './state.ts';

/** A silence began or ended: everything that it may have muted is decided on again. */
export function reviewSilences(state: MonitorState, now: number): void {
  for (const channel of [...state.queues.keys()])
    for (const message of queueOf(state, channel)) withdrawMuted(state, message, now);
  for (const id of state.incidents.keys()) state.touched.add(id);
  scheduleSilences(state, now);
}

/**
 * Takes back what a message that was not tried yet, because its group waits, was to say of incidents that are muted now. It does not
 * count as told: what still is so when the silence ends is said then; a reminder keeps its pace.
 */
function withdrawMuted(state: MonitorState, message: OutboxMessage, now: number): void {
  if (message.attempts > 0 || state.underWay.has(message.id)) return;
  const isMuted = (id: string): boolean => {
    const incident = state.incidents.get(id);
    return incident !== undefined && isSilenced(state, incident, now);
  };
  const muted = message.items.filter(({ incident }) => isMuted(incident));
  if (muted.length === 0) return;
  untell(state, { ...message, items: muted }, new Set());
  const items = message.items.filter((item) => !muted.includes(item));
  if (items.length === 0) removeMessage(state, message);
  else putMessage(state, { ...message, items });
}
