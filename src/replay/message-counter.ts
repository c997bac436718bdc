import type { Notification } from '../domain/outbox.ts';
import { weekMs } from '../domain/time.ts';
import { recordDelivery } from '../engine/delivery-ended.ts';
import { absorbFollowers, putNotification, queueOf, sendable } from '../engine/queue.ts';
import type { MonitorState } from '../engine/state.ts';

export type MessageCount = ReturnType<typeof createMessageCounter>['count'];

/** The end of the outbox in a replay: every channel takes every message at once, and only the count is kept. */
export function createMessageCounter(state: MonitorState, since: number) {
  const byChannel = new Map<string, number>();
  const byWeek: number[] = [];
  /** `byWeek` counts from the beginning of the replay; weeks without a message may be missing at the end. */
  const count = { total: 0, byChannel, byWeek };

  /** The next message of each channel. */
  function waiting(): Notification[] {
    return state.settings.channels.flatMap(({ name }) => sendable(queueOf(state, name)).slice(0, 1));
  }

  function deliver(due: Notification, now: number): void {
    const message = { ...absorbFollowers(state, due), attempts: due.attempts + 1, uncertain: true };
    putNotification(state, message);
    note(message.channel, now);
    const delivery = { kind: 'delivered' } as const;
    recordDelivery(state, { message, wasUncertain: false, subject: null, delivery }, now);
  }

  function note(channel: string, at: number): void {
    const week = Math.floor((at - since) / weekMs);
    while (byWeek.length <= week) byWeek.push(0);
    byWeek[week] = (byWeek[week] ?? 0) + 1;
    byChannel.set(channel, (byChannel.get(channel) ?? 0) + 1);
    count.total++;
  }

  return {
    count,
    /** When the next message may go out; Infinity when none waits. */
    get nextAt(): number {
      let next = Number.POSITIVE_INFINITY;
      if (state.messages.size === 0) return next;
      for (const message of waiting()) next = Math.min(next, message.dueAt);
      return next;
    },
    /** Sends what is due; false when nothing was. */
    deliverDue(now: number): boolean {
      // Called after every poll, when hardly ever anything waits.
      if (state.messages.size === 0) return false;
      const due = waiting().filter((message) => message.dueAt <= now);
      for (const message of due) deliver(message, now);
      return due.length > 0;
    },
    /** Counts messages that still wait for their group, although the past ends before they are due. */
    finish(): void {
      for (const message of waiting()) note(message.channel, message.dueAt);
    },
  };
}
