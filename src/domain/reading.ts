import { isSameCurrency, type Micros } from './money.ts';
import { ownOf } from './own.ts';

/** The names are public: storage, metrics, API and logs use them. */
export const outcomeKinds = [
  'ok',
  'rate_limited',
  'auth_failed',
  'api_error',
  'invalid_response',
  'http_error',
  'timeout',
  'network_error',
] as const;

export type OutcomeKind = (typeof outcomeKinds)[number];

/** A balance as the provider answered it, before lowwater knows which account and instant it belongs to. */
export interface BalanceAnswer {
  /** Keyed by the ids of the account's balances, in their order. */
  readonly balances: Readonly<Record<string, Micros>>;
  /** A currency, or a unit that is no money (`isUnit`). */
  readonly currency: string;
}

/** Facts that some providers give besides the balances. Absent parts were not said. */
export interface ProviderFacts {
  /** Whether the provider tops the account up by itself. */
  readonly autoRecharge?: boolean;
  /** The distance below zero that the provider allows, 0 or more. */
  readonly creditLimitMicros?: Micros;
  /** Spent but not yet taken from the balance, 0 or more. */
  readonly pendingMicros?: Micros;
  /** The date of the answer, as `2026-11-20`; empty when the answer names no valid date. */
  readonly date?: string;
}

/**
 * The result of one balance request. A value, never an exception.
 *
 * - `reason` is a sentence for people: it names the cause and never quotes a body, an address or a secret.
 * - `code` is the envelope's code if there was one, `status` the HTTP status if there was one.
 * - `retryAfterMs` is the response's `Retry-After` in milliseconds from now, already capped to a day;
 *   absent when the header was absent or unreadable.
 * - `usage` are the response headers whose names speak of limits.
 */
export type Outcome = OutcomeDetail & {
  readonly durationMs: number;
  readonly usage: Readonly<Record<string, string>>;
};

export type OutcomeDetail =
  | {
      readonly kind: 'ok';
      readonly answer: BalanceAnswer;
      readonly unknownFields?: readonly string[];
      readonly facts?: ProviderFacts | undefined;
    }
  | {
      readonly kind: Exclude<OutcomeKind, 'ok'>;
      readonly reason: string;
      readonly code?: number;
      readonly status?: number;
      readonly retryAfterMs?: number;
    };

/** The id of a `BalanceDefinition`: one of the balances of an account. */
export type Balance = string;

/** A "snapshot" to users: every balance that the account had at `at`, milliseconds since 1970. */
export interface Reading extends BalanceAnswer {
  readonly at: number;
}

/** Whether a reading is in the account's currency; all are if none is configured. */
export function isInCurrency(
  account: { readonly currency: string | null },
  { currency }: Pick<Reading, 'currency'>,
): boolean {
  return account.currency === null || isSameCurrency(account.currency, currency);
}

/** A value for each balance, by its id, in their order. */
export function ofEach<T>(
  balances: readonly BalanceDefinition[],
  value: (balance: Balance) => T,
): Readonly<Record<Balance, T>> {
  const found: Record<Balance, T> = {};
  for (const { id } of balances) found[id] = value(id);
  return found;
}

export function mapEach<From, To>(
  values: Readonly<Record<Balance, From>>,
  to: (value: From) => To,
): Record<Balance, To> {
  return Object.fromEntries(Object.entries(values).map(([balance, value]) => [balance, to(value)]));
}

/** One balance of a reading. Throws if the reading does not have it: no value is invented in its place. */
export function amountOf({ balances }: BalanceAnswer, balance: Balance): Micros {
  const micros = ownOf(balances, balance);
  if (micros === undefined) throw new Error(`a reading without the balance ${balance} was used for it`);
  return micros;
}

export function hasSameBalances(
  { balances: left }: BalanceAnswer,
  { balances: right }: BalanceAnswer,
): boolean {
  if (left === right) return true;
  for (const balance in left) if (ownOf(right, balance) === undefined) return false;
  for (const balance in right) if (ownOf(left, balance) === undefined) return false;
  return true;
}

