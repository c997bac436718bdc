import type { Alert } from '../domain/alert.ts';
import type { Micros } from '../domain/money.ts';
import type { AccountState } from '../domain/ports.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { AccountFacts } from '../rules/evaluation.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import type { AlertRecords } from './alert-records.ts';
import type { ProviderCounts } from './provider-counts.ts';
import type { Records } from './records.ts';

/** One account while it is watched: its configuration, what is stored of it, and the memory that rules look back on. */
export class WatchedAccount {
  readonly id: string;
  readonly settings: AccountSettings;
  readonly rules: readonly Rule[];
  readonly pollIntervalMs: number;
  /** The mean gap of the three polls that are due after the last reading. */
  pollGapMs: number;
  /** Its log without what is yet to be read from the database. */
  readonly keptLog: ReadingLog;
  /** Reads what was stored before this process began; null once that is done. */
  recall: ((account: WatchedAccount) => void) | null = null;
  readonly #tables: Tables;

  constructor(
    parts: Pick<WatchedAccount, 'settings' | 'rules' | 'pollIntervalMs' | 'pollGapMs' | 'keptLog' | 'recall'>,
    tables: Tables,
  ) {
    this.id = parts.settings.id;
    this.settings = parts.settings;
    this.rules = parts.rules;
    this.pollIntervalMs = parts.pollIntervalMs;
    this.pollGapMs = parts.pollGapMs;
    this.keptLog = parts.keptLog;
    this.recall = parts.recall;
    this.#tables = tables;
  }

  /** How its last poll ended and what is known since, from the table that is stored. */
  get poll(): AccountState {
    const known = this.#tables.polled.get(this.id);
    if (known === undefined) throw new Error(`nothing is known of the watched account ${this.id}`);
    return known;
  }

  set poll(next: AccountState) {
    this.#tables.providers.get(this.settings.baseUrl)?.polled(this.poll, next);
    this.#tables.polled.set(this.id, next);
  }

  /** Its readings, filled from the database when somebody first looks. */
  get log(): ReadingLog {
    this.remember();
    return this.keptLog;
  }

  /** Reads now what is yet to be read. */
  remember(): void {
    const { recall } = this;
    this.recall = null;
    recall?.(this);
  }

  /** What is known of its spending. */
  get spending(): AccountSpending {
    this.remember();
    const known = this.#tables.spending.get(this.id);
    if (known === undefined) throw new Error(`no spending is kept of the watched account ${this.id}`);
    return known;
  }

  /** Its alerts by rule. */
  get alerts(): ReadonlyMap<string, Alert> {
    return this.#tables.alerts.of(this.id);
  }
}

/** Where an account's records stand. */
interface Tables {
  readonly polled: Records<AccountState>;
  readonly spending: Records<AccountSpending>;
  readonly alerts: AlertRecords;
  readonly providers: ReadonlyMap<string, ProviderCounts>;
}

/** What is empty for an account: 0, or below it by its credit limit. */
export function emptyAt({ creditLimitMicros }: AccountSettings): Micros {
  return creditLimitMicros === 0 ? 0 : -creditLimitMicros;
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
    get log() {
      return account.log;
    },
    get spending() {
      return account.spending;
    },
    consecutiveFailures: poll.consecutiveFailures,
    floorMicros: emptyAt(account.settings),
    outcome: poll.outcome,
    readSince: poll.reading?.at ?? poll.firstSeenAt,
    unwatchedMs: poll.unwatchedMs,
  };
}
