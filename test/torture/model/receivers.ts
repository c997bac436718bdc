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
/** Until then a channel that refused for good is tried again with everything. */
const refusedForMs = 26 * hourMs;
/** So long after the end of a silence what it muted may still be on its way to the outbox. */
const edgeMs = 120_000;

/** The last word that somebody read about an alert. */
interface Word {
  readonly incident: string;
  readonly state: 'open' | 'taken' | 'over';
  readonly severity: Severity;
  readonly at: number;
  readonly sentAt: number;
}

/** Everybody who is never refused a message that others get. */
const others = 'others';

/** What people see at a receiver: the alerts of a tool, or the last word that each recipient read. */
interface Shown {
  readonly tool: PagingTool | null;
  readonly words: Map<string, Map<string, Word>>;
  /** The latest incident of each alert that a message was about, and when that arrived. */
  readonly latest: Map<string, Word>;
  /** The incidents that messages were about, by their alert. */
  readonly heard: Map<string, Set<string>>;
  /** Parts that the tool refused for good, until it gets them with another message: nobody sends them again. Elsewhere alerts. */
  readonly refused: Set<string>;
}

interface Truth extends Moment {
  readonly state: MonitorState;
  readonly calendar: Calendar;
  readonly ledger: Ledger;
  readonly left: LeftReceivers;
  /** An incident that the database has, whether or not it is open. */
  readonly stored: (id: string) => Incident | undefined;
  /** Whether a channel fails, or did when what it shows was to be sent again. */
  readonly isFailing: (channel: string) => boolean;
}

/**
 * What each receiver shows, made of what really arrived there, held against the truth: what a person sees is so, or is late because
 * something waits, was refused or is muted. Tools are modelled as their documentation says, from the bodies they get; of all others the
 * last word counts, for each recipient.
 */
export class Receivers {
  readonly #shown = new Map<string, Shown>();
  /** When each incident last changed in what people need to know. */
  readonly #changed = new Map<string, { readonly words: string; readonly at: number }>();
  /** Incidents that messages told of from memory: in no batch yet, and in the one that is tried. */
  readonly #fromMemory = new Set<string>();
  readonly #inBatch = new Set<string>();
  /** When a process died with what it had told of an incident: nobody alive knows what is read there. */
  readonly #forgotten = new Map<string, number>();
  /** Incidents of before a database was put back: receivers may know more of them than it. */
  readonly #older = new Set<string>();
  /** Incidents whose records could not be read, and alerts by name of which nothing could be. */
  readonly #lost = new Set<string>();
  /** Since when somebody looks: who was away, or stood still, tells on coming back. */
  #awakeSince = 0;
  /** When the clock last jumped, perhaps past the end of a silence. */
  #jumpedAt = Number.NEGATIVE_INFINITY;

  /** What it shows of before is nobody's any more: people heard so. */
  begin(channel: string): void {
    this.#shown.delete(channel);
  }

