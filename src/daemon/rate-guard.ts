import { getOrMake } from '../domain/get-or-make.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { groupOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';

/** Instants of the requests of one group; in the past if nothing is known. */
interface Group {
  /** When the next request may be planned for. */
  freeAt: number;
  sentAt: number;
  /** When a request that is held back now may ask again: after those that were held back before it. */
  heldUntil: number;
}

const never = Number.NEGATIVE_INFINITY;
/** Clocks are read in whole milliseconds: without a margin, twenty requests a second would sometimes be twenty-one. */
const marginMs = 1;

/**
 * Keeps any two requests of a group as far apart as its limit demands, whoever asks for them (contract 2.4). Requests are planned in
 * a queue. They are checked again when they are sent, because a new connection takes longer than a kept one. Instants are of the
 * daemon's steady clock.
 */
export class RateGuard {
  readonly #perSecond: (group: string) => number;
  readonly #groups = new Map<string, Group>();
  /** Accounts that have a place in their group's queue. */
  readonly #places = new Map<string, number>();

  constructor(perSecond: (group: string) => number) {
    this.#perSecond = perSecond;
  }

  /** When the account may be asked: at `now`, or at its place in the queue of its group. */
  startAt(id: string, group: string, now: number): number {
    const place = this.#places.get(id);
    // A poll that is ordered before its place comes does not jump the queue.
    if (place !== undefined && place > now) return place;
    this.#places.delete(id);
    // Places that were all missed, because the machine slept, must not be taken together. A slightly late one moves those behind it.
    const isLate = place !== undefined && now - place < this.#spacingMs(group);
    const startAt = isLate ? Math.max(now, this.#sendableAt(group)) : this.#nextPlace(group, now);
    if (startAt > now) this.#places.set(id, startAt);
    return startAt;
  }

  /** Called when a request is about to be sent. 0: it may be sent, and is counted; else the milliseconds until it may ask again. */
  trySend(group: string, now: number): number {
    const sendableAt = this.#sendableAt(group);
    if (sendableAt <= now) {
      this.sent(group, now);
      return 0;
    }
    const known = this.#of(group);
    const place = Math.max(sendableAt, known.heldUntil);
    known.heldUntil = place + this.#spacingMs(group);
    return place - now;
  }

  /** Records a request that was sent, perhaps by the process before this one. */
  sent(group: string, at: number): void {
    const known = this.#of(group);
    known.sentAt = Math.max(known.sentAt, at);
    known.freeAt = Math.max(known.freeAt, this.#sendableAt(group));
  }

  /** The account could not be polled at its turn: it keeps its place. */
  keepPlace(id: string, now: number): void {
    this.#places.set(id, now);
  }

  leave(id: string): void {
    this.#places.delete(id);
  }

  /** After a clock change, requests stay as far apart as they were. */
  shift(byMs: number): void {
    for (const group of this.#groups.values()) {
      group.freeAt += byMs;
      group.sentAt += byMs;
      group.heldUntil += byMs;
    }
    for (const [id, place] of this.#places) this.#places.set(id, place + byMs);
  }

  /** A group that rested saves nothing up: there are no bursts. A place that was taken is spent, even if its request is given up. */
  #nextPlace(group: string, now: number): number {
    const known = this.#of(group);
    const startAt = Math.max(known.freeAt, now);
    known.freeAt = startAt + this.#spacingMs(group);
    return startAt;
  }

  #sendableAt(group: string): number {
    return this.#of(group).sentAt + this.#spacingMs(group);
  }

  #spacingMs(group: string): number {
    return 1000 / this.#perSecond(group) + marginMs;
  }

  #of(group: string): Group {
    return getOrMake(this.#groups, group, () => ({ freeAt: never, sentAt: never, heldUntil: never }));
  }
}

/** Limits each group by the provider entry of its accounts. */
export function guardFor(state: MonitorState): RateGuard {
  return new RateGuard((group) => {
    // A group has the id of its first account, and all of its accounts have the same provider entry.
    const first = state.accounts.get(group)?.settings;
    return (first === undefined ? state.settings.provider : entryOf(state.settings, first))
      .maxRequestsPerSecond;
  });
}

/** Counts the requests of the process before this one: a process that crashes again and again must not poll faster. */
export function rememberLastPoll(
  guard: RateGuard,
  state: MonitorState,
  { id, poll: { polledAt } }: WatchedAccount,
  now: number,
): void {
  // A process that crashed may have sent more requests than it stored outcomes.
  if (polledAt !== null) guard.sent(groupOf(state, id), state.endedCleanly ? Math.min(polledAt, now) : now);
}

/**
 * Keeps at most one request of a group open, from its start until the outcome is stored: a new owner repeats only what is not stored.
 * A group is known here by the access that it shares, because no reload renames that. `isOpen`: whether the account is being polled,
 * or its outcome is not stored yet. `mayActUnpersisted`: whether a group may be polled before the outcome is stored.
 */
export function createOpenRequests(isOpen: (id: string) => boolean, mayActUnpersisted: () => boolean) {
  /** Accounts that were polled and may still be open, by the access that they share. */
  const asked = new Map<string, readonly string[]>();
  /** Accounts that had to wait, each with its access. */
  const held = new Map<string, string>();
  const openOf = (access: string): readonly string[] => asked.get(access)?.filter(isOpen) ?? [];
  return {
    /** Whether the account may be polled now; if so, its request is open from now on. If not, `takeFreed` names it later. */
    begin(id: string, access: string): boolean {
      const open = openOf(access);
      if (open.length > 0 && !mayActUnpersisted()) {
        held.set(id, access);
        return false;
      }
      held.delete(id);
      asked.set(access, open.includes(id) ? open : [...open, id]);
      return true;
    },
    isAwaited: (access: string): boolean => held.values().some((other) => other === access),
    /** Accounts that need not wait any longer. Each has to call `begin` again, because only one of a group may poll. */
    takeFreed(): readonly string[] {
      const freed = [...held].flatMap(([id, access]) => (openOf(access).length === 0 ? [id] : []));
      for (const id of freed) held.delete(id);
      return freed;
    },
  };
}
