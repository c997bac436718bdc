import type { MessageItem } from '../../../src/domain/message.ts';
import { kindsByIncident, type Notification } from '../../../src/domain/outbox.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';

const edgeMs = 60_000;

/** The notifications of one incident that arrived at a channel's readers. */
interface Heard {
  readonly kinds: Map<string, Arrivals>;
  /** When the last one was sent. */
  sentAt: number;
}

interface Arrivals {
  count: number;
  readonly overdueAt: number;
  readonly unknowns: number;
  readonly deaths: number;
}

/** The messages that each channel's readers have seen: no end before its beginning, nothing twice without a reason. */
export class Readers {
  readonly #heard = new Map<string, Heard>();
  readonly #unknowns = new Map<string, number>();
  /** The count of failures before each sending. */
  readonly #trouble = new WeakMap<Send, { readonly unknowns: number; readonly deaths: number }>();
  /** Sendings of a message that others have already received. */
  readonly #late = new WeakSet<Send>();
  /** Incidents of which nobody knows who was notified. */
  readonly #lost = new Set<string>();
  /** `<channel>/<incident>` in a lost message, or in an attempt with unknown outcome: nobody knows whether it was read. */
  readonly #perhapsRead = new Set<string>();
  /** When a channel was last added to the configuration or removed: its readers are others since. */
  readonly #beginsAt = new Map<string, number>();
  readonly #changedAt = new Map<string, number>();
  #deaths = 0;

  /** Kinds that have arrived on a channel about an incident. */
  heard(channel: string, incident: string): ReadonlySet<string> {
    return new Set(this.#heard.get(`${channel}/${incident}`)?.kinds.keys());
  }

  /** Every `<channel>/<incident>` of which readers were notified. */
  heardKeys(): string[] {
    return [...this.#heard.keys()];
  }

  /** A process died, or a backup replaced the database. */
  processDied(): void {
    this.#deaths++;
  }

  /** Nobody knows whether a message arrived. */
  lostTrackOf(channel: string): void {
    this.#unknowns.set(channel, (this.#unknowns.get(channel) ?? 0) + 1);
  }

  mayHaveRead(key: string): void {
    this.#perhapsRead.add(key);
  }

  /** The message waits for some recipients together with news for all: if both go out again, all may hear both. */
  mayHearAgain({ channel, items }: Notification): void {
    for (const [incident, kinds] of kindsByIncident(items))
      for (const kind of kinds) {
        const arrivals = this.#heard.get(`${channel}/${incident}`)?.kinds.get(kind);
        if (arrivals !== undefined) arrivals.count--;
      }
  }

  /** Whether surely nobody at the channel was notified of the incident. */
  isUnheard(channel: string, incident: string): boolean {
    return this.heard(channel, incident).size === 0 && !this.#perhapsRead.has(`${channel}/${incident}`);
  }

  /** The channel was out of the configuration so briefly that no batch shows it: open incidents are notified again. */
  comeBack(channel: string, at: number): void {
    this.lostTrackOf(channel);
    this.#changedAt.set(channel, at);
  }

  /** Whether the channel was added or removed since. */
  hasChanged(channel: string, since: number): boolean {
    return (this.#changedAt.get(channel) ?? Number.NEGATIVE_INFINITY) >= since;
  }

  /** The channel is another one from `at` on: messages sent before no longer count. */
  leave(channel: string, at: number, storedAt: number): void {
    this.#beginsAt.set(channel, at);
    this.#changedAt.set(channel, storedAt);
    for (const [key, { sentAt }] of [...this.#heard])
      if (key.startsWith(`${channel}/`) && sentAt < at) this.#heard.delete(key);
  }

  lose(incident: string): void {
    this.#lost.add(incident);
  }

  isLost(incident: string): boolean {
    return this.#lost.has(incident);
  }

  sending(send: Send, othersHaveIt: boolean): void {
    if (othersHaveIt) this.#late.add(send);
    // A message that was on its way when the channel left arrives before everything is notified again.
    const before = this.hasChanged(send.channel, send.at - edgeMs) ? 1 : 0;
    const unknowns = (this.#unknowns.get(send.channel) ?? 0) - before;
    this.#trouble.set(send, { unknowns, deaths: this.#deaths });
  }

  arrived(send: Send): void {
    const { channel, message } = send;
    // A late copy for the recipients who were refused it: `Ledger` checks that the others do not get it again.
    if (send.at < (this.#beginsAt.get(channel) ?? 0)) return;
    if (message.kind !== 'incidents' || (message.recipients !== undefined && this.#late.has(send))) return;
    for (const item of message.items) {
      const key = `${channel}/${item.incident.id}`;
      const heard = this.#heard.get(key) ?? { kinds: new Map(), sentAt: send.at };
      heard.sentAt = send.at;
      this.#heard.set(key, heard);
      const isEndAlone = item.kinds.length === 1 && item.kinds.includes('resolved') && heard.kinds.size === 0;
      if (isEndAlone && !this.#lost.has(item.incident.id) && !this.#perhapsRead.has(key)) {
        throw new Violation('resolved never overtakes its firing', `${key} heard only the end`);
      }
      for (const kind of item.kinds) this.#hear(heard, kind, { send, key, overdueAt: overdueAtOf(item) });
    }
  }

  /** Reminders and repeats are allowed as often as failures explain them. If something else became overdue since, it is news. */
  #hear(
    heard: Heard,
    kind: string,
    it: { readonly send: Send; readonly key: string; readonly overdueAt: number },
  ): void {
    const unknowns = this.#unknowns.get(it.send.channel) ?? 0;
    const known = heard.kinds.get(kind);
    if (known === undefined || it.overdueAt > known.overdueAt) {
      // Counted from the sending: the process may die or give up before the message arrives.
      const before = this.#trouble.get(it.send) ?? { unknowns, deaths: this.#deaths };
      heard.kinds.set(kind, { count: 1, overdueAt: it.overdueAt, ...before });
      return;
    }
    known.count++;
    if (kind !== 'firing' && kind !== 'resolved' && kind !== 'event') return;
    const allowed = 1 + unknowns - known.unknowns + this.#deaths - known.deaths;
    if (known.count > allowed) {
      throw new Violation(
        'nothing is reported twice without a reason',
        `${it.key}: ${kind} arrived ${known.count} times`,
      );
    }
  }
}

/** Since when the subject of the alert is overdue: a run is, an hour after its end. */
function overdueAtOf({ facts }: MessageItem): number {
  const found = facts.find(({ name }) => name === 'expected by' || name === 'run ended');
  if (found?.value.unit !== 'instant') return 0;
  return found.value.at + (found.name === 'run ended' ? 3_600_000 : 0);
}
