import { type Alert, alertKey, type Incident, matchSubject } from '../domain/alert.ts';
import { isSettled } from '../domain/incident.ts';
import { matches } from '../domain/matcher.ts';
import type { Route } from '../domain/route.ts';
import type { RecurringSilence } from '../domain/silence.ts';
import { type ChannelPlan, decide, type Suppression } from '../engine/decide.ts';
import { DueQueue } from '../engine/due-queue.ts';
import { isInhibited } from '../engine/inhibition.ts';
import { planChannels } from '../engine/plan.ts';
import { tellChannel } from '../engine/told.ts';
import type { IncidentChange } from './incident-book.ts';

/** Where messages would have gone, and what would have muted them. */
export interface Announcing {
  readonly channels: readonly string[];
  readonly routes: readonly Route[];
  readonly silences: readonly RecurringSilence[];
  /** The window of a silence that holds an instant, else the next one; null when none comes. */
  readonly windowOf: (silence: RecurringSilence, at: number) => Window | null;
}

interface Window {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** One message that would have gone out. */
export interface ReplayedMessage {
  readonly at: number;
  readonly channel: string;
  readonly notices: number;
}

/**
 * The messages that the changes of all accounts would have brought by `until`, oldest first: the same
 * decisions on the same plans as the daemon's, with reminders, escalations and group waits, as if every
 * channel delivered at once and nobody acknowledged anything. An outage of a whole provider is not
 * recognised: its accounts are counted as going stale one by one.
 */
export function countMessages(
  changes: readonly IncidentChange[],
  announcing: Announcing,
  until: number,
): readonly ReplayedMessage[] {
  const announcer = new Announcer(announcing);
  let index = 0;
  while (index < changes.length) {
    const first = changes[index];
    if (first === undefined) break;
    announcer.liveUntil(first.at);
    for (; isSameTurn(changes[index], first); index++) announcer.take(changes[index]);
    announcer.announce(first.at);
  }
  announcer.liveUntil(until);
  return announcer.finish();
}

/** Changes of one account at one instant are told as what they come to. */
function isSameTurn(change: IncidentChange | undefined, first: IncidentChange): boolean {
  return change?.at === first.at && change.incident.account === first.incident.account;
}

interface Waiting {
  readonly dueAt: number;
  readonly incidents: ReadonlySet<string>;
  readonly notices: number;
}

/** What wakes the announcer: an incident, a channel whose message is due, or the silences. */
type DueKey = `incident:${string}` | `channel:${string}` | 'silences';

class Announcer {
  readonly #announcing: Announcing;
  readonly #sent: ReplayedMessage[] = [];
  /** Incidents about which something may still have to be said. */
  readonly #incidents = new Map<string, Incident>();
  readonly #byAccount = new Map<string, Set<string>>();
  readonly #alerts = new Map<string, Map<string, Alert>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #windows = new Map<RecurringSilence, Window | null>();
  readonly #due = new DueQueue<DueKey>();
  readonly #touched = new Set<string>();

  constructor(announcing: Announcing) {
    this.#announcing = announcing;
  }

  /** Does what is due before `at`. */
  liveUntil(at: number): void {
    while (this.#due.nextAt < at) this.#wake(this.#due.nextAt);
  }

  take(change: IncidentChange | undefined): void {
    if (change === undefined) return;
    const { incident, alert } = change;
    const { told, escalationSince } = this.#incidents.get(incident.id) ?? incident;
    this.#incidents.set(incident.id, {
      ...incident,
      told,
      // From the first message, where that was later; from a rise, where that came after.
      escalationSince: Math.max(escalationSince, incident.escalationSince),
    });
    const siblings = this.#byAccount.get(incident.account) ?? new Set();
    this.#byAccount.set(incident.account, siblings.add(incident.id));
    if (alert !== null) {
      const alerts = this.#alerts.get(incident.account) ?? new Map<string, Alert>();
      this.#alerts.set(incident.account, alerts.set(incident.rule, alert));
    }
    // What it inhibited, or what inhibits it, may have to be said now.
    for (const id of siblings) this.#touched.add(id);
  }

  /** Decides on everything that was touched. */
  announce(now: number): void {
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const id of touched) {
      const incident = this.#incidents.get(id);
      if (incident !== undefined) this.#announceIncident(incident, now);
    }
    for (const id of touched) this.#forget(id);
    if (this.#incidents.size > 0) this.#watchSilences(now);
  }

  /** What waits for its group goes out although the history ends before. */
  finish(): readonly ReplayedMessage[] {
    for (const [channel, { dueAt, notices }] of this.#waiting) {
      this.#sent.push({ at: dueAt, channel, notices });
    }
    return this.#sent;
  }

  #wake(at: number): void {
    const sending: string[] = [];
    for (let key = this.#due.takeDue(at); key !== undefined; key = this.#due.takeDue(at)) {
      if (key === 'silences') for (const id of this.#incidents.keys()) this.#touched.add(id);
      else if (key.startsWith('incident:')) this.#touched.add(key.slice('incident:'.length));
      else sending.push(key.slice('channel:'.length));
    }
    this.announce(at);
    for (const channel of sending) this.#send(channel, at);
    this.announce(at);
  }

