import type { Alert, TakeOver } from '../domain/alert.ts';
import type { Micros } from '../domain/money.ts';
import type { AnnouncedRun, ExpectedTopUp } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import { type AccountState, type Balance, type BalanceDefinition, emptyLevel } from '../domain/reading.ts';
import type { Silence } from '../domain/route.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import type { Calendar, Random } from '../ports/clock.ts';
import type { DamagedRun, GroupBackoff } from '../ports/store.ts';
import type { AccountFacts } from '../rules/evaluation.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { DueQueue } from './due-queue.ts';
import { NotedLists, Notes } from './notes.ts';
import type { ProviderCounts } from './provider-counts.ts';
import { AlertRecords, IncidentRecords, PollNotes, Records, type Unsaved } from './records.ts';

/** All that the daemon knows; the database holds the same. The engine changes it synchronously, given the instant. */
export class MonitorState {
  settings: Settings;
  /** Set while the state is restored from another node's, which had another configuration. */
  takeOver: TakeOver | null = null;
  /** True for a reader whose settings are only a part of those in force: what they do not name is not over because of that. */
  isOfPart = false;
  readonly calendar: Calendar;
  readonly random: Random;
  /** When the process before this one ended; the start of this one if there was none. */
  lastRunEndedAt: number;
  readonly accounts = new Map<string, WatchedAccount>();
  /** Each account as its last poll left it. */
  readonly polled = new Records<AccountState>();
  /** Knowledge of each account's spending; stored when an hour of it ended. */
  readonly spending = new Records<AccountSpending>();
  /** Accounts whose spending is yet to be learned from stored history. */
  readonly unlearned = new Set<string>();
  readonly polls = new PollNotes();
  readonly alerts = new AlertRecords();
  /** Open incidents, and closed ones whose end is not notified everywhere. */
  readonly incidents = new IncidentRecords();
  /** Messages that are not yet delivered, and those that ended since the last commit. */
  readonly messages = new Records<Notification>();
  /** Ids of pending messages by channel, oldest first. */
  readonly queues = new Map<string, string[]>();
  /** Incidents that were open when lowwater started after a long pause, by account until its first poll: messages about them wait … */
  readonly unconfirmed = new Map<string, readonly string[]>();
  /** … until this instant at most. */
  unconfirmedUntil: number;
  readonly underWay = new Set<string>();
  /** Ids of pending messages of a daemon that died: it may have sent them while it could not store. */
  readonly inherited = new Set<string>();
  /** False when the last daemon died: it may have done more than it stored. */
  endedCleanly = true;
  /** When a channel last refused an incident for good, and the incident's `rises` at that time, by `<channel>/<incident>`. */
  readonly channelTries = new Map<string, { readonly at: number; readonly rises: number }>();
  readonly silences = new Records<Silence>();
  /** By account, if its newest reading was pushed by a clock that is ahead: the instant that was given, and the one it counts for. */
  readonly pushedAhead = new Map<string, { readonly given: number; readonly taken: number }>();
  readonly backoffs = new Records<GroupBackoff>();
  /** Keyed by `providerKeyOf`. */
  readonly providers = new Map<string, ProviderCounts>();
  readonly shortestIntervals = new Map<string, number>();
  /** Accounts whose stored readings are not loaded yet: time alone changes nothing about them. */
  readonly unloaded = new Set<string>();
  /** The group of each account that is not the first of its group (`groupOf`). */
  readonly groups = new Map<string, string>();
  readonly notes = new Notes();
  /** Top-ups that people announced, the oldest order first. */
  readonly expected = new NotedLists<ExpectedTopUp>('expected:', this.notes);
  readonly announced = new NotedLists<AnnouncedRun>('announced:', this.notes);
  /** Orders that are not stored yet, as they are left for another daemon, by the name of their note in the audit. */
  readonly acts = new Map<string, Readonly<Record<string, unknown>>>();
  /** Stored polls that were found damaged, by account. */
  readonly damaged = new Map<string, readonly DamagedRun[]>();
  /** When time alone changes something: `account:<id>`, `incident:<id>`, `damaged:<account>`, `silences`. */
  readonly due = new DueQueue<string>();
  /** Incidents to decide on before the turn ends. */
  readonly touched = new Set<string>();

  /** The changes of a batch, except polls, accounts and spending. */
  readonly otherChanges: readonly Unsaved[] = [
    this.backoffs,
    this.alerts,
    this.incidents,
    this.messages,
    this.silences,
    this.notes,
  ].map(({ unsaved }) => unsaved);

  constructor(start: Pick<MonitorState, 'settings' | 'calendar' | 'random'>, now: number) {
    this.settings = start.settings;
    this.calendar = start.calendar;
    this.random = start.random;
    this.lastRunEndedAt = now;
    this.unconfirmedUntil = now;
  }
}

