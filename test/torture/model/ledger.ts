import { type Notification, type NotificationItem, wireId } from '../../../src/domain/outbox.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Batch } from '../../../src/ports/store.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';
import { OnTime } from './on-time.ts';
import { Owed } from './owed.ts';
import { Readers } from './readers.ts';

/** How the attempts to send under one message id really ended. */
interface Wire {
  /** The content that was sent: incidents, each with its kind of news. */
  readonly content: readonly string[];
  /** Whether an attempt may have arrived although no answer said so. */
  maybe: boolean;
  last: Delivery | null;
}

interface Lane {
  busy: boolean;
  startedAt: number;
}

/** One instant: `at` is the simulation's time, `now` the daemon's. */
export interface Moment {
  readonly at: number;
  readonly now: number;
}

/** The model's knowledge when a message leaves. */
interface Leaving extends Moment {
  /** When an incident was last seen to be muted. */
  readonly mutedAt: (incident: string) => number;
  readonly intervalOf: (account: string) => number;
}

const hour = 3_600_000;
const day = 24 * hour;
/** After a time in which nobody looked, an open incident may be over: its message waits at most this long for a poll. */
const confirmMs = 60_000;
/** More messages an hour than the busiest scenario has for one channel. */
const mostSends = 240;

/** Follows every message from the outbox to its readers, and knows how each attempt really ended. */
export class Ledger {
  readonly #rows = new DurableMap<Notification>();
  /** The first instant at which a message may be tried again, and whether the database knows it. */
  readonly #notBefore = new DurableMap<number>();
  readonly #reports = new DurableMap<string>();
  readonly #owed = new Owed();
  #ended: string[] = [];
  #endedInBatch: readonly string[] = [];
  /** When the last batch was taken, on the daemon's clock: a message that is sent was chosen then or later. */
  #takenAt = 0;
  readonly #stored = [this.#rows, this.#notBefore, this.#reports, this.#owed] as const;
  /** The channel of each message with an ended attempt of which the database does not know; and those that the batch under way stores. */
  readonly #endUnstored = new Map<string, string>();
  #endsNotified: readonly string[] = [];
  /** Messages sent while it was unknown whether a batch is stored, and not in any batch yet. */
  readonly #unstored = new Set<string>();
  /** When each item was first put on the outbox. */
  readonly #firstSeen = new Map<string, number>();
  /** When each channel was sent to within the last hour. */
  readonly #recent = new Map<string, number[]>();
  /** The order in which messages were put on the outbox, whatever the clock showed. */
  readonly #places = new Map<string, number>();
  readonly #wires = new Map<string, Wire>();
  /** Messages with an attempt of which nobody knows whether it arrived. */
  readonly #uncertain = new Set<string>();
  readonly #lanes = new Map<string, Lane>();
  /** The instant until which each receiver asked this process to send it nothing. */
  readonly #closedUntil = new Map<string, number>();
  /** The same for earlier processes: this one knows of those waits only if they were stored. */
  readonly #closedBefore = new Map<string, number>();
  /** When somebody began to look again, after how long a gap, and which accounts were read since. */
  #awaits = { since: Number.NEGATIVE_INFINITY, gapMs: 0 };
  readonly #readSince = new Set<string>();
  readonly readers = new Readers();
  readonly onTime = new OnTime();
  /** `<channel>/<incident>` whose beginning the channel refused for good: it need not hear of the end. */
  readonly #unheard = new Set<string>();
  readonly lastDead = new Map<string, number>();
  readonly lastDelivered = new Map<string, number>();
  /** Why the daemon works from memory; null when it does not. */
  #failing: 'refused' | 'unheard' | null = null;
  /** Nothing was stored since the outcome of a batch was lost: decisions since then are in no batch that the model saw. */
  #isBehind = false;
  sends = 0;
  readonly #everDelivered = new Set<string>();

