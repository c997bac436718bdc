import type { Message } from '../domain/message.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Notification } from '../domain/outbox.ts';
import type { DeliveryEnd, Sent } from '../engine/delivery-ended.ts';
import { absorbFollowers, heldForPollUntil, putNotification, queueOf, sendable } from '../engine/queue.ts';
import { threadSubject } from '../messages/message-wording.ts';
import type { Channel } from '../ports/channel.ts';
import { composeMessage } from './compose.ts';
import type { ComposeDependencies } from './message-frame.ts';

/** A notification taken from the outbox, to be sent once that is stored. */
export interface Claim {
  readonly message: Notification;
  readonly wasUncertain: boolean;
}

interface DispatcherDependencies extends ComposeDependencies {
  readonly maySend: () => boolean;
  readonly ended: (sent: Sent) => void;
}

const notOwned = 'another daemon may own the accounts soon, so it was not sent';

/** Delivery of one channel: one message at a time, no faster than it allows. */
interface Lane {
  readonly channel: Channel;
  busy: AbortController | null;
  pace: Pace;
}

/** When the receiver takes the next message; shared by channels with one receiver. */
interface Pace {
  freeAt: number;
}

/**
 * Delivers the outbox. Each channel has its own lane, so that a slow or broken one delays no other. Claiming
 * a message and sending it are two steps, with a commit in between.
 */
export class Dispatcher {
  readonly #dependencies: DispatcherDependencies;
  readonly #lanes = new Map<string, Lane>();
  #stopped = false;

  constructor(dependencies: DispatcherDependencies) {
    this.#dependencies = dependencies;
  }

  get running(): number {
    return [...this.#lanes.values()].filter((lane) => lane.busy !== null).length;
  }

  /** When the next message can be claimed; Infinity when none waits or its channel is busy. */
  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    if (this.#hasNothing()) return next;
    for (const [name, lane] of this.#lanes) {
      const queue = queueOf(this.#dependencies.state, name);
      if (lane.busy !== null || this.#isUnderWay(queue)) continue;
      const heldUntil = heldForPollUntil(this.#dependencies.state, queue);
      for (const message of sendable(queue)) {
        const from = message.items.length > 0 ? heldUntil : message.dueAt;
        next = Math.min(next, Math.max(message.dueAt, lane.pace.freeAt, from));
      }
    }
    return next;
  }

  /** Follows a reload. A delivery of a removed or replaced channel may finish. */
  adopt(channels: readonly Channel[]): void {
    const names = new Set(channels.map((channel) => channel.name));
    for (const name of [...this.#lanes.keys()]) if (!names.has(name)) this.#lanes.delete(name);
    const paces = new Map<string, Pace>();
    for (const channel of channels) {
      const before = this.#lanes.get(channel.name);
      const key = channel.paceKey ?? channel.name;
      const pace = paces.get(key) ?? { freeAt: 0 };
      pace.freeAt = Math.max(pace.freeAt, before?.pace.freeAt ?? 0);
      paces.set(key, pace);
      this.#lanes.set(channel.name, { channel, busy: before?.busy ?? null, pace });
    }
  }

  /** Claims what is due: marks it as in flight and possibly sent, so that the next commit says so. */
  claimDue(now: number): Claim[] {
    const claims: Claim[] = [];
    if (this.#hasNothing()) return claims;
    for (const [name, lane] of this.#lanes) {
      if (lane.busy !== null || lane.pace.freeAt > now) continue;
      const queue = queueOf(this.#dependencies.state, name);
      const isHeld = heldForPollUntil(this.#dependencies.state, queue) > now;
      const due = sendable(queue).find(
        (message) => message.dueAt <= now && !(isHeld && message.items.length > 0),
      );
      if (due === undefined || this.#isUnderWay(queue)) continue;
      const whole = absorbFollowers(this.#dependencies.state, due);
      const message = { ...whole, attempts: whole.attempts + 1, uncertain: true };
      lane.busy = new AbortController();
      // Another lane of the same receiver may be due now.
      lane.pace.freeAt = now + lane.channel.minGapMs;
      this.#dependencies.state.underWay.add(message.id);
      putNotification(this.#dependencies.state, message);
      claims.push({ message, wasUncertain: whole.uncertain });
    }
    return claims;
  }

  /** After a clock change the pause after a message stays as long. */
  shift(byMs: number): void {
    const paces = new Set([...this.#lanes.values()].map(({ pace }) => pace));
    for (const pace of paces) pace.freeAt += byMs;
  }

  /** Sends claims that are stored. */
  send(claims: readonly Claim[]): void {
    for (const claim of claims) void this.#deliver(claim);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Gives up on running deliveries: they are repeated after the next start. */
  abandon(): void {
    for (const lane of this.#lanes.values()) lane.busy?.abort();
  }

  /** Called after every poll, mostly with nothing to send: then no lane is looked at. */
  #hasNothing(): boolean {
    return this.#stopped || this.#dependencies.state.messages.size === 0 || !this.#dependencies.maySend();
  }

  async #deliver(claim: Claim): Promise<void> {
    const content = await this.#compose(claim.message);
    const lane = this.#lanes.get(claim.message.channel);
    const subject = content === null || content === 'unreadable' ? null : threadSubjectOf(lane, content);
    const delivery = await this.#attempt(lane, content);
    const current = this.#lanes.get(claim.message.channel);
    if (current !== undefined) current.busy = null;
    this.#dependencies.ended({ ...claim, subject, delivery });
  }

  /** A channel that was renamed during a delivery: later messages wait for its end. */
  #isUnderWay(queue: readonly Notification[]): boolean {
    return queue.some((message) => this.#dependencies.state.underWay.has(message.id));
  }

  /** A report needs the database; a message about incidents never does. */
  async #compose(message: Notification): Promise<Message | null | 'unreadable'> {
    try {
      const charts = this.#lanes.get(message.channel)?.channel.drawsAlerts === true;
      return await composeMessage(this.#dependencies, message, charts);
    } catch (error) {
      if (error instanceof StorageError) return 'unreadable';
      throw error;
    }
  }

  async #attempt(lane: Lane | undefined, content: Message | null | 'unreadable'): Promise<DeliveryEnd> {
    if (lane === undefined)
      return { kind: 'needless', reason: 'the channel was removed from the configuration' };
    if (content === null)
      return { kind: 'needless', reason: 'nothing is known any more of what it was about' };
    if (content === 'unreadable') {
      return { kind: 'retry', certainty: 'refused', reason: 'the database could not be read' };
    }
    if (!this.#dependencies.maySend()) return { kind: 'retry', certainty: 'refused', reason: notOwned };
    lane.pace.freeAt = this.#dependencies.now() + lane.channel.minGapMs;
    return lane.channel.send(content, lane.busy?.signal ?? new AbortController().signal);
  }
}

/** Null where the channel does not thread by subject. */
function threadSubjectOf(lane: Lane | undefined, content: Message): string | null {
  if (lane?.channel.threadsBySubject !== true || content.kind !== 'incidents') return null;
  return threadSubject(content);
}
