import { entryOf } from '../domain/provider-entry.ts';
import type { Outcome } from '../domain/reading.ts';
import { firstPolls, nextOnGrid } from '../domain/schedule.ts';
import { hasOtherKey } from '../engine/changed-accounts.ts';
import { DueQueue } from '../engine/due-queue.ts';
import { blockedUntil } from '../engine/observe.ts';
import { isNearEmpty } from '../engine/runways.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { Provider, SendingGuard } from '../ports/provider.ts';
import type { HistoryLoader } from './history-loader.ts';
import { OpenRequests } from './open-requests.ts';
import { RateGuard } from './rate-guard.ts';

/** A request that may not be sent because this process may not be the owner asks again after this. */
const askAgainMs = 1000;

/** Polls that begin in one turn: thousands at once would delay each other and everything else. */
const maxBegun = 50;

interface PollerDependencies {
  readonly state: MonitorState;
  readonly readBalance: Provider['readBalance'];
  readonly historyLoader: HistoryLoader;
  /** Whether this process owns the accounts now. */
  readonly owns: () => boolean;
  /** Whether a group may be asked before its last outcome is stored; undefined: always. */
  readonly mayActUnpersisted?: (() => boolean) | undefined;
  readonly now: () => number;
  /** Called with every outcome, before the account's next poll is scheduled. */
  readonly ended: (account: WatchedAccount, outcome: Outcome) => void;
}

/**
 * Schedules polls: a stable phase per account, later when the provider asked to wait, sooner to retry a
 * failure, never faster than the rate guard, never two at once. Instants are of the steady clock.
 */
export class Poller {
  readonly #dependencies: PollerDependencies;
  readonly #due = new DueQueue<string>();
  readonly #guard: RateGuard;
  readonly #phases = new Map<string, number>();
  /** Due, to begin in this order. */
  readonly #line = new Set<string>();
  #lookedAt = 0;
  readonly #underWay = new Set<string>();
  readonly #open: OpenRequests | null;
  /** Aborts all polls at the end of the daemon. */
  readonly #ending = new AbortController();
  readonly #waiting = new Map<string, ((outcome: Outcome | null) => void)[]>();
  #stopped = false;

