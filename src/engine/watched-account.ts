import type { AccountState } from '../domain/account-state.ts';
import type { Alert } from '../domain/alert.ts';
import type { ExpectedTopUp } from '../domain/expected-top-up.ts';
import type { Micros } from '../domain/money.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import type { BalanceDefinition } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import type { AccountFacts } from '../rules/evaluation.ts';
import type { RuleKind } from '../rules/kind.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import type { AlertRecords } from './alert-records.ts';
import type { ProviderCounts } from './provider-counts.ts';
import type { Records } from './records.ts';

export interface RuleWithKind {
  readonly rule: Rule;
  readonly kind: RuleKind;
}

/** A watched account: configuration, stored records, and the readings that rules look back on. */
export class WatchedAccount {
  readonly id: string;
  /** Its key in the due queue; made once, because every poll uses it. */
  readonly dueKey: string;
  readonly settings: AccountSettings;
  readonly rules: readonly Rule[];
  readonly judges: readonly RuleWithKind[];
  readonly pollIntervalMs: number;
  pollGapMs: number;
  /** As far back as its rules look; loaded on demand (`load-history.ts`). */
  readonly log: ReadingLog;
  readonly #tables: Tables;

  constructor(
    parts: Pick<WatchedAccount, 'settings' | 'rules' | 'judges' | 'pollIntervalMs' | 'pollGapMs' | 'log'>,
    tables: Tables,
  ) {
    this.id = parts.settings.id;
    this.dueKey = `account:${parts.settings.id}`;
    this.settings = parts.settings;
    this.rules = parts.rules;
    this.judges = parts.judges;
    this.pollIntervalMs = parts.pollIntervalMs;
    this.pollGapMs = parts.pollGapMs;
    this.log = parts.log;
    this.#tables = tables;
  }

  get poll(): AccountState {
    const known = this.#tables.polled.get(this.id);
    if (known === undefined) throw new Error(`nothing is known of the watched account ${this.id}`);
    return known;
  }

  set poll(next: AccountState) {
    this.#tables.providers.get(providerKeyOf(this.settings))?.polled(this.poll, next);
    this.#tables.polled.set(this.id, next);
  }

  get spending(): AccountSpending {
    const known = this.#tables.spending.get(this.id);
    if (known === undefined) throw new Error(`no spending is kept of the watched account ${this.id}`);
    return known;
  }

  get alerts(): ReadonlyMap<string, Alert> {
    return this.#tables.alerts.of(this.id);
  }

  get expected(): readonly ExpectedTopUp[] {
    return this.#tables.expected.get(this.id) ?? nothing;
  }
}

const nothing: readonly ExpectedTopUp[] = [];

interface Tables {
  readonly polled: Records<AccountState>;
  readonly spending: Records<AccountSpending>;
  readonly alerts: AlertRecords;
  readonly providers: ReadonlyMap<string, ProviderCounts>;
  readonly expected: ReadonlyMap<string, readonly ExpectedTopUp[]>;
}

/** The balances of an account; of one that was removed, those that accounts of the default provider have. */
export function balancesOf(
  state: { readonly accounts: ReadonlyMap<string, WatchedAccount>; readonly settings: Settings },
  account: string,
): readonly BalanceDefinition[] {
  return state.accounts.get(account)?.settings.balances ?? state.settings.provider.balances;
}

/** What is empty for an account: 0, or below it by its credit limit. */
export function emptyAt({ settings, poll }: Pick<WatchedAccount, 'settings' | 'poll'>): Micros {
  const limit = settings.creditLimitMicros ?? poll.facts?.creditLimitMicros ?? 0;
  return limit === 0 ? 0 : -limit;
}

/** What rules may look at now. Plain values, because this is made at every poll and accessors of a literal are slow to make. */
export function factsOf(account: WatchedAccount, now: number): AccountFacts {
  const { poll, settings, pollIntervalMs, pollGapMs, log, spending, expected } = account;
  const { reading, previous, consecutiveFailures, outcome, unwatchedMs, firstSeenAt } = poll;
  return {
    now,
    currency: settings.currency,
    pollIntervalMs,
    pollGapMs,
    reading,
    previous,
    log,
    spending,
    consecutiveFailures,
    floorMicros: emptyAt(account),
    autoRecharge: poll.facts?.autoRecharge ?? null,
    expected,
    outcome,
    readSince: reading?.at ?? firstSeenAt,
    unwatchedMs,
  };
}
