import { firstPolls, nextOnGrid } from '../domain/backoff.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { hasBalances, type Outcome } from '../domain/reading.ts';
import { accessOf } from '../engine/account-groups.ts';
import { hasOtherKey } from '../engine/changed-accounts.ts';
import { DueQueue } from '../engine/due-queue.ts';
import { blockedUntil } from '../engine/observe.ts';
import { isNearEmpty } from '../engine/spending.ts';
import { groupOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import type { Provider, SendingGuard } from '../ports/provider.ts';
import type { DaemonDependencies } from './daemon-dependencies.ts';
import type { HistoryLoader } from './history-loader.ts';
import { createOpenRequests, guardFor, type RateGuard, rememberLastPoll } from './rate-guard.ts';

/** The wait of a request that may not be sent, because this process may not be the owner, before it asks again. */
const askAgainMs = 1000;

/** Polls that begin in one turn: thousands at once would delay each other and everything else. */
const maxBegun = 50;

interface PollerDependencies extends Pick<DaemonDependencies, 'state' | 'membership'> {
  readonly readBalance: Provider['readBalance'];
  readonly historyLoader: HistoryLoader;
  readonly now: () => number;
  /** Called with every outcome, before the account's next poll is scheduled. */
  readonly ended: (account: WatchedAccount, outcome: Outcome) => void;
  /** Called once the next poll is scheduled: it may be due sooner than anything else. */
  readonly planned: () => void;
}

/**
 * Schedules polls: a stable phase per account, later when the provider asked to wait, sooner to retry a
 * failure. Never faster than the rate guard allows, and never two at once for one account. Instants are of the steady clock.
 */
export class Poller {
  readonly #dependencies: PollerDependencies;
  readonly #state: MonitorState;
  readonly #due = new DueQueue<string>();
  readonly #guard: RateGuard;
  readonly #phases = new Map<string, number>();
  /** Groups by name and access. A group that a reload leaves as it is keeps its turn: else reloads in quick succession would stop all polls. */
  #groups: ReadonlySet<string> = new Set();
  /** Accounts that are due, in the order in which their polls begin. */
  readonly #line = new Set<string>();
  #lookedAt = 0;
  readonly #underWay = new Set<string>();
  /** The polls under way whose request is not sent while another process may own the accounts. */
  readonly #heldBack = new Set<string>();
  /** Polls that were under way when the clock jumped over the time for which their cron expression asked for the next poll. */
  readonly #missed = new Set<string>();
  readonly #open: ReturnType<typeof createOpenRequests> | null;
  readonly #ending = new AbortController();
  readonly #waiting = new Map<string, ((outcome: Outcome | null) => void)[]>();
  #stopped = false;

  constructor(dependencies: PollerDependencies) {
    const { membership, state } = dependencies;
    this.#dependencies = dependencies;
    this.#state = state;
    this.#guard = guardFor(state);
    const isOpen = (id: string) => this.#underWay.has(id) || state.polled.unsaved.has(id);
    this.#open = membership ? createOpenRequests(isOpen, () => membership.mayActUnpersisted()) : null;
  }

  get nextAt(): number {
    if (this.#stopped || !this.#owns) return Number.POSITIVE_INFINITY;
    return this.#line.size > 0 ? this.#lookedAt : this.#due.nextAt;
  }

  /** Requests that were sent, or are about to be. */
  get running(): number {
    return this.#underWay.size - this.#heldBack.size;
  }

  /** Null while the account is being polled or is about to be. */
  nextPollAt(id: string): number | null {
    return this.#due.dueAt(id);
  }

  /** Applies a reload: new and changed accounts start, removed ones stop, others keep their phase. */
  adopt(changed: ReadonlySet<string>): void {
    const { accounts, settings } = this.#state;
    const now = this.#now;
    const isReload = this.#phases.size > 0;
    const isPolled = (account?: WatchedAccount) =>
      account !== undefined && entryOf(settings, account.settings).polled;
    for (const id of this.#phases.keys()) if (!isPolled(accounts.get(id))) this.#forget(id);
    const fresh: WatchedAccount[] = [];
    const groups = new Set<string>();
    for (const account of accounts.values()) {
      if (!isPolled(account)) continue;
      const group = groupOf(this.#state, account.id);
      const asked = `${group} ${this.#sharedBy(account.id)}`;
      // A group without this name before may have had another first account, and so another name. It was perhaps polled just now.
      if (isReload && !this.#groups.has(asked)) this.#guard.sent(group, now);
      groups.add(asked);
      if (!this.#phases.has(account.id) || changed.has(account.id)) fresh.push(account);
    }
    this.#groups = groups;
    for (const account of fresh) rememberLastPoll(this.#guard, this.#state, account, now);
    const starts = firstPolls(fresh.map((account) => account.pollIntervalMs));
    fresh.forEach((account, index) => {
      const { firstMs = 0, phaseMs = 0 } = starts[index] ?? {};
      this.#phases.set(account.id, now + phaseMs);
      this.#plan(account.id, this.#isResting(account, now) ? this.#nextByPlan(account, now) : now + firstMs);
    });
  }

  /** Starts the polls that are due, at most `maxBegun`: `nextAt` then says that there are more. */
  start(now: number): void {
    if (this.#stopped || !this.#owns) return;
    this.#lookedAt = now;
    for (const id of this.#takeDue(now)) this.#line.add(id);
    let begun = 0;
    for (const id of this.#line) {
      if (begun++ === maxBegun) break;
      this.#line.delete(id);
      const account = this.#state.accounts.get(id);
      if (account === undefined || this.#underWay.has(id)) continue;
      const startAt = this.#startAt(id, now);
      if (startAt > now) this.#due.set(id, startAt);
      else if (this.#open?.begin(id, this.#sharedBy(id)) !== false) void this.#poll(account);
      else this.#hold(id, now);
    }
  }

  /** Something was stored: accounts that waited for that become due. */
  stored(): void {
    const now = this.#now;
    for (const id of this.#open?.takeFreed() ?? []) this.#due.set(id, now);
  }

  /** The promise resolves to null if the daemon or the account ends first. Returns null, not a promise, while the provider asked to wait. */
  pollNow(id: string): Promise<Outcome | null> | null {
    const now = this.#now;
    if (this.#stopped || blockedUntil(this.#state, id) > now) return null;
    const promise = new Promise<Outcome | null>((resolve) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]);
    });
    if (!this.#underWay.has(id) && !this.#line.has(id)) this.#due.set(id, now);
    return promise;
  }

  /** Polls that were due in the time jumped over start soon: the machine may have slept. Others keep their time, unless the clock was set back. */
  shift(byMs: number): void {
    const now = this.#now;
    const accounts = [...this.#state.accounts.values()].filter(({ id }) => this.#phases.has(id));
    const missed = new Set(accounts.filter((account) => this.#isMissed(account, now - byMs, now)));
    this.#due.shift(Math.min(byMs, 0));
    for (const [id, at] of this.#phases) this.#phases.set(id, at + Math.min(byMs, 0));
    this.#guard.shift(byMs);
    let nth = 0;
    for (const account of accounts) {
      const { id, pollIntervalMs } = account;
      const isPlanned = this.#due.dueAt(id) !== null;
      // A poll that is under way was started before the jump.
      if (missed.has(account) && !isPlanned) this.#missed.add(id);
      else if (missed.has(account))
        this.#plan(id, now + (nth++ / missed.size) * Math.min(2000, pollIntervalMs));
      else if (isPlanned && account.settings.poll.kind === 'cron')
        this.#due.set(id, this.#nextByPlan(account, now));
    }
  }

  /** Whether the account was polled since its cron expression last asked for it, and was read as it is configured now. */
  #isResting({ settings, poll: { polledAt, outcome, reading } }: WatchedAccount, now: number): boolean {
    const lacksBalance = outcome === 'ok' && reading === null;
    if (settings.poll.kind === 'every' || polledAt === null || lacksBalance) return false;
    const { cron, timezone } = settings.poll;
    return (this.#state.calendar.next(cron, timezone, polledAt) ?? Number.POSITIVE_INFINITY) > now;
  }

  #isMissed({ id, settings: { poll } }: WatchedAccount, since: number, now: number): boolean {
    const dueAt = this.#due.dueAt(id);
    if (dueAt !== null || poll.kind === 'every') return dueAt !== null && dueAt <= now;
    return (this.#state.calendar.next(poll.cron, poll.timezone, since) ?? Number.POSITIVE_INFINITY) <= now;
  }

  stop(): void {
    this.#stopped = true;
    for (const id of [...this.#waiting.keys()]) if (!this.#underWay.has(id)) this.#release(id, null);
  }

  abandon(): void {
    this.#ending.abort();
  }

  /** Takes the accounts not polled for longest first: if the provider refuses repeatedly, the next wait must not hit the same accounts. */
  #takeDue(now: number): string[] {
    const ids: string[] = [];
    for (let id = this.#due.takeDue(now); id !== undefined; id = this.#due.takeDue(now)) ids.push(id);
    if (ids.length < 2) return ids;
    const polledAt = (id: string) => this.#state.accounts.get(id)?.poll.polledAt ?? 0;
    return ids.sort((left, right) => polledAt(left) - polledAt(right));
  }

  #guardOf({ id, settings }: WatchedAccount): SendingGuard {
    return () => {
      this.#heldBack.delete(id);
      const current = this.#current(id)?.settings;
      // The outcome of this request would mean nothing, and its group is not known any more.
      if (current === undefined || hasOtherKey(settings, current)) return Number.POSITIVE_INFINITY;
      if (this.#owns) return this.#guard.trySend(groupOf(this.#state, id), this.#now);
      this.#heldBack.add(id);
      return askAgainMs;
    };
  }

  /** The account keeps its place in the queue, and the outcome that it waits for is stored at once. */
  #hold(id: string, now: number): void {
    this.#guard.keepPlace(id, now);
    this.#due.set(id, now + askAgainMs);
    this.#state.polls.hurry();
  }

  #sharedBy(id: string): string {
    return accessOf(this.#state, id) ?? id;
  }

  #startAt(id: string, now: number): number {
    const blocked = blockedUntil(this.#state, id);
    if (blocked <= now) return this.#guard.startAt(id, groupOf(this.#state, id), now);
    this.#guard.leave(id);
    return blocked;
  }

  async #poll(account: WatchedAccount): Promise<void> {
    const { id, settings } = account;
    this.#underWay.add(id);
    const asked = this.#dependencies.readBalance(settings, this.#ending.signal, this.#guardOf(account));
    const loadedHistory = this.#dependencies.historyLoader.of(account);
    const outcome = await asked;
    if (loadedHistory !== undefined) await loadedHistory;
    this.#underWay.delete(id);
    this.#heldBack.delete(id);
    const current = this.#current(id);
    // The account was removed, is pushed by now, or the daemon abandoned the poll at its end: the outcome means nothing.
    if (current === undefined || this.#ending.signal.aborted) return this.#release(id, null);
    const isOther = hasOtherKey(settings, current.settings);
    // The request used another address or key, or was sent before a balance was added: it says nothing about the present account.
    if (isOther || (outcome.kind === 'ok' && !hasBalances(outcome.answer, current.settings.balances))) {
      this.#due.set(id, this.#now);
      return;
    }
    if (this.#open?.isAwaited(this.#sharedBy(id)) === true) this.#state.polls.hurry();
    this.#dependencies.ended(current, outcome);
    this.#planNext(current);
    this.#dependencies.planned();
    this.#release(id, outcome);
  }

  /** Undefined if a reload removed the account, or its readings are pushed by now. */
  #current(id: string): WatchedAccount | undefined {
    return this.#phases.has(id) ? this.#state.accounts.get(id) : undefined;
  }

  get #owns(): boolean {
    return this.#dependencies.membership?.mayPoll() ?? true;
  }

  get #now(): number {
    return this.#dependencies.now();
  }

  #release(id: string, outcome: Outcome | null): void {
    for (const resolve of this.#waiting.get(id) ?? []) resolve(outcome);
    this.#waiting.delete(id);
  }

  /** Plans the next poll, but not before the provider's wait is over. */
  #plan(id: string, at: number): void {
    this.#due.set(id, Math.max(at, blockedUntil(this.#state, id)));
  }

  #planNext(account: WatchedAccount): void {
    const { retryAt, outcome } = account.poll;
    const now = this.#now;
    const planned = this.#missed.delete(account.id) ? now : this.#nextByPlan(account, now);
    const isRetried = retryAt !== null && outcome !== 'auth_failed';
    this.#plan(account.id, isRetried ? Math.min(planned, retryAt) : planned);
  }

  #nextByPlan(account: WatchedAccount, now: number): number {
    const { id, poll, nearEmptyMs } = account.settings;
    if (poll.kind === 'every') {
      const intervalMs = nearEmptyMs !== null && isNearEmpty(account, now) ? nearEmptyMs : poll.everyMs;
      return nextOnGrid(this.#phases.get(id) ?? now, intervalMs, now);
    }
    return this.#state.calendar.next(poll.cron, poll.timezone, now) ?? Number.POSITIVE_INFINITY;
  }

  #forget(id: string): void {
    this.#phases.delete(id);
    this.#missed.delete(id);
    this.#due.delete(id);
    this.#guard.leave(id);
    if (!this.#underWay.has(id)) this.#release(id, null);
  }
}
