import type { Notification } from '../domain/outbox.ts';
import type { Secret } from '../domain/secret.ts';
import type { HeartbeatSettings } from '../domain/settings.ts';

/** Requests an external URL; resolves to whether it answered well. Never rejects. */
export type Ping = (url: Secret, signal: AbortSignal) => Promise<boolean>;

/** A poll or a message that is late by this much stops the heartbeat. */
const overdueMs = 60_000;

const lookAgainMs = 1000;

interface Vitals {
  readonly storageFailing: boolean;
  readonly pollsRunning: number;
  readonly nextPollAt: number;
  readonly messages: Iterable<Notification>;
}

function isOverdue(message: Notification, now: number): boolean {
  if (message.state !== 'pending' || now - message.createdAt <= overdueMs) return false;
  return message.attempts > 0 || message.dueAt < now - overdueMs;
}

/**
 * Tells an external watcher that lowwater works (a dead man's switch): only while polls are stored and no
 * poll or message is overdue.
 */
export class Heartbeat {
  readonly #ping: Ping;
  readonly #ended: (reached: boolean) => void;
  #settings: HeartbeatSettings | null;
  #nextAt: number;
  /** A daemon that dies soon after each start must not look alive. */
  #firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';
  #busy: AbortController | null = null;

  constructor(dependencies: {
    readonly ping: Ping;
    readonly settings: HeartbeatSettings | null;
    readonly now: number;
    readonly ended: (reached: boolean) => void;
  }) {
    this.#ping = dependencies.ping;
    this.#ended = dependencies.ended;
    this.#settings = dependencies.settings;
    this.#nextAt = dependencies.now;
  }

  get nextAt(): number {
    return this.#settings === null ? Number.POSITIVE_INFINITY : this.#nextAt;
  }

  adopt(settings: HeartbeatSettings | null, now: number): void {
    this.#settings = settings;
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  pollEnded(): void {
    if (this.#firstPoll === 'awaited') this.#firstPoll = 'ended';
  }

  stored(): void {
    if (this.#firstPoll === 'ended') this.#firstPoll = 'stored';
  }

  beat(now: number, vitals: () => Vitals): void {
    if (this.#settings === null || now < this.#nextAt) return;
    if (!this.#isWell(now, vitals())) {
      // After a failure it is sent as soon as all is well, not after a long interval.
      this.#nextAt = now + Math.min(this.#settings.everyMs, lookAgainMs);
      return;
    }
    this.#nextAt = now + this.#settings.everyMs;
    if (this.#busy !== null) return;
    const controller = new AbortController();
    this.#busy = controller;
    void this.#ping(this.#settings.url, controller.signal).then((reached) => {
      this.#busy = null;
      this.#ended(reached);
    });
  }

  shift(byMs: number): void {
    this.#nextAt += byMs;
  }

  abandon(): void {
    this.#busy?.abort();
  }

  #isWell(now: number, vitals: Vitals): boolean {
    const { nextPollAt } = vitals;
    // A schedule may ask for no poll soon, such as at night: then none can be stored.
    const resting = vitals.pollsRunning === 0 && nextPollAt > now + overdueMs;
    const isStored = this.#firstPoll === 'stored' || resting;
    if (vitals.storageFailing || !isStored || nextPollAt < now - overdueMs) return false;
    for (const message of vitals.messages) if (isOverdue(message, now)) return false;
    return true;
  }
}
