import { alertKey, type Incident, isAcknowledged, isSelfId } from '../../../src/domain/alert.ts';
import { getOrMake } from '../../../src/domain/get-or-make.ts';
import type { MessageItem } from '../../../src/domain/message.ts';
import type { Severity } from '../../../src/domain/severity.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Calendar } from '../../../src/ports/clock.ts';
import { PagingTool, toolTypes } from '../../support/paging-tool.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import type { Ledger, Moment } from './ledger.ts';
import type { LeftReceivers } from './left-receivers.ts';
import { acknowledged, asksOf, silenced } from './routing.ts';
import { rank } from './rules.ts';

const hourMs = 3_600_000;
/** Until then, a channel that refused for good is sent everything again. */
const refusedForMs = 26 * hourMs;
/** After the end of a silence, what it muted may take this long to reach the outbox. */
const edgeMs = 120_000;

/** The last news that somebody read about an alert. */
interface Word {
  readonly incident: string;
  readonly state: 'open' | 'taken' | 'over';
  readonly severity: Severity;
  readonly at: number;
  readonly sentAt: number;
}

/** All the recipients who are never refused a message that others get. */
const others = 'others';

/** What people see at a receiver: the alerts of a tool, or the last news that each recipient read. */
interface Shown {
  readonly tool: PagingTool | null;
  readonly words: Map<string, Map<string, Word>>;
  /** The latest incident of each alert in a message, and when that arrived. */
  readonly latest: Map<string, Word>;
  /** The incidents that messages were about, by alert. */
  readonly heard: Map<string, Set<string>>;
  /** Parts that a tool refused for good, until another message brings them: nobody sends them again. For other receivers: alerts. */
  readonly refused: Set<string>;
}

interface Truth extends Moment {
  readonly state: MonitorState;
  readonly calendar: Calendar;
  readonly ledger: Ledger;
  readonly left: LeftReceivers;
  /** An incident of the database, open or not. */
  readonly stored: (id: string) => Incident | undefined;
  /** Whether a channel fails, or failed when what it shows was to be sent again. */
  readonly isFailing: (channel: string) => boolean;
}

/**
 * What each receiver shows, made from the messages that really arrived, compared with the truth. It must be true, or late because
 * a message waits, was refused or is muted. Tools are modelled after their documentation, from the bodies they get; for all other
 * receivers the last news counts, for each recipient.
 */
export class Receivers {
  readonly #shown = new Map<string, Shown>();
  /** When each incident last changed in something that people need to know. */
  readonly #changed = new Map<string, { readonly words: string; readonly at: number }>();
  /** Incidents that messages sent from memory were about: in no batch yet, and in the batch that is tried. */
  readonly #fromMemory = new Set<string>();
  readonly #inBatch = new Set<string>();
  /** When a process that had sent news of an incident from memory died: no daemon knows what was read there. */
  readonly #forgotten = new Map<string, number>();
  /** Incidents from before a database was restored: receivers may know more of them than it does. */
  readonly #older = new Set<string>();
  /** Incidents whose records could not be read, and names of alerts of which no record could be read. */
  readonly #lost = new Set<string>();
  /** Since when somebody looks: a daemon that was away, or stood still, reports when it is back. */
  #awakeSince = 0;
  /** When the clock last jumped, perhaps past the end of a silence. */
  #jumpedAt = Number.NEGATIVE_INFINITY;

  /** Forgets what the channel showed before: people were notified that it may not learn of the end. */
  begin(channel: string): void {
    this.#shown.delete(channel);
  }

