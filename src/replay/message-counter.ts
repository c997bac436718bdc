import type { Notification } from '../domain/outbox.ts';
import { weekMs } from '../domain/time.ts';
import { recordDelivery } from '../engine/delivery-ended.ts';
import { absorbFollowers, putNotification, queueOf, sendable } from '../engine/queue.ts';
import type { MonitorState } from '../engine/state.ts';

export type MessageCount = MessageCounter['count'];

/** The outbox's end in a replay: every channel takes every message at once, and all that is kept of it is the count. */
export class MessageCounter {
  readonly #state: MonitorState;
  readonly #since: number;
  readonly #byChannel = new Map<string, number>();
  readonly #byWeek: number[] = [];
  #total = 0;

  constructor(state: MonitorState, since: number) {
    this.#state = state;
    this.#since = since;
  }

  /** `byWeek` counts from the begin of the replay; a week in which none went out may be missing at the end. */
  get count() {
    return { total: this.#total, byChannel: this.#byChannel, byWeek: this.#byWeek };
  }

  /** When the next message may go out; Infinity when none waits. */
  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    if (this.#state.messages.size === 0) return next;
    for (const message of this.#waiting()) next = Math.min(next, message.dueAt);
    return next;
  }

  /** Sends what is due; false when nothing was. */
  deliverDue(now: number): boolean {
    // Asked after every poll, when hardly ever anything waits.
    if (this.#state.messages.size === 0) return false;
    const due = this.#waiting().filter((message) => message.dueAt <= now);
    for (const message of due) this.#deliver(message, now);
    return due.length > 0;
  }

  /** Messages that still wait for their group go out although the past ends before. */
  finish(): void {
    for (const message of this.#waiting()) this.#note(message.channel, message.dueAt);
  }

  /** The next message of each channel. */
  #waiting(): Notification[] {
    return this.#state.settings.channels.flatMap(({ name }) =>
      sendable(queueOf(this.#state, name)).slice(0, 1),
    );
  }

  #deliver(due: Notification, now: number): void {
    const message = { ...absorbFollowers(this.#state, due), attempts: due.attempts + 1, uncertain: true };
    putNotification(this.#state, message);
    this.#note(message.channel, now);
    const delivery = { kind: 'delivered' } as const;
    recordDelivery(this.#state, { message, wasUncertain: false, subject: null, delivery }, now);
  }

  #note(channel: string, at: number): void {
    const week = Math.floor((at - this.#since) / weekMs);
    while (this.#byWeek.length <= week) this.#byWeek.push(0);
    this.#byWeek[week] = (this.#byWeek[week] ?? 0) + 1;
    this.#byChannel.set(channel, (this.#byChannel.get(channel) ?? 0) + 1);
    this.#total++;
  }
}
