import { entryOf } from '../../../src/domain/provider-entry.ts';
import type { Outcome } from '../../../src/domain/reading.ts';
import type { AccountSettings, Settings } from '../../../src/domain/settings.ts';
import type { Batch } from '../../../src/ports/store.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';

/** How long a group or an account must be left alone. Instants are of the daemon's clock. */
interface Wait {
  readonly strikes: number;
  readonly until: number;
  /** When the wait was last made longer. */
  readonly at: number;
}

interface Busy {
  readonly since: number;
}

const slackMs = 2;
/**
 * A poll every five minutes, retries after 15, 30, 60, 120 and 240 s, and a few polls for people or a clock change. One more for each
 * start: a new owner does not know of a poll that could not be stored.
 */
const watchedMs = 600_000;
const maxPolls = 14;

/** Checks every request to the provider against the guard and the backoff, and notices accounts that are forgotten. */
export class Pacing {
  #settings: Settings;
  readonly #accounts = new Map<string, AccountSettings>();
  /** After `rate_limited`, by group; after `auth_failed`, by account. */
  readonly #waits = new DurableMap<Wait>();
  readonly #lastStart = new Map<string, number>();
  readonly #busy = new Map<string, Busy>();
  readonly #lastSeen = new Map<string, number>();
  readonly #recent = new Map<string, number[]>();
  readonly #starts: number[] = [];
  /** The group of each account that was asked without the database knowing yet; and those of these accounts that answered. */
  readonly #unstored = new Map<string, string>();
  readonly #ended = new Set<string>();
  /** The accounts whose requests the batch under way stores. */
  #notified: readonly string[] = [];
  polls = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  configure(settings: Settings, at: number): void {
    const groups = new Map([...this.#accounts.values()].map((it) => [it.id, sharedBy(it)]));
    const entries = new Map([...this.#accounts.values()].map((it) => [it.id, it.provider]));
    this.#settings = settings;
    this.#accounts.clear();
    for (const account of settings.accounts) {
      this.#accounts.set(account.id, account);
      const before = groups.get(account.id);
      // Another key or address: a wait of the old one may count still, or no longer; both are right.
      if (before !== undefined && before !== sharedBy(account)) {
        this.#waits.delete(before);
        this.#waits.delete(sharedBy(account));
        this.#waits.delete(account.id);
      }
      // An edit of an entry's name may have fixed the refused key: the account is asked again.
      if ((entries.get(account.id) ?? account.provider) !== account.provider) this.#waits.delete(account.id);
      this.#lastSeen.set(account.id, at);
    }
    for (const each of [this.#busy, this.#unstored])
      for (const id of [...each.keys()]) if (!this.#accounts.has(id)) each.delete(id);
  }

  booted(at: number): void {
    this.#starts.push(at);
    this.#busy.clear();
    this.#lastStart.clear();
    for (const id of this.#accounts.keys()) this.#lastSeen.set(id, at);
  }

  died(): void {
    this.#waits.crash();
    this.#busy.clear();
    this.#unstored.clear();
    this.#notified = [];
  }

  taken({ accounts }: Pick<Batch, 'accounts'>): void {
    this.#waits.take();
    const ended = accounts.filter(({ account }) => this.#ended.has(account));
    this.#notified = ended.map(({ account }) => account);
  }

  committed(): void {
    this.#waits.commit();
    for (const id of this.#notified) this.#unstored.delete(id);
    this.#notified = [];
  }

  backUp(): void {
    this.#waits.backUp();
  }

  restored(): void {
    this.#waits.restore();
  }

  /** The clock moved: the next polls are calculated again. */
  excuse(at: number): void {
    for (const id of this.#accounts.keys()) this.#lastSeen.set(id, at);
  }

  /** A provider's wait goes on while the machine sleeps: it moves only with a clock that was set back. */
  shift(byMs: number, at: number): void {
    if (byMs < 0)
      for (const [key, wait] of [...this.#waits.entries()])
        this.#waits.set(key, { ...wait, until: wait.until + byMs });
    this.excuse(at);
  }

  /** The wall clock moved, and nobody could notice by how much: waits measured on it mean nothing any more. */
  forget(): void {
    for (const key of [...this.#waits.keys()]) this.#waits.delete(key);
    this.#waits.commit();
  }

  began(
    id: string,
    it: { readonly at: number; readonly now: number; readonly mayBeUnstored: boolean },
  ): void {
    this.polls++;
    const account = this.#accounts.get(id);
    if (account === undefined)
      throw new Violation('only configured accounts are polled', `${id} is not configured`);
    if (this.#busy.has(id)) throw new Violation('an account is polled once at a time', id);
    this.#busy.set(id, { since: it.at });
    const group = sharedBy(account);
    const last = this.#lastStart.get(group);
    const gapMs = 1000 / entryOf(this.#settings, account).maxRequestsPerSecond;
    if (last !== undefined && it.at - last < gapMs - slackMs) {
      throw new Violation(
        'the guard holds',
        `${id} was asked ${it.at - last} ms after its group, not ${gapMs}`,
      );
    }
    this.#lastStart.set(group, it.at);
    if (!it.mayBeUnstored) this.#expectAlone(id, group);
    this.#unstored.set(id, group);
    this.#ended.delete(id);
    this.#expectWaited(id, 'the group waits after a rate limit', this.#waits.get(group), it.now);
    this.#expectWaited(id, 'an account waits after a refused key', this.#waits.get(id), it.now);
    this.#expectCalm(id, it.at);
  }

  ended(
    id: string,
    outcome: Outcome,
    it: { readonly at: number; readonly now: number; readonly intervalOf: (account: string) => number },
  ): void {
    const since = this.#busy.get(id)?.since ?? it.at;
    this.#busy.delete(id);
    this.#ended.add(id);
    this.#lastSeen.set(id, it.at);
    const account = this.#accounts.get(id);
    if (account === undefined) return;
    const group = sharedBy(account);
    const { initialMs, maxMs } = entryOf(this.#settings, account).backoff;
    const asked = outcome.kind === 'ok' ? 0 : (outcome.retryAfterMs ?? 0);
    if (outcome.kind === 'ok') {
      for (const key of [group, id]) if (this.#waits.has(key)) this.#waits.delete(key);
      return;
    }
    // Another kind of failure came in between, so that the count of refused keys begins again.
    if (outcome.kind !== 'auth_failed' && this.#waits.has(id)) this.#waits.delete(id);
    if (outcome.kind !== 'rate_limited' && outcome.kind !== 'auth_failed') {
      const known = this.#waits.get(group) ?? { strikes: 0, until: 0, at: it.at };
      if (it.now + asked > Math.max(known.until, it.now))
        this.#waits.set(group, { ...known, until: it.now + asked });
      return;
    }
    const sharing = [...this.#accounts.values()].filter((each) => sharedBy(each) === group);
    const intervalMs = (each: readonly AccountSettings[]) =>
      Math.min(...each.map(({ id }) => it.intervalOf(id)));
    if (outcome.kind === 'auth_failed')
      this.#strike(id, { initialMs, maxMs, leastMs: intervalMs([account]), since: it.at, ...it });
    else
      this.#strike(group, { initialMs, maxMs, leastMs: Math.max(intervalMs(sharing), asked), since, ...it });
  }

  #strike(
    key: string,
    it: { initialMs: number; maxMs: number; leastMs: number; since: number; at: number; now: number },
  ): void {
    const known = this.#waits.get(key) ?? { strikes: 0, until: 0, at: -1 };
    // Requests that were under way together meet one rate limit and count once.
    const isSame = known.strikes > 0 && it.since <= known.at;
    const strikes = known.strikes + (isSame ? 0 : 1);
    const waitMs = Math.max(Math.min(it.maxMs, it.initialMs * 2 ** (strikes - 1)), it.leastMs);
    this.#waits.set(key, { strikes, until: Math.max(it.now + waitMs, isSame ? known.until : 0), at: it.at });
  }

  /** Checks that no account is forgotten. */
  expectPolled(at: number, gapOf: (account: AccountSettings) => number): void {
    for (const account of this.#accounts.values()) {
      const { backoff, polled } = entryOf(this.#settings, account);
      if (!polled) continue;
      const { initialMs, maxMs } = backoff;
      const busy = this.#busy.get(account.id);
      if (busy !== undefined && at - busy.since < 120_000) continue;
      const sharing = [...this.#accounts.values()].filter((it) => sharedBy(it) === sharedBy(account));
      // Each wait of a group may be ended by a request for another one of its accounts, and lasts as long as the shortest interval.
      const waitMs = Math.max(1.25 * Math.max(initialMs, maxMs) + 3_600_000, Math.min(...sharing.map(gapOf)));
      const allowed = gapOf(account) + waitMs * (sharing.length + 1) + 120_000;
      const seen = this.#lastSeen.get(account.id) ?? at;
      if (at - seen > allowed) {
        throw new Violation('no account is forgotten', `${account.id} was not polled for ${at - seen} ms`);
      }
    }
  }

  /** A daemon that takes over now repeats the requests that the database does not know of: at most one a group. */
  #expectAlone(id: string, group: string): void {
    const others = [...this.#unstored].filter(([, other]) => other === group);
    if (others.length === 0) return;
    throw new Violation(
      'one request a group is repeated',
      `${id} was asked while the database knew nothing of ${others.map(([other]) => other)}`,
    );
  }

  /** Retries after failures come between the planned polls, but never many. */
  #expectCalm(id: string, at: number): void {
    const recent = (this.#recent.get(id) ?? []).filter((it) => at - it < watchedMs);
    recent.push(at);
    this.#recent.set(id, recent);
    const starts = this.#starts.filter((it) => at - it < watchedMs).length;
    if (recent.length <= maxPolls + starts) return;
    throw new Violation(
      'failures are not hammered',
      `${id} was asked ${recent.length} times within 10 minutes`,
    );
  }

  #expectWaited(id: string, rule: string, wait: Wait | undefined, now: number): void {
    if (wait === undefined || now >= wait.until - slackMs) return;
    throw new Violation(rule, `${id} was asked ${wait.until - now} ms too early (strike ${wait.strikes})`);
  }
}

/** The text that all accounts of a group have in common. */
export function sharedBy(account: AccountSettings): string {
  const keys = Object.values(account.credentials).map((secret) => secret.reveal());
  return `group ${account.baseUrl ?? account.provider} ${keys}`;
}
