import { type Notification, waitedMs } from '../domain/outbox.ts';
import type { Secret } from '../domain/secret.ts';
import { minuteMs } from '../domain/time.ts';
import { isUnheard } from '../engine/announce.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { Poller } from './poller.ts';

/** A poll or a message that is late by this much stops the heartbeat. */
const overdueMs = 60_000;

const lookAgainMs = 5000;

/** The wait after one that was not received, where the interval is longer: a service elsewhere must not alarm for one lost request. */
const againMs = minuteMs;

/** A dead man's switch: told only while polls are stored, none is overdue, and every alert reaches somebody. */
export class Heartbeat {
  readonly #dependencies: DaemonParts;
  readonly #poller: Poller;
  #nextAt: number;
  /** A daemon that dies soon after each start must not look alive. */
  #firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';
  #busy: AbortController | null = null;
  /** The reason why the last one was not received; null where it was. */
  #missed: string | null = null;

  constructor(dependencies: DaemonParts, poller: Poller, now: number) {
    this.#dependencies = dependencies;
    this.#poller = poller;
    this.#nextAt = now;
  }

  get nextAt(): number {
    return this.#dependencies.state.settings.heartbeat === null ? Number.POSITIVE_INFINITY : this.#nextAt;
  }

  /** The settings may have changed. */
  adopt(now: number): void {
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  pollEnded(): void {
    if (this.#firstPoll === 'awaited') this.#firstPoll = 'ended';
  }

  stored(): void {
    if (this.#firstPoll === 'ended') this.#firstPoll = 'stored';
  }

  beat(now: number): void {
    const settings = this.#dependencies.state.settings.heartbeat;
    if (settings === null || now < this.#nextAt) return;
    const isWell = this.#isWell(now);
    // After a failure it is sent as soon as all is well, not after a long interval.
    this.#nextAt = now + (isWell ? settings.everyMs : Math.min(settings.everyMs, lookAgainMs));
    if (isWell && this.#busy === null) void this.#send(settings.url, now);
  }

  shift(byMs: number): void {
    this.#nextAt += byMs;
  }

  abandon(): void {
    this.#busy?.abort();
  }

  async #send(url: Secret, now: number): Promise<void> {
    const { ping, log } = this.#dependencies;
    this.#busy = new AbortController();
    const reason = await ping(url, this.#busy.signal);
    this.#busy = null;
    if (reason !== null) this.#nextAt = Math.min(this.#nextAt, now + againMs);
    if (reason === null && this.#missed !== null) log.info({}, 'the heartbeat is received again');
    if (reason !== null && reason !== this.#missed) log.warn({ reason }, 'the heartbeat is not received');
    this.#missed = reason;
  }

  #isWell(now: number): boolean {
    const { committer, state } = this.#dependencies;
    const { running, nextAt } = this.#poller;
    // A schedule may ask for no poll soon, such as at night: then none can be stored.
    const resting = running === 0 && nextAt > now + overdueMs;
    const isStored = this.#firstPoll === 'stored' || resting;
    if (committer.failing || !isStored || nextAt < now - overdueMs) return false;
    for (const message of state.messages.values()) if (isOverdue(message, now)) return false;
    for (const incident of state.incidents.values()) if (isUnheard(state, incident, now)) return false;
    return true;
  }
}

export function isOverdue(message: Notification, now: number): boolean {
  if (message.state !== 'pending' || waitedMs(message, now) <= overdueMs) return false;
  return message.attempts > 0 || message.dueAt < now - overdueMs;
}