/** Whether a reading has all of these balances. One of another provider, or from before they were configured, has not. */
export function hasBalances(
  { balances }: BalanceAnswer,
  wanted: readonly Pick<BalanceDefinition, 'id'>[],
): boolean {
  return wanted.every(({ id }) => ownOf(balances, id) !== undefined);
}

/** One of the balances of an account, as its provider's kind defines it. Accounts of one entry share their list of these. */
export interface BalanceDefinition {
  /** Its key in readings, API, metrics and the `balance` of a rule, such as `sms`. */
  readonly id: string;
  /** For people, such as `SMS`. */
  readonly label: string;
  /** The label in `check`, where it has been printed differently since 0.1.0. */
  readonly checkLabel?: string;
  /** Whether running empty matters: an alert below zero is built in for it. */
  readonly alertsBelowZero: boolean;
  /** Its currency, or what it counts (`minutes`), if that is not the account's currency. */
  readonly unit?: string;
}

/** The unit of a balance: its own, else the currency of its account. */
export function unitOf<Currency extends string | null>(
  account: { readonly balances: readonly BalanceDefinition[]; readonly currency: Currency },
  balance: Balance | null,
): string | Currency {
  return account.balances.find(({ id }) => id === balance)?.unit ?? account.currency;
}

/** The amount at which a balance is empty: the floor of its account; 0 if the balance has a unit of its own, because credit is money. */
export function emptyLevel(
  account: { readonly balances: readonly BalanceDefinition[]; readonly floorMicros: Micros },
  balance: Balance,
): Micros {
  return account.balances.find(({ id }) => id === balance)?.unit === undefined ? account.floorMicros : 0;
}

/** One poll as it is stored: when it ended and how. It has a reading exactly when the outcome is `ok`. */
export interface PollRecord {
  readonly at: number;
  readonly outcome: OutcomeKind;
  readonly reading: Reading | null;
}

export interface AccountState {
  readonly account: string;
  readonly firstSeenAt: number;
  readonly polledAt: number | null;
  readonly outcome: OutcomeKind | null;
  /** Reason of the last failure; null when the last poll was `ok`. */
  readonly failure: string | null;
  readonly failureCode: number | null;
  readonly consecutiveFailures: number;
  readonly reading: Reading | null;
  /** The reading before `reading`; if the account has a currency, the last one before it in that currency. */
  readonly previous: Reading | null;
  /** When the newest reading differed from the one before it. */
  readonly changedAt: number | null;
  /** Time since the last reading in which lowwater did not watch: it does not count as staleness. */
  readonly unwatchedMs: number;
  readonly usage: Readonly<Record<string, string>>;
  /** The facts that the provider's last reading gives besides the balances; absent if it gives none. */
  readonly facts?: ProviderFacts | undefined;
  /** Not polled before this instant because it failed (auth and other failures, per account). */
  readonly retryAt: number | null;
  /**
   * Digests of the address and the key that the account is read by: others may lead to another account of the provider. If the account has no
   * address of its own, `address` is its provider entry's name, `host` what that entry asks, and `entry` all that the entry says.
   */
  readonly purse: {
    readonly address: string;
    readonly key: string;
    readonly host?: string;
    readonly entry?: string;
  } | null;
  /** Readings from before this instant belong to another account of the provider. */
  readonly seriesSince: number;
}

export function freshAccount(account: string, now: number): AccountState {
  return {
    account,
    firstSeenAt: now,
    polledAt: null,
    outcome: null,
    failure: null,
    failureCode: null,
    consecutiveFailures: 0,
    reading: null,
    previous: null,
    changedAt: null,
    unwatchedMs: 0,
    usage: {},
    retryAt: null,
    purse: null,
    seriesSince: 0,
  };
}
