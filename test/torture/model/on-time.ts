import type { Notification } from '../../../src/domain/outbox.ts';
import { Violation } from '../story.ts';
import type { Moment } from './ledger.ts';

/** A message may wait this long without a reason: after a start it waits a minute for a poll of its account. */
const lateMs = 75_000;

/** Checks that no message waits without a reason. */
export class OnTime {
  /** When the last attempt on each channel ended. */
  readonly #freeSince = new Map<string, number>();
  /** Until when no daemon could send anything. */
  #disturbedUntil = 0;
  /** The duration of the last two attempts to store: a message that falls due during one is part of the next. */
  #storingMs: readonly number[] = [];
  #storingSince = 0;

  disturb(until: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, until);
  }

  freed(channel: string, at: number): void {
    this.#freeSince.set(channel, at);
  }

  storing(at: number): void {
    this.#storingSince = at;
  }

  /** The attempt to store ended, with success or not. */
  stored(at: number): void {
    this.#storingMs = [at - this.#storingSince, ...this.#storingMs].slice(0, 2);
  }

  /** `mayAt`: the instant from which the receiver allows the message. */
  expect({ id, channel, dueAt }: Notification, { at, now }: Moment, mayAt: number): void {
    const since = Math.max(mayAt, this.#freeSince.get(channel) ?? 0, this.#disturbedUntil);
    const waitedMs = Math.min(now - dueAt, at - since);
    if (waitedMs > this.#storingMs.reduce((sum, ms) => sum + ms, lateMs))
      throw new Violation('what is due goes out', `${id} to ${channel} lay ${waitedMs} ms`);
  }
}