  constructor(dependencies: PollerDependencies) {
    this.#dependencies = dependencies;
    const { mayActUnpersisted, state } = dependencies;
    this.#guard = new RateGuard((group) => {
      // A group has the name of its first account, and all of its accounts have one entry.
      const first = state.accounts.get(group)?.settings;
      return (first === undefined ? state.settings.provider : entryOf(state.settings, first))
        .maxRequestsPerSecond;
    });
    const isOpen = (id: string) => this.#underWay.has(id) || state.polled.unsaved.has(id);
    this.#open = mayActUnpersisted === undefined ? null : new OpenRequests({ isOpen, mayActUnpersisted });
  }

  get nextAt(): number {
    if (this.#stopped || !this.#dependencies.owns()) return Number.POSITIVE_INFINITY;
    return this.#line.size > 0 ? this.#lookedAt : this.#due.nextAt;
  }

  get running(): number {
    return this.#underWay.size;
  }

  /** Null while it is being polled or about to be. */
  nextPollAt(id: string): number | null {
    return this.#due.dueAt(id);
  }

  /** Follows a reload: new and changed accounts start, removed ones stop, others keep their phase. */
  adopt(changed: ReadonlySet<string>): void {
    const { state } = this.#dependencies;
    const now = this.#dependencies.now();
    for (const id of this.#phases.keys()) if (!state.accounts.has(id)) this.#forget(id);
    for (const { id, settings } of state.accounts.values())
      if (!entryOf(state.settings, settings).polled) this.#forget(id);
    const fresh = [...state.accounts.values()].filter(
      ({ settings }) =>
        entryOf(state.settings, settings).polled &&
        (!this.#phases.has(settings.id) || changed.has(settings.id)),
    );
    for (const account of fresh) this.#rememberLastPoll(account, now);
    const starts = firstPolls(fresh.map((account) => account.pollIntervalMs));
    fresh.forEach((account, index) => {
      const { firstMs = 0, phaseMs = 0 } = starts[index] ?? {};
      this.#phases.set(account.settings.id, now + phaseMs);
      const first =
        account.settings.poll.kind === 'cron' && account.poll.polledAt !== null
          ? this.#nextByPlan(account, now)
          : now + firstMs;
      this.#due.set(account.settings.id, Math.max(first, blockedUntil(state, account.settings.id)));
    });
  }

  /** Starts what is due, or the first of it: `nextAt` then says that there is more. */
  start(now: number): void {
    if (this.#stopped || !this.#dependencies.owns()) return;
    this.#lookedAt = now;
    for (const id of this.#takeDue(now)) this.#line.add(id);
    let begun = 0;
    for (const id of this.#line) {
      if (begun++ === maxBegun) break;
      this.#line.delete(id);
      const account = this.#dependencies.state.accounts.get(id);
      if (account === undefined || this.#underWay.has(id)) continue;
      const startAt = this.#startAt(id, now);
      if (startAt > now) this.#due.set(id, startAt);
      else if (this.#open?.begin(id, this.#groupOf(id)) !== false) void this.#poll(account);
      else this.#hold(id, now);
    }
  }

  /** Something was stored: accounts that waited for that are due. */
  stored(): void {
    const now = this.#dependencies.now();
    for (const id of this.#open?.takeFreed() ?? []) this.#due.set(id, now);
  }

  /**
   * Polls as soon as the guard allows. The promise gives the outcome, or null where the daemon ends first or
   * the account is removed. Null instead of a promise while the provider asked to wait.
   */
  pollNow(id: string): Promise<Outcome | null> | null {
    const now = this.#dependencies.now();
    if (this.#stopped || blockedUntil(this.#dependencies.state, id) > now) return null;
    const promise = new Promise<Outcome | null>((resolve) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]);
    });
    if (!this.#underWay.has(id) && !this.#line.has(id)) this.#due.set(id, now);
    return promise;
  }

  /** After a clock change intervals go on as before; cron expressions are evaluated again. */
  shift(byMs: number): void {
    const { state } = this.#dependencies;
    const now = this.#dependencies.now();
    this.#due.shift(byMs);
    for (const [id, at] of this.#phases) this.#phases.set(id, at + byMs);
    this.#guard.shift(byMs);
    const accounts = [...state.accounts.values()].filter(
      ({ settings }) => this.#due.dueAt(settings.id) !== null,
    );
    accounts.forEach((account, index) => {
      const { id, poll } = account.settings;
      const soon = now + (index / accounts.length) * Math.min(2000, account.pollIntervalMs);
      // After a jump forward the machine may have slept: poll soon.
      if (byMs > account.pollIntervalMs) this.#due.set(id, Math.max(soon, blockedUntil(state, id)));
      else if (poll.kind === 'cron') this.#due.set(id, this.#nextByPlan(account, now));
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const id of [...this.#waiting.keys()]) this.#giveUp(id);
  }

  abandon(): void {
    this.#ending.abort();
  }

  /**
   * What is due, the longest unpolled first: when a group's wait is over and its first request is refused
   * again, the next wait must not hit the same accounts.
   */
  #takeDue(now: number): string[] {
    const ids: string[] = [];
    for (let id = this.#due.takeDue(now); id !== undefined; id = this.#due.takeDue(now)) ids.push(id);
    if (ids.length < 2) return ids;
    const polledAt = (id: string): number => this.#dependencies.state.accounts.get(id)?.poll.polledAt ?? 0;
    return ids.sort((left, right) => polledAt(left) - polledAt(right));
  }

  /**
   * The guard counts what was asked before a restart: a process that crashes again and again asks no faster.
   */
  #rememberLastPoll({ settings: { id }, poll }: WatchedAccount, now: number): void {
    if (poll.polledAt === null) return;
    const group = this.#groupOf(id);
    // One that died may have sent more than it stored.
    const sentAt = this.#dependencies.state.endedCleanly ? Math.min(poll.polledAt, now) : now;
    this.#guard.sent(group, sentAt);
  }

  #groupOf(id: string): string {
    return this.#dependencies.state.groups.get(id) ?? id;
  }

  /** See `SendingGuard`. */
  readonly #guardOf = (id: string): SendingGuard => {
    const group = this.#groupOf(id);
    return () =>
      this.#dependencies.owns() ? this.#guard.trySend(group, this.#dependencies.now()) : askAgainMs;
  };

  /** It keeps its place, and what it waits for is stored at once. */
  #hold(id: string, now: number): void {
    this.#guard.keepPlace(id, now);
    this.#due.set(id, now + askAgainMs);
    this.#dependencies.state.polls.hurry();
  }

  #startAt(id: string, now: number): number {
    const blocked = blockedUntil(this.#dependencies.state, id);
    if (blocked <= now) return this.#guard.startAt(id, this.#groupOf(id), now);
    this.#guard.leave(id);
    return blocked;
  }

  async #poll(account: WatchedAccount): Promise<void> {
    const { id } = account.settings;
    this.#underWay.add(id);
    const asked = this.#dependencies.readBalance(account.settings, this.#ending.signal, this.#guardOf(id));
    const loadedHistory = this.#dependencies.historyLoader.of(account);
    const outcome = await asked;
    if (loadedHistory !== undefined) await loadedHistory;
    this.#underWay.delete(id);
    const current = this.#dependencies.state.accounts.get(id);
    // Removed, or abandoned at the end: the outcome means nothing.
    if (current === undefined || this.#ending.signal.aborted) {
      this.#release(id, null);
      return;
    }
    // It was asked at another address or by another key: that says nothing about the present one.
    if (hasOtherKey(account.settings, current.settings)) {
      this.#due.set(id, this.#dependencies.now());
      return;
    }
    if (this.#open?.isAwaited(this.#groupOf(id)) === true) this.#dependencies.state.polls.hurry();
    this.#dependencies.ended(current, outcome);
    this.#due.set(id, this.#nextAt(current, this.#dependencies.now()));
    this.#release(id, outcome);
  }

  #giveUp(id: string): void {
    if (!this.#underWay.has(id)) this.#release(id, null);
  }

  #release(id: string, outcome: Outcome | null): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    for (const resolve of waiting) resolve(outcome);
  }

  #nextAt(account: WatchedAccount, now: number): number {
    const { retryAt, outcome } = account.poll;
    const planned = this.#nextByPlan(account, now);
    const wanted = retryAt === null || outcome === 'auth_failed' ? planned : Math.min(planned, retryAt);
    return Math.max(wanted, blockedUntil(this.#dependencies.state, account.settings.id));
  }

  #nextByPlan(account: WatchedAccount, now: number): number {
    const { id, poll, nearEmptyMs } = account.settings;
    if (poll.kind === 'every') {
      const intervalMs = nearEmptyMs !== null && isNearEmpty(account, now) ? nearEmptyMs : poll.everyMs;
      return nextOnGrid(this.#phases.get(id) ?? now, intervalMs, now);
    }
    return this.#dependencies.state.calendar.next(poll.cron, poll.timezone, now) ?? Number.POSITIVE_INFINITY;
  }

  #forget(id: string): void {
    this.#phases.delete(id);
    this.#due.delete(id);
    this.#guard.leave(id);
    this.#giveUp(id);
  }
}
