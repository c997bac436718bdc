import type { MessageItem } from '../../../src/domain/message.ts';
import { kindsByIncident, type Notification } from '../../../src/domain/outbox.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';

const edgeMs = 60_000;

/** What a channel's readers have got of one incident. */
interface Heard {
  readonly kinds: Map<string, Arrivals>;
  /** When the last was sent. */
  sentAt: number;
}

interface Arrivals {
  count: number;
  readonly overdueAt: number;
  readonly unknowns: number;
  readonly deaths: number;
}

/** What the readers of each channel have seen: no end before its beginning, nothing twice without a reason. */
export class Readers {
  readonly #heard = new Map<string, Heard>();
  readonly #unknowns = new Map<string, number>();
  /** What had gone wrong before each sending. */
  readonly #trouble = new WeakMap<Send, { readonly unknowns: number; readonly deaths: number }>();
  /** Sendings of what others have already. */
  readonly #late = new WeakSet<Send>();
  /** Incidents of which nobody knows who heard of them. */
  readonly #lost = new Set<string>();
  /** What a message said that was lost, or an attempt of which nobody knows the end: nobody knows whether it was read. */
  readonly #perhapsRead = new Set<string>();
  /** Since when a channel is another one than before: it came into the configuration, or out of it. */
  readonly #beginsAt = new Map<string, number>();
  readonly #changedAt = new Map<string, number>();
  #deaths = 0;

  /** Kinds that have arrived on a channel about an incident. */
  heard(channel: string, incident: string): ReadonlySet<string> {
    return new Set(this.#heard.get(`${channel}/${incident}`)?.kinds.keys());
  }

  /** Every `<channel>/<incident>` that readers have heard of. */
  heardKeys(): string[] {
    return [...this.#heard.keys()];
  }

  /** A process died, or a backup took the place of the database. */
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

  /** It waits for some recipients with what nobody has: all hear both where both go out again, rather than an end alone. */
  mayHearAgain({ channel, items }: Notification): void {
    for (const [incident, kinds] of kindsByIncident(items))
      for (const kind of kinds) {
        const arrivals = this.#heard.get(`${channel}/${incident}`)?.kinds.get(kind);
        if (arrivals !== undefined) arrivals.count--;
      }
  }

  /** Whether nobody at the channel can have heard of it. */
  isUnheard(channel: string, incident: string): boolean {
    return this.heard(channel, incident).size === 0 && !this.#perhapsRead.has(`${channel}/${incident}`);
  }

  /** It was out of the configuration for a moment of which no batch knows: what is open is told anew. */
  comeBack(channel: string, at: number): void {
    this.lostTrackOf(channel);
    this.#changedAt.set(channel, at);
  }

  /** Whether a channel came or went since. */
  hasChanged(channel: string, since: number): boolean {
    return (this.#changedAt.get(channel) ?? Number.NEGATIVE_INFINITY) >= since;
  }

  /** What was sent there since then begins anew. */
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
    // What was on its way as the channel left goes out before all is told anew.
    const before = this.hasChanged(send.channel, send.at - edgeMs) ? 1 : 0;
    const unknowns = (this.#unknowns.get(send.channel) ?? 0) - before;
    this.#trouble.set(send, { unknowns, deaths: this.#deaths });
  }

  arrived(send: Send): void {
    const { channel, message } = send;
    // Late to those whom it was refused for, where the others have it: `Ledger` sees that they do not get it again.
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

  /** Reminders and repeats are allowed as often as the truth explains them; what is overdue beside what they knew is news. */
  #hear(
    heard: Heard,
    kind: string,
    it: { readonly send: Send; readonly key: string; readonly overdueAt: number },
  ): void {
    const unknowns = this.#unknowns.get(it.send.channel) ?? 0;
    const known = heard.kinds.get(kind);
    if (known === undefined || it.overdueAt > known.overdueAt) {
      // Counted from the sending: the process may die, or give up, before what it sent arrives.
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

/** Since when that is overdue of which the alert is: a run an hour after its end. */
function overdueAtOf({ facts }: MessageItem): number {
  const found = facts.find(({ name }) => name === 'expected by' || name === 'run ended');
  if (found?.value.unit !== 'instant') return 0;
  return found.value.at + (found.name === 'run ended' ? 3_600_000 : 0);
}