  followed(incident: Incident, at: number): void {
    const { severity, rises, resolvedAt, acknowledgement, flappingSince } = incident;
    const words = JSON.stringify([severity, rises, resolvedAt, acknowledgement, flappingSince]);
    if (this.#changed.get(incident.id)?.words !== words) this.#changed.set(incident.id, { words, at });
  }

  /** An older database took the place of the present one: what it does not know ends nowhere, and what it told may be over there. */
  restored(): void {
    this.#shown.clear();
    for (const id of this.#changed.keys()) this.#older.add(id);
  }

  /** Who has it is known at the receivers alone. */
  lose(incident: string): void {
    this.#lost.add(incident);
    this.#changed.delete(incident);
  }

  /** Its alert cannot be read either: the next incident of it is taken for the first, and receivers may know better. */
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

  /** While nothing can be stored, messages tell what no database knows. */
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

  /** Whether an older database, which may not know who heard of it, took the place of the one that did. */
  isOlder(incident: string): boolean {
    return this.#older.has(incident);
  }

  /** Whether a process died with what it had told of it. */
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

  /** Throws where somebody would see what is not so, though nothing is on its way. */
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

  /** Unchanged for an hour, in which somebody looked and nothing muted it. */
  #isSettled(incident: Incident, { state, calendar, at, now }: Truth): boolean {
    const since = Math.max(this.#changed.get(incident.id)?.at ?? at, this.#awakeSince);
    return at - since >= hourMs && ![0, edgeMs].some((ago) => silenced(state, calendar, incident, now - ago));
  }

  /** Known from before a database was put back, and not told there since. */
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

  /** What is over for an hour is shown as open nowhere. */
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

  /** Whoever hears no more was told so within an hour, or people heard that it was not. */
  #expectLeft(channel: string, since: number, truth: Truth): void {
    const shown = this.#shown.get(channel);
    if (shown === undefined || truth.left.isNamed(channel)) return;
    if (truth.at - Math.max(since, this.#awakeSince) < hourMs) return;
    // What it refused for good as news, people may know from before it was taken out for a moment.
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

  /** What a daemon told from memory before another took over ends by what it leaves for that one, which is not played here. */
  #isOfNobody(shown: Shown, alert: string, { state, stored }: Truth): boolean {
    const word = shown.latest.get(alert);
    if ((word !== undefined && this.#isForgotten(word)) || this.#isBeyond(shown, alert)) return true;
    const isKnown = (id: string) => state.incidents.has(id) || stored(id) !== undefined;
    return shown.tool !== null && ![...(shown.heard.get(alert) ?? [])].every(isKnown);
  }

  /** Of an incident whose record was lost, the keys are closed that nearly every incident does with. */
  #isBeyond({ heard, tool }: Shown, alert: string): boolean {
    const isLost = [...(heard.get(alert) ?? [])].some((id) => this.#lost.has(id));
    const keys = [...(tool?.shown.keys() ?? [])].filter((key) => key.startsWith(`lowwater/${alert}`));
    return isLost && keys.length > 0 && keys.every((key) => Number(/\d+$/.exec(key)?.[0] ?? 0) > 20);
  }

  /** Known there, unchanged for an hour, and the only one of its account: another one says nothing in its place. */
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
    // Who had it read that it is taken; that nobody has it any more is told of what is more than information.
    if (this.#lost.has(incident.id) && severity === 'info') return;
    const isTaken = acknowledged(incident);
    // What rose to where its reader had seen it is no news.
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
    // What somebody took there, and no daemon knows of any more, never wakes anybody there.
    const isUnknown = [incident.id, alert, ...(shown.heard.get(alert) ?? [])].some(
      (each) => this.#lost.has(each) || this.isForgotten(each),
    );
    const { forgets } = shown.tool;
    // Also what somebody has stands where nobody can take it.
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

  /** Whoever was not told apart so far has read what the others have. */
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

/** What its readers, or its tool, have open about an alert. */
function openThere({ tool, words }: Shown, alert: string, at: number): readonly unknown[] {
  if (tool !== null) return tool.about(`lowwater/${alert}`, at);
  return [...words].filter(([, said]) => !['over', undefined].includes(said.get(alert)?.state));
}

/** `isFree`: nobody has it as bad as it is. */
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

/** Another incident of the same alert fires by now. */
function isOpen({ alerts }: MonitorState, { account, rule }: Incident): boolean {
  return alerts.get(account, rule)?.state === 'firing';
}

function untrue(words: string): Violation {
  return new Violation('what a person sees is so, or is late', words);
}

/** The parts of a message to a tool, by which it can be refused; null for a receiver that takes it whole. */
export function partsAt(type: string, message: Send['message']): readonly string[] | null {
  if (type === 'alertmanager') return [];
  const tool = toolTypes.find((each) => each === type);
  return tool === undefined ? null : new PagingTool(tool).partsOf(message);
}
