import type { Alert, Incident } from '../domain/alert.ts';
import type { OutboxMessage } from '../domain/outbox.ts';
import type { AccountState, Calendar, GroupBackoff, Random } from '../domain/ports.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import type { Silence } from '../domain/silence.ts';
import type { AccountFacts } from '../rules/evaluation.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { Changes } from './changes.ts';
import { DueQueue } from './due-queue.ts';

/** One account while it is watched: its configuration, what is stored of it, and the memory that rules look back on. */
export interface WatchedAccount {
  settings: AccountSettings;
  rules: readonly Rule[];
  pollIntervalMs: number;
  /** The mean gap of the three polls that are due after the last reading. */
  pollGapMs: number;
  poll: AccountState;
  log: ReadingLog;
  /** Alerts by rule id; inactive ones without a past are not kept. */
  readonly alerts: Map<string, Alert>;
}

/**
 * All that the daemon knows, in memory. The database holds the same; while it cannot be written the daemon goes on from
 * here. Everything in this folder reads and changes it synchronously, given the instant; nothing here waits.
 */
export interface MonitorState {
  settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly accounts: Map<string, WatchedAccount>;
  /** Every alert, those of accounts included, by `alertKey`. */
  readonly alerts: Map<string, Alert>;
  /** Open incidents, and closed ones that somebody has yet to be told about. */
  readonly incidents: Map<string, Incident>;
  /** Messages that are not yet delivered, and those that ended since the last commit. */
  readonly messages: Map<string, OutboxMessage>;
  /** Ids of pending messages by channel, oldest first. */
  readonly queues: Map<string, string[]>;
  /** Ids of messages that are being sent. */
  readonly underWay: Set<string>;
  /** When a channel last refused an incident for good, by `<channel>/<incident>`. */
  readonly channelTries: Map<string, number>;
  /** How each channel last did, for people who look. */
  readonly deliveries: Map<
    string,
    { readonly deliveredAt: number | null; readonly lastError: string | null }
  >;
  readonly silences: Map<string, Silence>;
  /** Waiting groups of accounts that share a secret, by the group's name. */
  readonly backoffs: Map<string, GroupBackoff>;
  /** The group of each account. */
  readonly groups: Map<string, string>;
  readonly notes: Map<string, string>;
  /** When time alone changes something: `account:<id>`, `incident:<id>`, `silences`. */
  readonly due: DueQueue<string>;
  /** Incidents whose channels must be decided on before the turn ends. */
  readonly touched: Set<string>;
  readonly changes: Changes;
}

export function emptyState(parts: {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly random: Random;
}): MonitorState {
  return {
    ...parts,
    accounts: new Map(),
    alerts: new Map(),
    incidents: new Map(),
    messages: new Map(),
    queues: new Map(),
    underWay: new Set(),
    channelTries: new Map(),
    deliveries: new Map(),
    silences: new Map(),
    backoffs: new Map(),
    groups: new Map(),
    notes: new Map(),
    due: new DueQueue(),
    touched: new Set(),
    changes: new Changes(),
  };
}

/** What rules may look at. */
export function factsOf(account: WatchedAccount, now: number): AccountFacts {
  const { poll } = account;
  return {
    now,
    currency: account.settings.currency,
    pollIntervalMs: account.pollIntervalMs,
    pollGapMs: account.pollGapMs,
    reading: poll.reading,
    previous: poll.previous,
    log: account.log,
    outcome: poll.outcome,
    readSince: poll.reading?.at ?? poll.firstSeenAt,
    unwatchedMs: poll.unwatchedMs,
  };
}

/** Wakes `key` no later than `at`. */
export function wakeBy(state: MonitorState, key: string, at: number): void {
  const known = state.due.dueAt(key);
  if (known === null || at < known) state.due.set(key, at);
}