  #announceIncident(incident: Incident, now: number): void {
    const { channels, routes } = this.#announcing;
    const suppression: Suppression = {
      silenced: this.#isSilenced(incident, now),
      inhibited: this.#isInhibited(incident, now),
      heldUntil: null,
      channelFailedUntil: null,
    };
    let current = incident;
    let next = Number.POSITIVE_INFINITY;
    for (const plan of planChannels(incident, routes, channels)) {
      // One thing said may leave another: an escalation that is due with the first message.
      for (;;) {
        const known = current.told[plan.channel] ?? null;
        const decision = decide({ incident: current, plan, told: known, suppression, now });
        if (decision.kind === 'quiet') {
          next = Math.min(next, decision.until ?? next);
          break;
        }
        const { notice } = decision;
        const waits = this.#waiting.get(plan.channel)?.incidents.has(incident.id) ?? false;
        if (notice !== 'reminder' || !waits) {
          this.#enqueue(plan, incident.id, now);
          current = tellChannel(current, {
            channel: plan.channel,
            notice,
            message: alertKey(incident.account, incident.rule),
            untried: Object.keys(current.told).length === 0,
            now,
          });
        }
        if (notice !== 'reminder') continue;
        next = Math.min(next, now + (plan.repeatEveryMs ?? Number.POSITIVE_INFINITY));
        break;
      }
    }
    if (current !== incident) this.#incidents.set(incident.id, current);
    if (Number.isFinite(next)) this.#wakeBy(`incident:${incident.id}`, next);
  }

  #enqueue({ channel, groupWaitMs }: ChannelPlan, incident: string, now: number): void {
    const waiting = this.#waiting.get(channel);
    const dueAt = Math.min(waiting?.dueAt ?? Number.POSITIVE_INFINITY, now + groupWaitMs);
    const incidents = new Set(waiting?.incidents).add(incident);
    this.#waiting.set(channel, { dueAt, incidents, notices: (waiting?.notices ?? 0) + 1 });
    this.#wakeBy(`channel:${channel}`, dueAt);
  }

  #send(channel: string, at: number): void {
    const waiting = this.#waiting.get(channel);
    if (waiting === undefined) return;
    this.#waiting.delete(channel);
    this.#sent.push({ at, channel, notices: waiting.notices });
    for (const id of waiting.incidents) {
      const incident = this.#incidents.get(id);
      const told = incident?.told[channel];
      if (incident === undefined || told === undefined) continue;
      // The time to the next reminder counts from the delivery.
      this.#incidents.set(id, { ...incident, told: { ...incident.told, [channel]: { ...told, at } } });
      this.#touched.add(id);
    }
  }

  /** An incident that ended is forgotten once every channel that heard of it knows. */
  #forget(id: string): void {
    const incident = this.#incidents.get(id);
    if (incident === undefined || !isSettled(incident)) return;
    if ([...this.#waiting.values()].some(({ incidents }) => incidents.has(id))) return;
    this.#incidents.delete(id);
    this.#byAccount.get(incident.account)?.delete(id);
    this.#due.delete(`incident:${id}`);
  }

  #isInhibited(incident: Incident, now: number): boolean {
    const alerts = this.#alerts.get(incident.account);
    const alert = alerts?.get(incident.rule);
    if (alerts === undefined || alert?.state !== 'firing' || incident.event) return false;
    // An alert that is itself silenced says nothing, so it must not keep others from speaking.
    const heard = [...alerts.values()].filter((other) => {
      const its = other.incident === null ? undefined : this.#incidents.get(other.incident);
      return its !== undefined && !this.#isSilenced(its, now);
    });
    return isInhibited(alert, heard);
  }

  #isSilenced(incident: Incident, now: number): boolean {
    return this.#announcing.silences.some((silence) => {
      if (!matches(silence.match, matchSubject(incident))) return false;
      const window = this.#windowAt(silence, now);
      return window !== null && window.startsAt <= now;
    });
  }

  /** Time only goes forward here: a window stays the answer until it is over. */
  #windowAt(silence: RecurringSilence, now: number): Window | null {
    const known = this.#windows.get(silence);
    if (known === null || (known !== undefined && now < known.endsAt)) return known;
    const window = this.#announcing.windowOf(silence, now);
    this.#windows.set(silence, window);
    return window;
  }

  #watchSilences(now: number): void {
    for (const silence of this.#announcing.silences) {
      const window = this.#windowAt(silence, now);
      if (window !== null) this.#wakeBy('silences', window.startsAt > now ? window.startsAt : window.endsAt);
    }
  }

  #wakeBy(key: DueKey, at: number): void {
    const known = this.#due.dueAt(key);
    if (known === null || at < known) this.#due.set(key, at);
  }
}
