import type { OutcomeKind, ProviderFacts } from './outcome.ts';
import type { Reading } from './reading.ts';

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
  readonly previous: Reading | null;
  /** When the newest reading differed from the one before it. */
  readonly changedAt: number | null;
  readonly unwatchedMs: number;
  readonly usage: Readonly<Record<string, string>>;
  /** What the provider said beside its last reading; absent where it says nothing. */
  readonly facts?: ProviderFacts | undefined;
  /** Not polled before this instant because it failed (auth and other failures, per account). */
  readonly retryAt: number | null;
  /** Digests of the address and the key that it is read by: other ones may be another purse. */
  readonly purse: { readonly address: string; readonly key: string } | null;
  /** Readings from before belong to another purse. */
  readonly seriesSince: number;
}

/** An account of which nothing is known yet. */
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
