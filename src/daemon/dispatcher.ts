import { getOrMake } from '../domain/get-or-make.ts';
import type { IncidentMessage, Message } from '../domain/message.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Notification } from '../domain/outbox.ts';
import { closedUntil, type DeliveryEnd, type Sent, unsent, waitForAll } from '../engine/delivery-ended.ts';
import { sketchIncident } from '../engine/incidents.ts';
import {
  absorbFollowers,
  busyAlerts,
  isAboutOneOf,
  joinOwed,
  pausedForPoll,
  putNotification,
  queueOf,
  refusedUntil,
  sendable,
} from '../engine/queue.ts';
import { factsOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { inactiveAlert } from '../engine/transition.ts';
import { threadSubject } from '../messages/message-wording.ts';
import type { Channel } from '../ports/channel.ts';
import type { DaemonMembership } from '../ports/cluster.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { type ComposeDependencies, composeIncidents, describeIncident } from './compose.ts';
import { composeReport } from './compose-report.ts';
import { inSlices } from './slices.ts';

/** A notification taken from the outbox, to be sent once that is stored. */
export interface Claim {
  readonly message: Notification;
  readonly wasUncertain: boolean;
}

interface DispatcherDependencies extends ComposeDependencies {
  readonly membership?: DaemonMembership;
  readonly ended: (sent: Sent) => void;
  /** Another dispatcher that sends to the same channels. The two share their pace. */
  readonly beside?: Pick<Dispatcher, 'paceOf' | 'refusedUntil'>;
}

/** The delivery of one channel: one message at a time, or as many as it takes, and no faster than it allows. */
interface Lane {
  readonly channel: Channel;
  /** Ids of the messages under way. */
  readonly running: Set<string>;
  pace: Pace;
}

/** When the receiver takes the next message. Channels with one receiver share it. */
interface Pace {
  freeAt: number;
}

/** Each channel has its own lane, so that no channel delays another. A claim is committed before it is sent. */
export class Dispatcher {
  readonly #dependencies: DispatcherDependencies;
  readonly #lanes = new Map<string, Lane>();
  readonly #ending = new AbortController();
  #stopped = false;
  #hasRehearsed = false;

  constructor(dependencies: DispatcherDependencies) {
    this.#dependencies = dependencies;
  }

  get running(): number {
    return this.#lanes.values().reduce((sum, lane) => sum + lane.running.size, 0);
  }

  /** When the next message can be claimed; Infinity when no message waits or its channel is busy. */
  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    if (this.#hasNothing()) return next;
    const { state } = this.#dependencies;
    const now = this.#dependencies.now();
    for (const [name, lane] of this.#lanes) {
      const dueAts = this.#sendable(name, lane, now).map(({ dueAt }) => dueAt);
      if (pausedForPoll(state, name, now).length > 0) dueAts.push(state.unconfirmedUntil);
      for (const dueAt of dueAts) next = Math.min(next, Math.max(dueAt, this.#freeAt(name, lane)));
    }
    return next;
  }

  paceOf(channel: string): Pace | undefined {
    return this.#lanes.get(channel)?.pace;
  }

  /** Until when the channel's receiver refuses messages for now: the other dispatcher sends nothing there until then. */
  refusedUntil(channel: string): number {
    return refusedUntil(this.#dependencies.state, channel);
  }

  /** Applies a reload. A delivery of a removed or replaced channel may finish. */
  adopt(channels: readonly Channel[]): void {
    const lanes = new Map(this.#lanes);
    this.#lanes.clear();
    const receiverOf = ({ paceKey, name }: Channel): string => paceKey ?? name;
    const paces = new Map(lanes.values().map(({ channel, pace }) => [receiverOf(channel), pace]));
    const { state, beside, now } = this.#dependencies;
    for (const channel of channels) {
      const { running = new Set<string>() } = lanes.get(channel.name) ?? {};
      const pace =
        beside?.paceOf(channel.name) ?? getOrMake(paces, receiverOf(channel), () => ({ freeAt: 0 }));
      // Keeps the wait that the receiver asked of the process before this one.
      if (lanes.size === 0) pace.freeAt = Math.max(pace.freeAt, closedUntil(state, channel.name, now()));
      this.#lanes.set(channel.name, { channel, running, pace });
    }
  }

  /** Claims the messages that are due: marks each as in flight and possibly sent, so that the next commit stores that. */
  claimDue(now: number): Claim[] {
    const claims: Claim[] = [];
    if (this.#hasNothing()) return claims;
    for (const [name, lane] of [...this.#lanes])
      for (let claim = this.#claimNext(name, lane, now); claim; claim = this.#claimNext(name, lane, now))
        claims.push(claim);
    return claims;
  }

  #claimNext(name: string, lane: Lane, now: number): Claim | null {
    const { state } = this.#dependencies;
    if (this.#freeAt(name, lane) > now) return null;
    const dues = this.#sendable(name, lane, now).filter(({ dueAt }) => dueAt <= now);
    // A receiver may ask to wait with each try of one message. The least tried goes first, so that this message does not block the others.
    const [due] = dues.toSorted((one, other) => one.attempts - other.attempts);
    if (due === undefined) return null;
    const whole = joinOwed(state, absorbFollowers(state, due, busyAlerts(state, name, now)));
    const message = { ...whole, attempts: whole.attempts + 1, uncertain: true };
    lane.running.add(message.id);
    this.#lanes.delete(name);
    this.#lanes.set(name, lane);
    // Another lane of the same receiver may be due now: its pace must already count this message.
    lane.pace.freeAt = now + lane.channel.minGapMs;
    state.underWay.add(message.id);
    putNotification(state, message);
    return { message, wasUncertain: whole.uncertain };
  }

  #freeAt(channel: string, { pace }: Lane): number {
    return Math.max(pace.freeAt, this.#dependencies.beside?.refusedUntil(channel) ?? 0);
  }

  /** After a clock change the remaining pause after a message stays as long. */
  shift(byMs: number): void {
    const paces = new Set([...this.#lanes.values()].map(({ pace }) => pace));
    for (const pace of paces) pace.freeAt += byMs;
  }

  /** Sends claims that are stored. */
  send(claims: readonly Claim[]): void {
    for (const claim of claims) void this.#deliver(claim);
  }

  /** Done once in the life of a daemon, at an instant when no poll would have to wait for it. */
  rehearse(account: WatchedAccount): void {
    if (this.#hasRehearsed) return;
    this.#hasRehearsed = true;
    const { state, now } = this.#dependencies;
    const channels = [...this.#lanes.values()].map(({ channel }) => channel);
    void rehearse(state, channels, account, now());
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Gives up running deliveries: they are repeated after the next start. */
  abandon(): void {
    this.#ending.abort();
  }

  get #maySend(): boolean {
    return this.#dependencies.membership?.maySend() ?? true;
  }

  /** A quick check, because claiming follows every poll and there is mostly nothing to send: then no lane is looked at. */
  #hasNothing(): boolean {
    return this.#stopped || this.#dependencies.state.messages.size === 0 || !this.#maySend;
  }

  async #deliver(claim: Claim): Promise<void> {
    const { id } = claim.message;
    const content = await this.#compose({ ...claim.message, channel: this.#channelOf(claim) });
    const lane = this.#lanes.get(this.#channelOf(claim));
    const delivery = await this.#attempt(lane, claim.message, content);
    for (const { running } of this.#lanes.values()) running.delete(id);
    if (lane !== undefined) delayNext(lane, waitForAll(delivery), this.#dependencies.now());
    const isIncidents = typeof content === 'object' && content?.kind === 'incidents';
    const subject = isIncidents && lane?.channel.threadsBySubject ? threadSubject(content) : null;
    this.#dependencies.ended({ ...claim, subject, delivery });
  }

  /** Since the claim, a reload may have renamed its channel and given the old name to another one. */
  #channelOf({ message }: Claim): string {
    return (this.#dependencies.state.messages.get(message.id) ?? message).channel;
  }

  /**
   * Messages that may be sent while others are under way or paused. A message waits while one about the same alert is under way, and while
   * the channel takes no more at once. A message that went out under the channel's former name counts as under way too.
   */
  #sendable(channel: string, lane: Lane, now: number): readonly Notification[] {
    const { state } = this.#dependencies;
    const queue = queueOf(state, channel);
    const underWay = queue.filter(({ id }) => state.underWay.has(id));
    const { maxConcurrent = 1 } = lane.channel;
    if (Math.max(underWay.length, lane.running.size) >= maxConcurrent) return [];
    const paused = pausedForPoll(state, channel, now);
    const waiting = queue.filter((message) => !state.underWay.has(message.id) && !paused.includes(message));
    if (waiting.length === 0) return [];
    const busy = busyAlerts(state, channel, now);
    return sendable(waiting.filter((message) => !isAboutOneOf(message, busy)));
  }

  /** Null when there is nothing to say any more. A report needs the database; a message about incidents never does. */
  async #compose(message: Notification): Promise<Message | null | 'no-database'> {
    try {
      if (message.report !== null) return await composeReport(this.#dependencies, message, message.report);
      const isDrawn = this.#lanes.get(message.channel)?.channel.drawsAlerts === true;
      return await composeIncidents(this.#dependencies, message, isDrawn);
    } catch (error) {
      if (error instanceof StorageError) return 'no-database';
      throw error;
    }
  }

  async #attempt(
    lane: Lane | undefined,
    { items }: Notification,
    content: Message | null | 'no-database',
  ): Promise<DeliveryEnd> {
    if (lane === undefined) return { kind: 'needless', reason: unsent.channelRemoved() };
    if (content === null) {
      const isKnown = items.some(({ incident }) => this.#dependencies.state.incidents.has(incident));
      return { kind: 'needless', reason: isKnown ? unsent.unheard() : unsent.forgotten() };
    }
    if (content === 'no-database') {
      return { kind: 'retry', certainty: 'refused', reason: unsent.noDatabase() };
    }
    if (!this.#maySend) return { kind: 'untried', reason: unsent.notOwned() };
    delayNext(lane, lane.channel.minGapMs, this.#dependencies.now());
    return lane.channel.send(content, this.#ending.signal);
  }
}

/** The receiver gets nothing before then, by any of its channels. */
function delayNext({ pace }: Lane, ms: number, now: number): void {
  pace.freeAt = Math.max(pace.freeAt, now + ms);
}

/**
 * Words and renders a made-up alert for each channel and sends it nowhere, so that the first real message finds its code
 * compiled (`bench/alert.ts` says what that saves). A failure here repeats with a real message, and is reported there.
 */
export async function rehearse(
  state: MonitorState,
  channels: readonly Channel[],
  account: WatchedAccount,
  now: number,
): Promise<void> {
  for await (const part of inSlices(channels, 1))
    await Promise.allSettled(part.map(async (channel) => channel.preview(makeUp(state, account, now))));
}

/** A message as if the first rule of the account fired, with the account's present numbers. */
function makeUp(state: MonitorState, account: WatchedAccount, now: number): IncidentMessage {
  const [rule] = account.rules;
  if (rule === undefined) throw new Error('an account without rules');
  const kind = ruleKindOf(rule);
  const known = factsOf(account, now);
  const { value, threshold } = kind.evaluate(rule, known, null);
  const facts = kind.factsBehind(rule, known);
  const { id, type, balance } = rule;
  const alert = {
    ...inactiveAlert({ account: account.id, rule: id, type, balance }),
    value,
    threshold,
    facts,
  };
  const incident = sketchIncident('', account, alert, now);
  const item = describeIncident(state, { incident, kinds: ['firing'], now });
  const { language, timezone, server } = state.settings;
  const frame = { id: '', at: now, language, timezone, publicUrl: server?.publicUrl ?? null };
  return { ...frame, kind: 'incidents', items: [item], thread: null, companions: [] };
}
