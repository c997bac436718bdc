import type { Notification } from '../domain/outbox.ts';
import type { Secret } from '../domain/secret.ts';
import type { HeartbeatSettings } from '../domain/settings.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { Poller } from './poller.ts';

/** A poll or a message that is late by this much stops the heartbeat. */
const overdueMs = 60_000;

const lookAgainMs = 1000;

interface HeartbeatDependencies extends Pick<DaemonParts, 'ping' | 'state' | 'committer' | 'daemonLog'> {
  readonly poller: Poller;
}

/**
 * Tells an external watcher that lowwater works (a dead man's switch): only while polls are stored and no
 * poll or message is overdue.
 */
export class Heartbeat {
  readonly #dependencies: HeartbeatDependencies;
  #nextAt: number;
  /** A daemon that dies soon after each start must not look alive. */
  #firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';
  #busy: AbortController | null = null;

  constructor(dependencies: HeartbeatDependencies, now: number) {
    this.#dependencies = dependencies;
    this.#nextAt = now;
  }

  get nextAt(): number {
    return this.#settings === null ? Number.POSITIVE_INFINITY : this.#nextAt;
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
    const settings = this.#settings;
    if (settings === null || now < this.#nextAt) return;
    const isWell = this.#isWell(now);
    // After a failure it is sent as soon as all is well, not after a long interval.
    this.#nextAt = now + (isWell ? settings.everyMs : Math.min(settings.everyMs, lookAgainMs));
    if (isWell && this.#busy === null) void this.#send(settings.url);
  }

  shift(byMs: number): void {
    this.#nextAt += byMs;
  }

  abandon(): void {
    this.#busy?.abort();
  }

  get #settings(): HeartbeatSettings | null {
    return this.#dependencies.state.settings.heartbeat;
  }

  async #send(url: Secret): Promise<void> {
    this.#busy = new AbortController();
    const isReached = await this.#dependencies.ping(url, this.#busy.signal);
    this.#busy = null;
    this.#dependencies.daemonLog.heartbeatEnded(isReached);
  }

  #isWell(now: number): boolean {
    const { poller, committer, state } = this.#dependencies;
    // A schedule may ask for no poll soon, such as at night: then none can be stored.
    const resting = poller.running === 0 && poller.nextAt > now + overdueMs;
    const isStored = this.#firstPoll === 'stored' || resting;
    if (committer.failing || !isStored || poller.nextAt < now - overdueMs) return false;
    for (const message of state.messages.values()) if (isOverdue(message, now)) return false;
    return true;
  }
}

function isOverdue(message: Notification, now: number): boolean {
  if (message.state !== 'pending' || now - message.createdAt <= overdueMs) return false;
  return message.attempts > 0 || message.dueAt < now - overdueMs;
}