  get pending(): Notification[] {
    return [...this.#rows.values()].filter((row) => row.state === 'pending');
  }

  /** The number of a message's items that are known already; new items come after them. */
  knownItems({ id, items }: Notification): number {
    const known = this.#rows.get(id)?.items ?? [];
    return items.filter((item) => known.some((it) => isSame(it, item))).length;
  }

  isWaiting(channel: string, incident: string): boolean {
    return this.pending.some(
      (row) =>
        row.channel === channel && !isLate(row) && row.items.some((item) => item.incident === incident),
    );
  }

  booted(): void {
    this.#lanes.clear();
    for (const [channel, until] of this.#closedUntil) this.#closedBefore.set(channel, until);
    this.#closedUntil.clear();
    this.#failing = null;
    this.#isBehind = false;
  }

  died(): void {
    this.readers.processDied();
    for (const map of this.#stored) map.crash();
    // Marked as tried, and perhaps sent.
    for (const { id, uncertain } of this.#rows.values()) if (uncertain) this.#uncertain.add(id);
    this.#ended = [];
    this.#endUnstored.clear();
    this.#endsNotified = [];
    this.#unstored.clear();
    for (const wire of this.#wires.values()) if (wire.last === null) wire.maybe = true;
    this.#lanes.clear();
  }

  /** A message can no longer be read: only its readers know whether it arrived. */
  lose(id: string): void {
    const row = this.#rows.get(id);
    for (const { incident } of row?.items ?? []) this.readers.mayHaveRead(`${row?.channel}/${incident}`);
    this.#rows.forget(id);
  }

  backUp(): void {
    this.#rows.backUp();
    this.#owed.backUp();
    this.#reports.backUp();
  }

  restored(): void {
    this.readers.processDied();
    this.#rows.restore();
    this.#owed.restore();
    this.#reports.restore();
    this.forgetWaits();
    // The backup lacks the attempts made since: every message of that time may be sent again.
    for (const wire of this.#wires.values()) wire.maybe = true;
  }

  /** The wall clock moved, and no process noticed by how much. */
  forgetWaits(): void {
    for (const key of [...this.#notBefore.keys()]) this.#notBefore.delete(key);
    this.#notBefore.commit();
  }

  /** Applies a batch's changes to the outbox. */
  batch(
    batch: Batch,
    settings: Settings,
    it: Moment & { readonly wasMuted: (incident: string) => boolean },
  ): void {
    this.#expectMoved(batch, it.wasMuted);
    this.#followHeard(batch);
    const fresh: Notification[] = [];
    const written = [...batch.messages.map(({ id }) => id), ...batch.removedMessages];
    this.#endsNotified = written.filter((id) => this.#endUnstored.has(id));
    for (const row of batch.messages) {
      const before = this.#rows.get(row.id);
      if (!this.#places.has(row.id)) this.#places.set(row.id, this.#places.size);
      if (before === undefined) {
        fresh.push(row);
        this.#expectBorn(row);
      } else {
        this.#expectLawful(before, row, settings, it);
        if (before.state === 'pending' && row.state === 'dead') this.#died(row, it.at);
      }
      if (row.state !== 'pending') this.#ended.push(row.id);
      if (row.state === 'delivered') this.#everDelivered.add(row.id);
      for (const key of keysOf(row)) if (!this.#firstSeen.has(key)) this.#firstSeen.set(key, it.at);
      this.#rows.set(row.id, row);
    }
    for (const id of batch.removedMessages) {
      // The messages behind it may go out from now on.
      this.onTime.freed(this.#rows.get(id)?.channel ?? '', it.at);
      this.#rows.delete(id);
    }
    this.#expectReports(batch, settings, fresh);
  }

  get isFailing(): boolean {
    return this.#failing !== null;
  }

  /** Whether the outcome of a batch is unknown, so that no further batch shows what the daemon does from memory. */
  get isUnheard(): boolean {
    return this.#failing === 'unheard';
  }

  taken(now: number): void {
    this.#takenAt = now;
    for (const map of this.#stored) map.take();
    this.#endedInBatch = [...this.#ended];
  }

  committed(stored: boolean): void {
    this.#failing = stored ? null : 'refused';
    if (!stored) return;
    this.#isBehind = false;
    for (const map of this.#stored) map.commit();
    for (const id of this.#endsNotified) this.#endUnstored.delete(id);
    this.#endsNotified = [];
    // A message that ended can be forgotten: if the daemon tried it again, it would show as a new message with too many attempts.
    this.#ended = this.#ended.filter((row) => !this.#endedInBatch.includes(row));
    for (const row of this.#endedInBatch) this.#rows.forget(row);
  }

  /** A machine that slept, or whose clock was set forward, still waits the rest of the time that it was asked to wait. */
  jumped(byMs: number, at: number): void {
    const closed = [...this.#closedBefore.values(), ...this.#closedUntil.values()];
    const waits = [...closed, ...this.#notBefore.values()];
    const restMs = Math.max(0, ...waits.map((until) => until + byMs - at));
    this.onTime.disturb(byMs > 0 ? at + restMs : at);
  }

  /** The process does not know whether a batch is stored: until it does, it goes on as if the batch could not be written. */
  commitAnswered(heard: boolean, at: number): void {
    this.onTime.disturb(at);
    this.#failing = heard ? null : 'unheard';
    if (!heard) this.#isBehind = true;
  }

  awaitsPolls(since: number, gapMs: number): void {
    this.#awaits = { since, gapMs };
    this.#readSince.clear();
  }

  /** The account was polled. */
  read(account: string): void {
    this.#readSince.add(account);
  }

  sending(send: Send, it: Leaving): void {
    this.sends++;
    const { channel, message } = send;
    const id = baseId(message);
    // A delivery to some recipients may be in no batch yet.
    this.readers.sending(send, this.#rows.get(id)?.deliveredAt != null || this.#owed.has(id));
    const lane = this.#lanes.get(channel) ?? { busy: false, startedAt: Number.NEGATIVE_INFINITY };
    if (lane.busy) throw new Violation('one message at a time', `a second one began on ${channel}`);
    this.#lanes.set(channel, { busy: true, startedAt: it.at });
    const earlyMs = (this.#closedUntil.get(channel) ?? it.at) - it.at;
    if (earlyMs > 2)
      throw new Violation('a receiver is left alone as it asked', `${id} went out ${earlyMs} ms too early`);
    if (!send.mayBeUnstored) this.#expectOthersStored(send);
    // A message that some recipients were refused is tried again for them at its own pace.
    if (message.recipients === undefined) this.#expectGentle(channel, it.at);
    const row = this.#rows.get(baseId(message));
    if (row === undefined && this.#failing !== null && this.#isBehind && send.mayBeUnstored) {
      this.#unstored.add(baseId(message));
      this.#expectSameContent(message.id, send);
      return;
    }
    if (row === undefined || row.state !== 'pending') {
      throw new Violation('what is sent was stored first', `${message.id} is not in the outbox`);
    }
    if (
      (this.#failing === null || !send.mayBeUnstored) &&
      this.#rows.stored(row.id)?.attempts !== row.attempts
    ) {
      throw new Violation(
        'what is sent was stored first',
        `attempt ${row.attempts} of ${row.id} is not stored`,
      );
    }
    const notBefore = this.#notBefore.get(row.id);
    if (notBefore !== undefined && it.at < notBefore) {
      throw new Violation('a retry waits', `${row.id} went out ${notBefore - it.at} ms too early`);
    }
    this.#expectOnTime(row, it);
    this.#owed.expectOnlyOwed(row, send);
    // While the outcome of a batch is unknown, the daemon knows more than any batch shows.
    if (!this.isUnheard) this.#expectOldest(row, it);
    this.#expectWhole(row, send, it);
    this.#expectSameContent(message.id, send);
  }

  /** No message is late that is the first on its channel, or that waits for no other. */
  expectNoneLate(it: Moment): void {
    const heads = new Set<string>();
    for (const row of this.pending) {
      if (this.hasEnded(row)) continue;
      const isAlone = row.report !== null || row.owed !== undefined;
      const isBehind = !isAlone && heads.has(row.channel);
      if (!isAlone) heads.add(row.channel);
      if (!isBehind && this.#lanes.get(row.channel)?.busy !== true) this.#expectOnTime(row, it);
    }
  }

  /** Whether the message ended; that may be in no batch yet. */
  hasEnded(row: Notification): boolean {
    return this.#endUnstored.has(row.id) && this.#lastOf(row)?.kind !== 'retry';
  }

  #expectOnTime(row: Notification, it: Moment): void {
    if (this.isUnheard) return;
    const waits = [this.#closedBefore.get(row.channel), this.#closedUntil.get(row.channel)];
    const mayAt = Math.max(this.#notBefore.get(row.id) ?? 0, ...waits.map((until) => until ?? 0));
    this.onTime.expect(row, it, mayAt);
  }

  answered(send: Send, delivery: Delivery, at: number): void {
    const { channel, message } = send;
    this.onTime.freed(channel, at);
    const lane = this.#lanes.get(channel);
    if (lane !== undefined) lane.busy = false;
    const wire = this.#wires.get(`${channel}/${message.id}`);
    if (wire !== undefined) wire.last = delivery;
    if (delivery.kind === 'delivered') this.lastDelivered.set(channel, at);
    if (
      delivery.kind === 'dead' ||
      (delivery.kind === 'delivered' && delivery.refusedRecipients !== undefined) ||
      (delivery.kind === 'retry' && delivery.refused !== undefined)
    ) {
      this.lastDead.set(channel, at);
    }
    this.#endUnstored.set(baseId(message), channel);
    const row = this.#rows.get(baseId(message)) ?? null;
    // Even if that cannot be stored before the next message goes out.
    if (delivery.kind === 'dead' && row !== null) this.#died(row, at);
    if (delivery.kind === 'delivered' && row !== null) {
      const waitMs = this.#owed.delivered(row.id, delivery);
      if (waitMs !== null) this.#notBefore.set(row.id, at + waitMs - 2);
    }
    if (delivery.kind === 'retry') this.#comesAgain(send, delivery, at);
  }

  #comesAgain({ channel, message }: Send, delivery: Extract<Delivery, { kind: 'retry' }>, at: number): void {
    if (delivery.isForAll === true) this.#closedUntil.set(channel, at + (delivery.afterMs ?? 0));
    if (delivery.certainty === 'unknown') {
      this.readers.lostTrackOf(channel);
      this.#uncertain.add(baseId(message));
      const wire = this.#wires.get(`${channel}/${message.id}`);
      if (wire !== undefined) wire.maybe = true;
    }
    const row = this.#rows.get(baseId(message));
    if (row === undefined) return;
    const backoffMs = Math.min(300_000, 1000 * 2 ** Math.min(20, row.attempts - 1));
    this.#notBefore.set(row.id, at + Math.max(backoffMs, delivery.afterMs ?? 0) - 2);
  }

  /** A daemon that takes over now repeats every message whose end is not stored: at most one a channel. */
  #expectOthersStored({ channel, message }: Send): void {
    const others = [...this.#endUnstored].filter(([id, its]) => its === channel && id !== baseId(message));
    if (others.length === 0) return;
    throw new Violation(
      'one message a channel is repeated',
      `${message.id} went to ${channel} while the database did not know the end of ${others.map(([id]) => id)}`,
    );
  }

  /** A message that leaves the outbox unsent moved whole into another one, or was retracted for a silence or a worse alert and is known to nobody. */
  #expectMoved(batch: Batch, wasMuted: (incident: string) => boolean): void {
    for (const id of batch.removedMessages) {
      const row = this.#rows.get(id);
      if (row === undefined || row.state !== 'pending') continue;
      const heirs = batch.messages.filter((it) => it.channel === row.channel && it.id !== id);
      for (const item of row.items) {
        const kept = heirs.some((heir) => heir.items.some((it) => isSame(it, item)));
        if (!kept && !(this.#isKnownToNobody(row) && wasMuted(item.incident)))
          throw new Violation(
            'nothing leaves the outbox unsent',
            `${item.kind} of ${item.incident} in ${id}`,
          );
      }
    }
  }

  /** A message that some have received may be merged with one that nobody has. */
  #followHeard({ messages, removedMessages }: Batch): void {
    const unheard = messages.filter(({ deliveredAt }) => deliveredAt === null);
    for (const row of this.pending.filter(({ deliveredAt }) => deliveredAt !== null)) {
      const isRemoved = removedMessages.includes(row.id);
      const heir = unheard.find(
        ({ id, channel, items }) =>
          id === row.id ||
          (isRemoved &&
            channel === row.channel &&
            row.items.every((item) => items.some((it) => isSame(it, item)))),
      );
      if (heir === undefined) continue;
      // Those who have received it know it by this id.
      const wire = this.#wires.get(`${row.channel}/${wireId(row)}`);
      if (wire !== undefined) wire.maybe = true;
      if (this.#isBehind || this.#hasUnheard(row, [heir.id, ...removedMessages]))
        this.readers.mayHearAgain(row);
    }
  }

  #hasUnheard({ channel }: Notification, ids: readonly string[]): boolean {
    return this.pending.some(
      (row) => row.channel === channel && row.deliveredAt === null && ids.includes(row.id),
    );
  }

  #expectBorn(row: Notification): void {
    if (row.report !== null) this.#expectFirstReport(row);
    if (this.#unstored.delete(row.id)) return;
    // All that an older database lacks is stored again, delivered messages too.
    if (row.state === 'delivered' && !this.#everDelivered.has(row.id))
      throw new Violation('delivered means delivered', `${row.id} was born delivered`);
    // A message that is newer than the last batch may have been held back at the last moment, which counts as an attempt.
    if (row.attempts > 1 && row.createdAt < this.#takenAt)
      throw new Violation('what ended stays ended', `${row.id} came up with ${row.attempts} attempts`);
  }

  #expectLawful(
    before: Notification,
    row: Notification,
    settings: Settings,
    it: Moment & { readonly wasMuted: (incident: string) => boolean },
  ): void {
    if (before.state !== 'pending' && row.state !== before.state) {
      throw new Violation('what ended stays ended', `${row.id} was ${before.state}, is ${row.state}`);
    }
    for (const item of before.items) {
      if (row.items.some((kept) => kept.incident === item.incident && kept.kind === item.kind)) continue;
      if (this.#isKnownToNobody(before) && it.wasMuted(item.incident)) continue;
      throw new Violation(
        'nothing leaves the outbox unsent',
        `${item.kind} of ${item.incident} left ${row.id}`,
      );
    }
    if (before.state === row.state || row.state === 'pending') return;
    if (row.state === 'delivered') {
      this.#expectDelivered(row, settings, it);
      return;
    }
    const last = this.#lastOf(row);
    const gone = !settings.channels.some((channel) => channel.name === row.channel);
    const old = it.now - row.createdAt > 7 * day;
    // Items that moved here from an expired message keep the time that they have left.
    const since = Math.min(...keysOf(row).map((key) => this.#firstSeen.get(key) ?? it.at));
    // The rest of a message that was tried for a day may not be sent while another daemon may have the accounts.
    const isHeldBack = last === null && row.lastError?.includes('it was not sent') === true;
    const tried = (last?.kind === 'retry' || isHeldBack) && it.at - since >= day - 1000;
    // The channel refused the beginning, so that there is no end to report.
    const needless =
      last === null &&
      this.lastDead.has(row.channel) &&
      /^(?:nothing is known|this channel never heard)/.test(row.lastError ?? '');
    const isLeft = this.readers.hasChanged(row.channel, since);
    if (last?.kind === 'dead' || gone || isLeft || old || tried || needless) return;
    throw new Violation(
      'a message dies with a reason',
      `${row.id}: ${row.lastError}; last ${JSON.stringify(last)}`,
    );
  }

  #expectDelivered(row: Notification, settings: Settings, it: Moment): void {
    const last = this.#lastOf(row);
    const isServed = last?.kind === 'delivered' && !this.#owed.has(row.id);
    if (isServed) return;
    // Also the rest of a message that was tried for a day.
    if (this.#owed.has(row.id) || row.owed !== undefined) this.#expectServed(row, settings, it);
    else throw new Violation('delivered means delivered', `${row.id}: ${JSON.stringify(last)}`);
  }

  /** The message ended though some recipients were refused it for now: it was tried for a day, or was then refused for good. */
  #expectServed(row: Notification, settings: Settings, it: Moment): void {
    const last = this.#lastOf(row);
    const gone = !settings.channels.some((channel) => channel.name === row.channel);
    const since = Math.min(...keysOf(row).map((key) => this.#firstSeen.get(key) ?? it.at));
    const tried = last?.kind === 'retry' && it.at - since >= day - 1000;
    if (tried) this.lastDead.set(row.channel, it.at);
    if (tried || gone || last?.kind === 'dead') return;
    throw new Violation(
      'whoever is refused for now is tried again',
      `${row.id} ended; last ${JSON.stringify(last)}`,
    );
  }

  #died(row: Notification, at: number): void {
    this.lastDead.set(row.channel, at);
    for (const { incident } of row.items) {
      const key = `${row.channel}/${incident}`;
      // It is also unknown which items were in an attempt that may have arrived.
      if (this.#uncertain.has(row.id) || row.revision !== 0) this.readers.mayHaveRead(key);
      if (this.readers.heard(row.channel, incident).size === 0) this.#unheard.add(key);
    }
  }

  /** Whether a message has content that, as far as anybody knows, nobody has received. */
  isNews({ message }: Send): boolean {
    const row = this.#rows.get(baseId(message));
    if (row === undefined || row.report !== null || this.#uncertain.has(row.id)) return false;
    return this.#isKnownToNobody(row);
  }

  /** Whether no attempt can have arrived: each was refused for now, and surely. */
  #isKnownToNobody(row: Notification): boolean {
    const wire = this.#wires.get(`${row.channel}/${row.id}`);
    if (row.revision !== 0 || isLate(row)) return false;
    if (wire === undefined) return true;
    return !wire.maybe && wire.last?.kind === 'retry' && wire.last.certainty === 'refused';
  }

  #lastOf(row: Notification): Delivery | null {
    const wire = row.revision === 0 ? row.id : `${row.id}-r${row.revision}`;
    return this.#wires.get(`${row.channel}/${wire}`)?.last ?? null;
  }

  /** Retries slow down, and a channel that refuses is tried only at the pace of reminders. */
  #expectGentle(channel: string, at: number): void {
    const recent = (this.#recent.get(channel) ?? []).filter((it) => at - it < hour);
    recent.push(at);
    this.#recent.set(channel, recent);
    if (recent.length <= mostSends) return;
    throw new Violation(
      'a channel is not hammered',
      `${recent.length} messages to ${channel} within an hour`,
    );
  }

  /** Whether an incident in it is open as far as anybody knows, and its account is to be read first. */
  #isToBeConfirmed({ items }: Notification, { at, intervalOf }: Leaving): boolean {
    const { since, gapMs } = this.#awaits;
    const ended = new Set(items.flatMap(({ kind, incident }) => (kind === 'resolved' ? incident : [])));
    const isAwaited = (account: string): boolean =>
      !this.#readSince.has(account) && gapMs > intervalOf(account);
    return (
      at < since + confirmMs &&
      items.some(({ incident, account }) => !ended.has(incident) && isAwaited(account))
    );
  }

  #expectOldest(row: Notification, it: Leaving): void {
    for (const other of this.#rows.values()) {
      if (other.state !== 'pending' || other.channel !== row.channel || other.id === row.id) continue;
      if (this.#isToBeConfirmed(other, it)) continue;
      // It ended, which may or may not be stored.
      if (this.#lastOf(other)?.kind === 'delivered') continue;
      if (
        (this.#places.get(other.id) ?? 0) < (this.#places.get(row.id) ?? 0) &&
        other.dueAt <= Math.min(it.now, this.#takenAt) - 50 &&
        // A message that its receiver puts off with each try holds up no other.
        other.attempts < row.attempts &&
        row.report === null &&
        other.report === null &&
        row.owed === undefined &&
        other.owed === undefined
      ) {
        throw new Violation('the oldest goes first', `${row.id} went out before ${other.id}`);
      }
    }
  }

  /** A message says every item of its row, except the end, acknowledgement or reminder of an incident whose beginning the channel refused. */
  #expectWhole(row: Notification, { message }: Send, { mutedAt }: Leaving): void {
    if (message.kind !== 'incidents') return;
    for (const item of row.items) {
      const said = message.items.find(({ incident }) => incident.id === item.incident);
      if (said?.kinds.includes(item.kind) === true || this.readers.isLost(item.incident)) continue;
      const isOver = row.items.some(
        ({ incident, kind }) => incident === item.incident && kind === 'resolved',
      );
      // A silence took the item from the channel while it was owed to some recipients.
      const isOwedAlone = row.owed !== undefined && this.readers.heard(row.channel, item.incident).size === 0;
      // The message was on its way when the channel left; an item that was over by then concerns nobody.
      const since = this.#firstSeen.get(`${row.channel} ${item.incident} ${item.kind} ${item.at}`) ?? 0;
      const isLeft = this.readers.hasChanged(row.channel, since);
      const isUnheard = this.#unheard.has(`${row.channel}/${item.incident}`);
      const isOfUnheard = (item.kind === 'acknowledged' || item.kind === 'reminder') && isUnheard;
      // Nobody can have received the item, and it was retracted after the last batch that showed the outbox.
      const isTakenBack = this.isUnheard && mutedAt(item.incident) >= since && this.#isKnownToNobody(row);
      if (isTakenBack) this.#takeBack(row.id, item);
      if (isLeft || isOfUnheard || isOwedAlone || isTakenBack || (isOver && isUnheard)) continue;
      throw new Violation(
        'a message says all it stands for',
        `${item.kind} of ${item.incident} is not in ${message.id}`,
      );
    }
  }

  /** Removes the item from the row, as the message that leaves now and the next batch do. */
  #takeBack(id: string, item: NotificationItem): void {
    const row = this.#rows.get(id);
    if (row !== undefined) this.#rows.set(id, { ...row, items: row.items.filter((it) => !isSame(it, item)) });
  }

  /** A receiver that drops messages with a repeated id must lose nothing. */
  #expectSameContent(id: string, { channel, message }: Send): void {
    if (message.recipients !== undefined) {
      this.#wires.set(`${channel}/${id}`, { content: [], maybe: false, last: null });
      return;
    }
    const content =
      message.kind === 'incidents'
        ? message.items.flatMap((it) => it.kinds.map((kind) => `${it.incident.id} ${kind}`))
        : [message.kind];
    const key = `${channel}/${id}`;
    const known = this.#wires.get(key);
    if (known === undefined && textOf(message).includes('secret-'))
      throw new Violation('no secret is shown', `in a message to ${channel}`);
    // Fewer items than before lose nothing: a message sent from memory may have said more than is stored.
    const more = content.filter((it) => known?.content.includes(it) === false);
    if (known?.maybe === true && more.length > 0)
      throw new Violation('one id, one content', `${id} said "${known.content}", and now also "${more}"`);
    this.#wires.set(key, { content, maybe: known?.maybe ?? false, last: null });
  }

  #expectFirstReport(row: Notification): void {
    const key = `${row.channel} ${row.report?.id} ${row.report?.until}`;
    if (this.#reports.has(key)) throw new Violation('a report goes out once a run', key);
    this.#reports.set(key, row.id);
  }

  #expectReports(batch: Batch, settings: Settings, fresh: readonly Notification[]): void {
    for (const report of settings.reports) {
      const note = batch.notes[`report:${report.id}`];
      if (note === undefined || note === null) continue;
      const known = this.#reports.get(`note ${report.id}`);
      this.#reports.set(`note ${report.id}`, note);
      if (known === undefined || known === note || this.#failing !== null) continue;
      for (const channel of report.channels) {
        if (fresh.some((row) => row.report?.id === report.id && row.channel === channel)) continue;
        throw new Violation(
          'a report goes out once a run',
          `${report.id} of ${note} was not put out for ${channel}`,
        );
      }
    }
  }
}

/** The items of a message as keys; a report is one item. */
function keysOf(row: Notification): string[] {
  if (row.report !== null) return [row.id];
  return row.items.map((item) => `${row.channel} ${item.incident} ${item.kind} ${item.at}`);
}

/** Whether some have received the message, and others are still owed it. */
function isLate({ owed, deliveredAt }: Notification): boolean {
  return owed !== undefined && deliveredAt !== null;
}

/** The message's id in the outbox, without its revision. A report has none, though its id may end like one. */
function baseId({ kind, id }: Send['message']): string {
  return kind === 'report' ? id : id.replace(/-r\d+$/, '');
}

/** The whole content of a message, without the points of its charts. */
function textOf(message: Send['message']): string {
  return JSON.stringify(message, (key, value: unknown) => (key === 'history' ? null : value));
}

function isSame(one: NotificationItem, other: NotificationItem): boolean {
  return one.incident === other.incident && one.kind === other.kind && one.at === other.at;
}
