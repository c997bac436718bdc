import { joinMessage, type NoticeItem, newMessage, type OutboxMessage } from '../../core/outbox.ts';
import type { MonitorState } from './state.ts';

/**
 * Puts one thing to say on a channel's queue: into the last message there that is not yet on its way, so that what becomes due
 * within the group wait, or while the channel is down or busy, is one message. Gives the message's id.
 */
export function enqueue(
  state: MonitorState,
  it: { readonly channel: string; readonly item: NoticeItem; readonly dueAt: number; readonly now: number },
): string {
  const last = lastWaiting(state, it.channel);
  const message =
    last === null
      ? newMessage({
          id: state.random.id(),
          channel: it.channel,
          items: [it.item],
          now: it.now,
          dueAt: it.dueAt,
        })
      : joinMessage(last, [it.item], it.dueAt);
  putMessage(state, message);
  return message.id;
}

/** Stores a message that is new or has changed, and keeps it in its queue while it is pending. */
export function putMessage(state: MonitorState, message: OutboxMessage): void {
  state.messages.set(message.id, message);
  state.changes.messages.add(message.id);
  const queue = state.queues.get(message.channel) ?? [];
  const place = queue.indexOf(message.id);
  if (message.state === 'pending' && place < 0) state.queues.set(message.channel, [...queue, message.id]);
  if (message.state !== 'pending' && place >= 0) state.queues.set(message.channel, queue.toSpliced(place, 1));
}

/**
 * After an attempt that failed, everything that queued up behind the message joins it: what happened while the channel was
 * down is told at once, in order.
 */
export function absorbFollowers(state: MonitorState, message: OutboxMessage): OutboxMessage {
  if (message.report !== null) return message;
  let whole = message;
  for (const id of state.queues.get(message.channel) ?? []) {
    const follower = state.messages.get(id);
    if (follower === undefined || id === message.id || follower.report !== null || state.underWay.has(id))
      continue;
    whole = joinMessage(whole, follower.items, whole.dueAt);
    removeMessage(state, follower);
  }
  return whole;
}

/** The channel's queue, oldest first. */
export function queueOf(state: MonitorState, channel: string): readonly OutboxMessage[] {
  return (state.queues.get(channel) ?? []).flatMap((id) => state.messages.get(id) ?? []);
}

function removeMessage(state: MonitorState, message: OutboxMessage): void {
  state.messages.delete(message.id);
  state.queues.set(
    message.channel,
    (state.queues.get(message.channel) ?? []).filter((id) => id !== message.id),
  );
  state.changes.messages.delete(message.id);
  state.changes.removedMessages.add(message.id);
}

function lastWaiting(state: MonitorState, channel: string): OutboxMessage | null {
  const last = queueOf(state, channel).at(-1);
  return last === undefined || last.report !== null || state.underWay.has(last.id) ? null : last;
}