  followed(incident: Incident, at: number): void {
    const { severity, rises, resolvedAt, acknowledgement, flappingSince } = incident;
    const words = JSON.stringify([severity, rises, resolvedAt, acknowledgement, flappingSince]);
    if (this.#changed.get(incident.id)?.words !== words) this.#changed.set(incident.id, { words, at });
  }

  /** An older database replaced the present one: an incident that it does not know never ends there, and one that it has may be over. */
  restored(): void {
    this.#shown.clear();
    for (const id of this.#changed.keys()) this.#older.add(id);
  }

  /** The record of an incident was lost: only the receivers know who acknowledged it. */
  lose(incident: string): void {
    this.#lost.add(incident);
    this.#changed.delete(incident);
  }

  /** The alert cannot be read either: its next incident counts as its first, and receivers may know better. */
  forgetAlert(alert: string): void {
    for (const shown of this.#shown.values()) {
      shown.latest.delete(alert);
      for (const words of shown.words.values()) words.delete(alert);
    }
    this.#lost.add(alert);
  }

  awakes(at: number): void {
    this.#awakeSince = at;
  }

  jumped(at: number): void {
    this.#jumpedAt = at;
  }

  /** While nothing can be stored, messages are about incidents that no database has. */
  toldFromMemory({ message }: Send): void {
    if (message.kind !== 'incidents') return;
    for (const { incident } of message.items) this.#fromMemory.add(incident.id);
  }

  taken(): void {
    for (const id of this.#fromMemory) this.#inBatch.add(id);
    this.#fromMemory.clear();
  }

  committed(): void {
    this.#inBatch.clear();
  }

  /** Whether the incident is from before an older database was restored, which may not know who was notified. */
  isOlder(incident: string): boolean {
    return this.#older.has(incident);
  }

  /** Whether a process that had sent news of the incident from memory died. */
  isForgotten(incident: string): boolean {
    return this.#forgotten.has(incident);
  }

  died(at: number): void {
    this.taken();
    for (const id of this.#inBatch) this.#forgotten.set(id, at);
    this.#inBatch.clear();
  }

  arrived({ channel, type, message, missed, at: sentAt }: Send, at: number): void {
    const shown = this.#at(channel, type);
    if (message.kind !== 'incidents') return;
    const items = message.items
      .filter(({ incident }) => !incident.event)
      .toSorted((left, right) => left.firedAt - right.firedAt);
    for (const item of items) {
      shown.latest.set(nameOf(item.incident), wordOf(item, { at, sentAt }));
      getOrMake(shown.heard, nameOf(item.incident), () => new Set()).add(item.incident.id);
    }
    if (shown.tool !== null) {
      const got = shown.tool
        .partsOf(message)
        .filter((part) => !missed.includes(part) && message.except?.includes(part) !== true);
      for (const part of message.recipients ?? got) shown.refused.delete(part);
      shown.tool.receive(message.recipients === undefined ? { ...message, recipients: got } : message, at);
      return;
    }
    if (message.recipients === undefined)
      for (const item of items) shown.refused.delete(nameOf(item.incident));
    const late = [...missed, ...(message.except ?? [])];
    for (const name of late) this.#wordsOf(shown, name);
    const readers = message.recipients ?? [...shown.words.keys()].filter((name) => !late.includes(name));
    for (const name of readers)
      for (const item of items)
        this.#wordsOf(shown, name).set(nameOf(item.incident), wordOf(item, { at, sentAt }));
  }

  answered({ channel, type, message }: Send, delivery: Delivery): void {
    const { refused, tool } = this.#at(channel, type);
    if (message.kind !== 'incidents' || delivery.kind !== 'retry' || delivery.refused === undefined) return;
    const alerts = message.items.map(({ incident }) => nameOf(incident));
    for (const part of tool === null ? alerts : delivery.refused.recipients) refused.add(part);
  }

  /** Throws if somebody would see something untrue although nothing is on its way. */
  expectTrue(truth: Truth): void {
    for (const { name } of truth.state.settings.channels) {
      const shown = this.#shown.get(name);
      if (shown === undefined || this.#isLate(name, truth)) continue;
      this.#expectEnded(name, shown, truth);
      for (const incident of truth.state.incidents.values())
        if (this.#isToBeShown(name, incident, truth) && !this.#isOlder(shown, incident))
          this.#expectOpen(name, shown, incident, truth);
    }
    for (const [name, since] of truth.left.since) this.#expectLeft(name, since, truth);
  }

  /** Whether the incident was unchanged for an hour in which somebody looked and nothing muted it. */
  #isSettled(incident: Incident, { state, calendar, at, now }: Truth): boolean {
    const since = Math.max(this.#changed.get(incident.id)?.at ?? at, this.#awakeSince);
    return at - since >= hourMs && ![0, edgeMs].some((ago) => silenced(state, calendar, incident, now - ago));
  }

  /** Whether the incident is from before a database was restored, and the channel was not notified of it since. */
  #isOlder({ heard }: Shown, incident: Incident): boolean {
    return this.#older.has(incident.id) && heard.get(nameOf(incident))?.has(incident.id) !== true;
  }

  #isForgotten({ incident, sentAt }: Word): boolean {
    return sentAt <= (this.#forgotten.get(incident) ?? Number.NEGATIVE_INFINITY);
  }

  #isLate(channel: string, { at, ledger }: Truth): boolean {
    if (at - this.#jumpedAt < edgeMs || ledger.pending.some((row) => row.channel === channel)) return true;
    return at - (ledger.lastDead.get(channel) ?? Number.NEGATIVE_INFINITY) < refusedForMs;
  }

  /** An incident that ended an hour ago is shown as open nowhere. */
  #expectEnded(channel: string, shown: Shown, truth: Truth): void {
    for (const [alert, word] of shown.latest) {
      const incident = truth.state.incidents.get(word.incident) ?? truth.stored(word.incident);
      if (incident === undefined || incident.resolvedAt === null || isOpen(truth.state, incident)) continue;
      if (truth.at - Math.max(word.at, this.#changed.get(incident.id)?.at ?? 0) < hourMs) continue;
      if (silenced(truth.state, truth.calendar, incident, truth.now)) continue;
      if (hasRefused(shown, alert) || this.#isOfNobody(shown, alert, truth)) continue;
      const seen = openThere(shown, alert, truth.at);
      if (seen.length > 0)
        throw untrue(`${channel} shows ${alert} as open, which ended: ${JSON.stringify(seen)}`);
    }
  }

  /** A removed receiver shows nothing as open after an hour, or people were notified that it may. */
  #expectLeft(channel: string, since: number, truth: Truth): void {
    const shown = this.#shown.get(channel);
    if (shown === undefined || truth.left.isNamed(channel)) return;
    if (truth.at - Math.max(since, this.#awakeSince) < hourMs) return;
    // If it refused the news for good, people may know the incident from before the receiver was briefly removed.
    if (truth.ledger.lastDead.has(channel)) return;
    for (const [alert, word] of shown.latest) {
      if (truth.at - word.at < hourMs || this.#isOfNobody(shown, alert, truth)) continue;
      const seen = openThere(shown, alert, truth.at);
      if (seen.length > 0)
        throw new Violation(
          'whoever hears no more is told so, or is named',
          `${channel} shows ${alert}: ${JSON.stringify(seen)}`,
        );
    }
  }

  /** Whether no daemon can end it: news sent from memory before a take-over is ended by a record that the simulation does not play. */
  #isOfNobody(shown: Shown, alert: string, { state, stored }: Truth): boolean {
    const word = shown.latest.get(alert);
    if ((word !== undefined && this.#isForgotten(word)) || this.#isBeyond(shown, alert)) return true;
    const isKnown = (id: string) => state.incidents.has(id) || stored(id) !== undefined;
    return shown.tool !== null && ![...(shown.heard.get(alert) ?? [])].every(isKnown);
  }

  /** Whether its record was lost: then only those keys are closed that nearly every incident uses. */
  #isBeyond({ heard, tool }: Shown, alert: string): boolean {
    const isLost = [...(heard.get(alert) ?? [])].some((id) => this.#lost.has(id));
    const keys = [...(tool?.shown.keys() ?? [])].filter((key) => key.startsWith(`lowwater/${alert}`));
    return isLost && keys.length > 0 && keys.every((key) => Number(/\d+$/.exec(key)?.[0] ?? 0) > 20);
  }

  /** Whether the incident must be shown: known there, unchanged for an hour, and alone on its account, so that none inhibits it. */
  #isToBeShown(channel: string, incident: Incident, truth: Truth): boolean {
    const { state } = truth;
    const { account, event, resolvedAt, flappingSince, notified, type } = incident;
    if (event || resolvedAt !== null || flappingSince !== null || isSelfId(account) || type === 'stale')
      return false;
    if (notified[channel] === undefined || !this.#isSettled(incident, truth)) return false;
    const firing = [...state.alerts.of(account).values()].filter((alert) => alert.state === 'firing');
    return (
      firing.length === 1 &&
      asksOf(state.settings, incident).some((ask) => ask.channel === channel && ask.direct)
    );
  }

  #expectOpen(channel: string, shown: Shown, incident: Incident, { at, isFailing }: Truth): void {
    const alert = nameOf(incident);
    const { acknowledgement, severity } = incident;
    // The reader knows of the acknowledgement; its removal is reported only for more than information.
    if (this.#lost.has(incident.id) && severity === 'info') return;
    const isTaken = acknowledged(incident);
    // A rise to the severity that the reader had already seen is not news.
    const isWorse = acknowledgement === null || rank[severity] > rank[acknowledgement.severity];
    const isFree = !isTaken && isWorse;
    const truth = `of ${alert}, and it is ${JSON.stringify({ severity, acknowledgement })}`;
    if (shown.tool === null) {
      for (const [reader, words] of shown.words) {
        const word = words.get(alert);
        if (word !== undefined && !this.#isForgotten(word) && !isSo(word, incident, isFree))
          throw untrue(`${reader} of ${channel} reads ${JSON.stringify(word)} ${truth}`);
      }
      return;
    }
    // An incident acknowledged at the tool, of which no daemon knows any more, never wakes anybody there.
    const isUnknown = [incident.id, alert, ...(shown.heard.get(alert) ?? [])].some(
      (each) => this.#lost.has(each) || this.isForgotten(each),
    );
    const { forgets } = shown.tool;
    // An acknowledged incident is open too, at a tool where nobody can acknowledge.
    if (!(isFree || forgets) || isUnknown || hasRefused(shown, alert) || (forgets && isFailing(channel)))
      return;
    const open = shown.tool.about(`lowwater/${alert}`, at);
    const free = open.filter(({ taken }) => !taken);
    if (!free.some(({ urgency }) => urgency === null || rank[urgency] >= rank[severity]))
      throw untrue(`${channel} shows ${JSON.stringify(open)} ${truth}`);
  }

  #at(channel: string, type: string): Shown {
    const known = this.#shown.get(channel);
    if (known !== undefined) return known;
    const tool = type === 'alertmanager' ? type : toolTypes.find((each) => each === type);
    const fresh: Shown = {
      tool: tool === undefined ? null : new PagingTool(tool),
      words: new Map([[others, new Map()]]),
      latest: new Map(),
      heard: new Map(),
      refused: new Set(),
    };
    this.#shown.set(channel, fresh);
    return fresh;
  }

  /** A recipient who was never treated apart so far has read what the others have read. */
  #wordsOf(shown: Shown, name: string): Map<string, Word> {
    const known = shown.words.get(name);
    if (known !== undefined) return known;
    const words = new Map(shown.words.get(others));
    shown.words.set(name, words);
    return words;
  }
}

function wordOf(
  { incident, kinds, resolvedAt, severity }: MessageItem,
  when: Pick<Word, 'at' | 'sentAt'>,
): Word {
  const isOver = resolvedAt !== null || kinds.includes('resolved');
  const state = isOver ? 'over' : isAcknowledged(incident) ? 'taken' : 'open';
  return { incident: incident.id, state, severity, ...when };
}

/** What the tool, or the readers, have open about an alert. */
function openThere({ tool, words }: Shown, alert: string, at: number): readonly unknown[] {
  if (tool !== null) return tool.about(`lowwater/${alert}`, at);
  return [...words].filter(([, said]) => !['over', undefined].includes(said.get(alert)?.state));
}

/** Whether the news is true. `isFree`: nobody acknowledged the incident at its present severity. */
function isSo(word: Word, { id, severity }: Incident, isFree: boolean): boolean {
  if (word.incident !== id || word.state === 'over') return false;
  return !isFree || (word.state !== 'taken' && rank[word.severity] >= rank[severity]);
}

function hasRefused({ refused }: Shown, alert: string): boolean {
  return [...refused].some((part) => part.startsWith(alert));
}

function nameOf({ account, rule }: Incident): string {
  return alertKey(account, rule);
}

/** Whether another incident of the same alert fires by now. */
function isOpen({ alerts }: MonitorState, { account, rule }: Incident): boolean {
  return alerts.get(account, rule)?.state === 'firing';
}

function untrue(words: string): Violation {
  return new Violation('what a person sees is so, or is late', words);
}

/** The parts of a message that a tool can refuse one by one; null for a receiver that takes it whole. */
export function partsAt(type: string, message: Send['message']): readonly string[] | null {
  if (type === 'alertmanager') return [];
  const tool = toolTypes.find((each) => each === type);
  return tool === undefined ? null : new PagingTool(tool).partsOf(message);
}