/** The most that one turn does. 50,000 accounts that go stale together take several turns: polls and deliveries go on in between. */
export const maxAtOnce = 250;

/** Schedules `key` no later than `at`. */
export function scheduleBy(state: MonitorState, key: string, at: number): void {
  const known = state.due.dueAt(key);
  if (known === null || at < known) state.due.set(key, at);
}

/** The group's id, which is that of its first account; the account's own id if it shares its secret with none. */
export function groupOf({ groups }: Pick<MonitorState, 'groups'>, account: string): string {
  return groups.get(account) ?? account;
}

/** A watched account: configuration, stored records, and the readings that rules look back on. */
export class WatchedAccount {
  readonly id: string;
  /** Its key in the due queue; made once, because every poll uses it. */
  readonly dueKey: string;
  readonly settings: AccountSettings;
  /** The rules of the settings from which its own were made. */
  readonly allRules: Settings['rules'];
  readonly rules: readonly Rule[];
  readonly pollIntervalMs: number;
  pollGapMs: number;
  /** When time alone next changes something about it, as was last calculated; the due queue may ask sooner. */
  changesAt = Number.NEGATIVE_INFINITY;
  /** Reaches back as far as its rules look; loaded on demand (`spending.ts`). */
  readonly log: ReadingLog;
  readonly #state: MonitorState;

  constructor(
    parts: Pick<WatchedAccount, 'settings' | 'allRules' | 'rules' | 'pollIntervalMs' | 'pollGapMs' | 'log'>,
    state: MonitorState,
  ) {
    this.settings = parts.settings;
    this.id = parts.settings.id;
    this.dueKey = `account:${this.id}`;
    this.allRules = parts.allRules;
    this.rules = parts.rules;
    this.pollIntervalMs = parts.pollIntervalMs;
    this.pollGapMs = parts.pollGapMs;
    this.log = parts.log;
    this.#state = state;
  }

  get poll(): AccountState {
    const known = this.#state.polled.get(this.id);
    if (known === undefined) throw new Error(`nothing is known of the watched account ${this.id}`);
    return known;
  }

  set poll(next: AccountState) {
    this.#state.providers.get(providerKeyOf(this.settings))?.polled(this.poll, next);
    this.#state.polled.set(this.id, next);
  }

  get spending(): AccountSpending {
    const known = this.#state.spending.get(this.id);
    if (known === undefined) throw new Error(`no spending is kept of the watched account ${this.id}`);
    return known;
  }

  get alerts(): ReadonlyMap<string, Alert> {
    return this.#state.alerts.of(this.id);
  }

  get expected(): readonly ExpectedTopUp[] {
    return this.#state.expected.get(this.id) ?? nothing;
  }

  get announced(): readonly AnnouncedRun[] {
    return this.#state.announced.get(this.id) ?? nothing;
  }
}

const nothing: readonly never[] = [];

/** The balances of an account; those of the default provider if the account was removed. */
export function balancesOf(state: MonitorState, account: string): readonly BalanceDefinition[] {
  return state.accounts.get(account)?.settings.balances ?? state.settings.provider.balances;
}

/** The amount at which the account is empty: 0, or below it by the credit limit. */
export function floorOf({
  settings,
  poll,
}: Pick<WatchedAccount, 'settings'> & { readonly poll: Pick<AccountState, 'facts'> }): Micros {
  const limit = settings.creditLimitMicros ?? poll.facts?.creditLimitMicros ?? 0;
  return limit === 0 ? 0 : -limit;
}

export function emptyAt(account: WatchedAccount, balance: Balance): Micros {
  return emptyLevel({ balances: account.settings.balances, floorMicros: floorOf(account) }, balance);
}

/** The facts that rules may look at now. Plain values, because this is made at every poll and accessors of a literal are slow to make. */
export function factsOf(account: WatchedAccount, now: number): AccountFacts {
  const { poll, rules, settings, pollIntervalMs, pollGapMs, log, spending, expected, announced } = account;
  const { reading, previous, consecutiveFailures, outcome, unwatchedMs, firstSeenAt } = poll;
  return {
    now,
    rules,
    balances: settings.balances,
    currency: settings.currency,
    pollIntervalMs,
    pollGapMs,
    reading,
    previous,
    log,
    spending,
    consecutiveFailures,
    floorMicros: floorOf(account),
    leadTimeMs: settings.leadTimeMs,
    autoRecharge: poll.facts?.autoRecharge ?? null,
    expected,
    announced,
    outcome,
    readSince: reading?.at ?? firstSeenAt,
    unwatchedMs,
  };
}
