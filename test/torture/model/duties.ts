import { alertKey, type Incident, type LastNotified } from '../../../src/domain/alert.ts';
import type { Notification, NotificationItem } from '../../../src/domain/outbox.ts';
import { amountOf, hasSameBalances, type Outcome, type Reading } from '../../../src/domain/reading.ts';
import type { Severity } from '../../../src/domain/severity.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Calendar } from '../../../src/ports/clock.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import type { AlertBook } from './alert-book.ts';
import { DurableMap } from './durable-map.ts';
import type { Ledger, Moment } from './ledger.ts';
import { OneVoice } from './one-voice.ts';
import {
  type Ask,
  acknowledged,
  asksOf,
  inhibited,
  maybeHeld,
  silenced,
  wasSilencedSince,
} from './routing.ts';
import { rank } from './rules.ts';

/** A decision may take this long: it may wait for a timer or a commit. */
const graceMs = 65_000;
/** A decision is committed a moment after it was made: an alert that changed in that moment proves nothing. */
const settledMs = 10_000;
/** This close to its beginning or end, a silence counts as neither on nor off. */
const edgeMs = 1500;

interface Parts {
  readonly calendar: Calendar;
  readonly book: AlertBook;
  readonly ledger: Ledger;
}

/** Compares the daemon's outbox with what must be reported, and with what must not. */
export class Duties {
  readonly #parts: Parts;
  /** Since when something is owed, by channel, incident and kind. */
  #owed = new Map<string, number>();
  /** When a channel was last notified of an incident: reminders are counted from then. */
  readonly #lastNotified = new DurableMap<number>();
  /** When an incident was last seen silenced or inhibited: notifications that waited then were retracted. */
  readonly #lastMuted = new Map<string, number>();
  /** The instant of the last decision of each kind, by channel and incident. */
  readonly #lastItem = new DurableMap<number>();
  /** The last two readings of each account. */
  readonly #readings = new Map<string, readonly [Reading, Reading | null]>();
  /** Each incident's severity as last written, and the severity to which a top-up last lowered it. */
  readonly #severity = new DurableMap<Severity>();
  readonly #eased = new DurableMap<{ readonly severity: Severity; readonly rises: number }>();
  /** The open incident of each alert, as it was last written. */
  readonly #open = new Map<string, Pick<Incident, 'id' | 'severity' | 'rises'>>();
  readonly #oneVoice = new OneVoice();
  /** The severity of each incident in the last notification to a channel. */
  readonly #told = new DurableMap<Severity>();
  /** The same for notifications that surely arrived. */
  readonly #read = new DurableMap<Severity>();
  /** The severity of each alert before the last reading, and when that came: one batch may hold decisions from before and after it. */
  readonly #before = new Map<string, { readonly severity: Severity; readonly at: number }>();
  /** When each alert was last seen to change. */
  readonly #changedAt = new Map<string, number>();
  /** Silences known before the batch under way, which also holds decisions made before a newer silence. */
  readonly #silences = new DurableMap<true>();
  /** Silences known before the previous batch: a message that is sent now was chosen before the last batch was made. */
  #earlier: ReadonlySet<string> = new Set();
  /** Incidents acknowledged by the time of the last batch, and of the one before it. */
  #have: ReadonlySet<string> = new Set();
  #hadEarlier: ReadonlySet<string> = new Set();
  readonly #stored = [
    this.#silences,
    this.#severity,
    this.#eased,
    this.#told,
    this.#read,
    this.#lastNotified,
    this.#lastItem,
    this.#oneVoice,
  ] as const;
  /** Incidents whose records could not be read. */
  readonly #lost = new Set<string>();
  /** Incidents that were once acknowledged: if the acknowledgement is removed, their readers are notified at once. */
  readonly #taken = new Set<string>();
  #disturbedAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A restart, a clock change or a reload: decisions may wait for a poll now. */
  disturb(at: number): void {
    this.#disturbedAt = at;
    this.#owed.clear();
    this.#before.clear();
  }

  /** The database is an older one, or the clock moved unseen: the last notification of a channel proves nothing. */
  restored(): void {
    for (const map of [
      this.#lastNotified,
      this.#severity,
      this.#eased,
      this.#told,
      this.#read,
      this.#silences,
    ])
      for (const key of [...map.keys()]) map.delete(key);
    this.#open.clear();
    this.#oneVoice.restored();
    this.committed();
  }

  /** The record of who was notified of an incident, and who acknowledged it, cannot be read any more. */
  lose(incident: string): void {
    this.#lost.add(incident);
    for (const map of [this.#severity, this.#eased]) map.forget(incident);
    // The incident begins again, and its rises are counted from 0.
    for (const [alert, { id }] of this.#open) if (id === incident) this.#open.delete(alert);
    for (const map of [this.#lastNotified, this.#told, this.#read])
      for (const key of [...map.keys()]) if (key.endsWith(`/${incident}`)) map.forget(key);
    this.#oneVoice.lose(incident);
  }

  /** The batch that first stores an event also puts it on the outbox, for every channel that should hear of it. */
  expectPutOut(state: MonitorState, incident: Incident, { now }: Moment): void {
    const { calendar, ledger } = this.#parts;
    if (silenced(state, calendar, incident, now)) return;
    for (const { channel, direct } of asksOf(state.settings, incident))
      if (direct && incident.notified[channel] === undefined && !ledger.lastDead.has(channel))
        throw new Violation('damage is told', `${incident.id} was not put out for ${channel}`);
  }

  /**
   * Called before the book is updated. A reading may bring a balance below a level worse than the firing one: then the alert was milder
   * before, even if the rise waits.
   */
  polled(account: string, outcome: Outcome, at: number): void {
    if (outcome.kind !== 'ok') return;
    for (const [rule, { severity }] of this.#parts.book.fact(account)?.alerts ?? [])
      this.#before.set(alertKey(account, rule), { severity, at });
    const last: Reading = { at, ...outcome.answer };
    const before = this.#readings.get(account)?.[0] ?? null;
    // After a rename the balance is another one.
    const previous = before !== null && hasSameBalances(before, last) ? before : null;
    this.#readings.set(account, [last, previous]);
    for (const rule of this.#parts.book.rulesOf(account)) {
      const open = this.#open.get(`${account}/${rule.id}`);
      if (rule.type !== 'below' || rule.balance === null || open === undefined || previous === null) continue;
      const [now, then] = [amountOf(last, rule.balance), amountOf(previous, rule.balance)];
      const falls = ([severity, level]: [string, number]): boolean =>
        rank[severity as Severity] > rank[open.severity] && now < level && level <= then;
      if (Object.entries(rule.thresholds).some(falls)) this.#eased.set(open.id, open);
    }
  }

  /** An incident in a batch. If it became milder as its balance rose, a top-up eased it. */
  followed(incident: Incident, at: number): void {
    this.#oneVoice.followed(incident, at);
    const { id, account, rule, balance, severity, rises, acknowledgement } = incident;
    if (acknowledgement !== null) this.#taken.add(id);
    const before = this.#severity.get(id);
    this.#severity.set(id, severity);
    for (const map of [this.#told, this.#read])
      for (const [key, known] of [...map.entries()])
        if (key.endsWith(`/${id}`) && rank[severity] < rank[known]) map.set(key, severity);
    if (incident.resolvedAt === null) this.#open.set(`${account}/${rule}`, { id, severity, rises });
    else if (this.#open.get(`${account}/${rule}`)?.id === id) this.#open.delete(`${account}/${rule}`);
    if (before === undefined || rank[severity] >= rank[before] || balance === null) return;
    const [last, previous] = this.#readings.get(account) ?? [null, null];
    if (last !== null && previous !== null && amountOf(last, balance) > amountOf(previous, balance))
      this.#eased.set(id, { severity, rises });
  }

  taken({ silences, incidents }: Pick<MonitorState, 'silences' | 'incidents'>): void {
    this.#earlier = new Set(this.#silences.keys());
    this.#hadEarlier = this.#have;
    this.#have = new Set([...incidents.values()].filter(acknowledged).map(({ id }) => id));
    for (const { id } of silences.values()) if (!this.#silences.has(id)) this.#silences.set(id, true);
    for (const map of this.#stored) map.take();
  }

  committed(): void {
    for (const map of this.#stored) map.commit();
  }

  died(): void {
    for (const map of this.#stored) map.crash();
  }

  /** The alerts that changed in a batch: they have been as they are only since now. */
  changed(keys: Iterable<string>, at: number): void {
    for (const key of keys) this.#changedAt.set(key, at);
  }

  /** Items that a batch puts on the outbox. */
  enqueued(
    state: MonitorState,
    it: { readonly message: Notification; readonly from: number } & Moment,
  ): void {
    for (const item of it.message.items.slice(it.from)) {
      if (item.kind === 'acknowledged') this.#taken.add(item.incident);
      // An item that only moved here from another message was decided earlier.
      const key = `${it.message.channel}/${item.incident} ${item.kind}`;
      if (item.at < it.now - 5000 || this.#lastItem.get(key) === item.at) continue;
      this.#lastItem.set(key, item.at);
      const incident = state.incidents.get(item.incident);
      if (incident !== undefined) {
        this.#judgeItem(state, incident, { ...it, item });
        this.#told.set(`${it.message.channel}/${item.incident}`, this.#severityAt(item, incident));
      }
      // The decision came a moment before it is seen here, if commits wait or fail.
      const agoMs = Math.max(0, it.now - item.at);
      this.#lastNotified.set(`${it.message.channel}/${item.incident}`, it.at - agoMs);
    }
  }

  /** A message that nobody can have received yet contains nothing that is silenced. */
  expectMaySay(
    state: MonitorState,
    { channel, message }: Send,
    { at, now }: Pick<Moment, 'at' | 'now'>,
  ): void {
    // A clock that was briefly ahead may have decided by silences that were over by its time.
    if (message.kind !== 'incidents' || at - this.#disturbedAt < edgeMs) return;
    const { calendar, book } = this.#parts;
    const known = silencesOf(state, this.#earlier);
    const open = message.items.filter(({ incident }) => incident.resolvedAt === null);
    const told = new Set(open.map(({ incident: { account, rule } }) => alertKey(account, rule)));
    const counts = (key: string): boolean => told.has(key);
    // An alert that changed its severity and became silenced while its message was under way may be notified.
    const isSettled = ({ incident: { account, rule } }: (typeof message.items)[number]): boolean =>
      at - (this.#changedAt.get(alertKey(account, rule)) ?? Number.NEGATIVE_INFINITY) > edgeMs;
    for (const { incident } of message.items.filter(isSettled))
      if ([-edgeMs, 0, edgeMs].every((edge) => silenced(known, calendar, incident, now + edge)))
        throw new Violation('a silence is kept', `${message.id} to ${channel} says ${incident.id}`);
    for (const { incident } of open)
      if (
        !acknowledged(incident) &&
        !this.#hadEarlier.has(incident.id) &&
        inhibited({ state, calendar, book, now, counts, surely: true }, incident)
      )
        throw new Violation(
          'a worse alert speaks for a milder one',
          `${message.id} to ${channel} says ${incident.id} beside it`,
        );
  }

  /** Also for items that are in no batch yet: while nothing can be stored, they are sent from memory. */
  delivered({ channel, message }: Send, at: number): void {
    if (message.kind !== 'incidents') return;
    for (const { incident, kinds, severity } of message.items) {
      this.#read.set(`${channel}/${incident.id}`, severity);
      this.#lastNotified.set(`${channel}/${incident.id}`, at);
      if (kinds.includes('acknowledged')) this.#taken.add(incident.id);
    }
  }

  /** Looks for what should have been reported by now. */
  review(state: MonitorState, it: Moment): void {
    const owed = new Map<string, number>();
    for (const incident of state.incidents.values()) {
      this.#oneVoice.expect(state, incident);
      for (const duty of this.#dutiesOf(state, incident, it)) {
        const key = `${duty.channel}/${incident.id} ${duty.kind}`;
        owed.set(key, this.#owed.get(key) ?? it.at);
      }
    }
    this.#owed = owed;
    const calm = it.at - this.#disturbedAt > this.#parts.book.longestInterval + graceMs;
    const patience = graceMs + (calm ? 0 : this.#parts.book.longestInterval);
    for (const [key, since] of owed) {
      if (it.at - since <= patience) continue;
      const id = key.split(' ')[0]?.split('/')[1] ?? '';
      throw new Violation(
        'what must be reported is reported',
        `${key} is owed since ${it.at - since} ms: ${JSON.stringify(state.incidents.get(id))}`,
      );
    }
  }

  /** Every incident that counts as notified has reached somebody, or is on its way. */
  expectNotified(state: MonitorState): void {
    const { readers } = this.#parts.ledger;
    const channels = new Set(state.settings.channels.map(({ name }) => name));
    for (const { id, notified, event } of state.incidents.values())
      for (const channel of this.#lost.has(id) ? [] : Object.keys(notified)) {
        // An event that waited for a channel is dropped when the channel is removed.
        if (event && !channels.has(channel)) continue;
        if (readers.isUnheard(channel, id) && !this.#parts.ledger.isWaiting(channel, id))
          throw new Violation('what counts as notified was notified', `${id} never reached ${channel}`);
      }
  }

  get open(): number {
    return this.#owed.size;
  }

  #judgeItem(
    state: MonitorState,
    incident: Incident,
    it: { readonly message: Notification; readonly item: NotificationItem } & Moment,
  ): void {
    const { message, now, at } = it;
    const { kind } = it.item;
    const what = `${kind} of ${incident.account}/${incident.rule} (${incident.id}) on ${message.channel}`;
    const { calendar, book } = this.#parts;
    const known = silencesOf(state, this.#silences);
    if ([-edgeMs, 0, edgeMs].every((edge) => silenced(known, calendar, incident, now + edge))) {
      throw new Violation('a silence is kept', what);
    }
    // The daemon looks once a second for orders that the command line left in the database.
    const takenBefore = (incident.acknowledgement?.at ?? it.item.at) < it.item.at - 1000;
    if ((kind === 'reminder' || kind === 'escalated') && acknowledged(incident) && takenBefore) {
      throw new Violation('who acknowledged is left alone', what);
    }
    if (kind === 'resolved' && incident.resolvedAt === null)
      throw new Violation('resolved means resolved', what);
    // An acknowledgement is reported for every incident that the channel was notified of.
    const saysMore = kind !== 'resolved' && kind !== 'event' && !acknowledged(incident);
    if (saysMore && incident.resolvedAt === null) {
      const counts = (key: string): boolean => at - (this.#changedAt.get(key) ?? at) > settledMs;
      const settled = counts(`${incident.account}/${incident.rule}`) || kind === 'firing';
      const knows = knowing(message.channel, isKnownBefore(it.item));
      if (settled && inhibited({ state, calendar, book, now, counts, surely: true, ...knows }, incident)) {
        throw new Violation('a worse alert speaks for a milder one', what);
      }
    }
    this.#expectDue(state, incident, it, what);
    if (kind === 'reminder') {
      const pauseMs = Math.min(...pausesOf(state, incident, message.channel));
      const last = this.#lastNotified.get(`${message.channel}/${incident.id}`);
      // The last one may be this reminder itself, sent before it could be stored.
      const counts = last !== undefined && last <= at - (now - it.item.at);
      // The end of an earlier incident must not be the last thing that people read, even if it is owed to only some recipients.
      const followsEnd = [message, ...state.messages.values()].some(
        ({ channel, items }) =>
          channel === message.channel &&
          items.some(
            (other) =>
              other.kind === 'resolved' &&
              other.incident !== incident.id &&
              alertKey(other.account, other.rule) === alertKey(incident.account, incident.rule),
          ),
      );
      const calm = !followsEnd && !this.#taken.has(incident.id) && at - this.#disturbedAt > 1000;
      if (
        counts &&
        calm &&
        Number.isFinite(pauseMs) &&
        this.#wasRead(incident, message.channel, last) &&
        !wasSilencedSince(state, incident, now - (at - last)) &&
        at - last < pauseMs - 1000
      ) {
        throw new Violation(
          'reminders keep their distance',
          `${what}: ${at - last} ms after the last word, decided at ${it.item.at}, now ${now}`,
        );
      }
    }
  }

  #expectDue(
    state: MonitorState,
    incident: Incident,
    it: { readonly message: Notification; readonly item: NotificationItem },
    what: string,
  ): void {
    if (it.item.kind === 'escalated') expectEscalates(state, incident, it, what);
    if (it.item.kind === 'worse') this.#expectNews(incident, it.message.channel, what);
  }

  #severityAt({ at, account, rule }: NotificationItem, { severity }: Incident): Severity {
    const before = this.#before.get(alertKey(account, rule));
    return before !== undefined && at < before.at ? before.severity : severity;
  }

  /** An alert that was never milder since its readers read of it is not news. */
  #expectNews(incident: Incident, channel: string, what: string): void {
    const { id, severity } = incident;
    const key = `${channel}/${id}`;
    // If the last notification was retracted, its readers still know the one before.
    const counts = this.#wasRead(incident, channel, this.#lastNotified.get(key) ?? 0);
    const told = (counts ? this.#told : this.#read).get(key);
    if (
      told === undefined ||
      rank[severity] > Math.min(rank[told], rank[this.#eased.get(id)?.severity ?? told])
    )
      return;
    throw new Violation('what got no worse is no news', `${what}: ${severity} after ${told}`);
  }

  /** Whether readers surely read it: the channel did not refuse it, and neither a silence nor a worse alert retracted it. */
  #wasRead({ id }: Incident, channel: string, at: number): boolean {
    const ends = [this.#parts.ledger.lastDead.get(channel), this.#lastMuted.get(id)];
    return ends.every((end) => end === undefined || end < at - 1000);
  }

  #dutiesOf(state: MonitorState, incident: Incident, it: Moment): { channel: string; kind: string }[] {
    const { calendar, book, ledger } = this.#parts;
    const { now } = it;
    if ([-edgeMs, 0, edgeMs].some((edge) => silenced(state, calendar, incident, now + edge))) {
      this.#lastMuted.set(incident.id, now);
      return [];
    }
    const found: { channel: string; kind: string }[] = [];
    const asks = asksOf(state.settings, incident);
    const failed = ({ channel, repeatEveryMs }: Pick<Ask, 'channel' | 'repeatEveryMs'>): boolean => {
      const raised = state.alerts.get('@lowwater', `channel-failed:${channel}`)?.state === 'firing';
      const lastDead = ledger.lastDead.get(channel);
      return (
        raised &&
        lastDead !== undefined &&
        it.at - Math.max(lastDead, this.#disturbedAt) < repeatEveryMs + graceMs
      );
    };
    if (incident.resolvedAt !== null) {
      for (const [channel, notified] of Object.entries(incident.notified)) {
        const known = state.settings.channels.some((each) => each.name === channel);
        const pauseMs = asks.find((ask) => ask.channel === channel)?.repeatEveryMs ?? 4 * 3_600_000;
        if (!notified.resolved && known && !incident.event && !failed({ channel, repeatEveryMs: pauseMs }))
          found.push({ channel, kind: 'resolved' });
      }
      return found;
    }
    const isSaid = ({ channel }: Ask): boolean => {
      const knows = knowing(channel, incident.notified[channel] !== undefined);
      return inhibited({ state, calendar, book, now, ...knows }, incident);
    };
    const { said = [], unsaid = [] } = Object.groupBy(asks, (ask) => (isSaid(ask) ? 'said' : 'unsaid'));
    if (said.length > 0) this.#lastMuted.set(incident.id, now);
    if (acknowledged(incident)) found.push(...untoldWhoHasIt(incident, said, failed));
    if (maybeHeld(state, incident, now, book.longestInterval)) return found;
    for (const ask of unsaid) {
      const notified = incident.notified[ask.channel];
      if (failed(ask)) continue;
      const repeatEveryMs = Math.max(...pausesOf(state, incident, ask.channel));
      const kind = isOwedWhoHasIt(incident, notified)
        ? 'who has it'
        : this.#dutyOf(incident, { ...ask, repeatEveryMs }, notified, it);
      if (kind !== null) found.push({ channel: ask.channel, kind });
    }
    return found;
  }

  /** The severity that a channel's readers believe: an acknowledgement shows the severity of its moment, a top-up the one that it led to. */
  #seenSeverity(incident: Incident, notified: LastNotified): Severity {
    const { acknowledgement } = incident;
    const seenLater = acknowledgement !== null && acknowledgement.rises >= notified.rises;
    const seen = seenLater ? acknowledgement : notified;
    const eased = this.#eased.get(incident.id);
    const helped =
      eased !== undefined && eased.rises >= seen.rises && rank[seen.severity] > rank[eased.severity];
    return helped ? eased.severity : seen.severity;
  }

  #dutyOf(incident: Incident, ask: Ask, notified: LastNotified | undefined, it: Moment): string | null {
    const taken = acknowledged(incident);
    if (incident.event) return ask.direct && notified === undefined ? 'event' : null;
    if (notified === undefined && ask.direct) return taken ? null : 'first';
    if (notified !== undefined && rank[incident.severity] > rank[this.#seenSeverity(incident, notified)])
      return 'worse';
    if (taken || incident.flappingSince !== null) return null;
    const escalationDue = incident.escalationSince + (ask.escalateAfterMs ?? Number.POSITIVE_INFINITY);
    const escalated = (notified?.escalatedAt ?? null) !== null;
    if (!escalated && it.now > escalationDue + this.#parts.book.longestInterval) return 'escalated';
    if (notified === undefined) return null;
    const waiting = this.#parts.ledger.isWaiting(ask.channel, incident.id);
    const last = Math.max(
      this.#lastNotified.get(`${ask.channel}/${incident.id}`) ?? it.at,
      this.#disturbedAt,
    );
    return !waiting && it.at - last > 2 * ask.repeatEveryMs + graceMs ? 'reminder' : null;
  }
}

/** A beginning that may have arrived is said again. */
function isKnownBefore({ kind, before }: NotificationItem): boolean {
  return kind !== 'firing' || before !== undefined;
}

/** Names the channel if it knows of the incident: then an alert that it does not hear of inhibits nothing there. */
function knowing(channel: string, isKnown: boolean): { readonly channel?: string } {
  return isKnown ? { channel } : {};
}

/** The channels to be told of an acknowledgement, even if the incident is inhibited: a tool that has it open would go on waking people. */
function untoldWhoHasIt(incident: Incident, asks: readonly Ask[], failed: (ask: Ask) => boolean) {
  return asks
    .filter((ask) => !failed(ask) && isOwedWhoHasIt(incident, incident.notified[ask.channel]))
    .map(({ channel }) => ({ channel, kind: 'who has it' }));
}

function isOwedWhoHasIt(incident: Incident, notified: LastNotified | undefined): boolean {
  const { acknowledgement } = incident;
  if (notified === undefined || (acknowledgement !== null && !acknowledged(incident))) return false;
  return notified.acknowledgedAt !== (acknowledgement?.at ?? null);
}

/** The pauses between reminders that its routes ask for. A provider's outage replaces stale alerts, whose pauses may differ. */
function pausesOf(state: MonitorState, incident: Incident, channel: string): readonly number[] {
  const replaced =
    incident.type === 'provider-down'
      ? [...state.incidents.values()].filter(({ type }) => type === 'stale')
      : [];
  const asks = [incident, ...replaced].flatMap((each) => asksOf(state.settings, each));
  return asks.filter((ask) => ask.channel === channel).map((ask) => ask.repeatEveryMs);
}

/** An escalation reaches no channel sooner than its route says. */
function expectEscalates(
  { settings }: MonitorState,
  incident: Incident,
  { message, item }: { readonly message: Notification; readonly item: NotificationItem },
  what: string,
): void {
  const { escalateAfterMs = null } =
    asksOf(settings, incident).find(({ channel }) => channel === message.channel) ?? {};
  const earlyMs = incident.escalationSince + (escalateAfterMs ?? 0) - item.at;
  // If the alert rose after the decision, the wait began again then.
  if (earlyMs > 0 && incident.escalationSince <= item.at)
    throw new Violation('an escalation waits as its route says', `${what}: ${earlyMs} ms too early`);
}

/** The state of silences, limited to those that were known. */
function silencesOf({ settings, silences }: MonitorState, known: { has(id: string): boolean }) {
  return { settings, silences: new Set([...silences.values()].filter(({ id }) => known.has(id))) };
}
