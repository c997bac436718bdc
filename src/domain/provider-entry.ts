import type { BalanceDefinition } from './reading.ts';

/**
 * A provider as configured: `provider` (the default), or one of `providers`. Its kind knows the rest of its settings. All of
 * its accounts share one client, one time limit and one way of backing off.
 */
export interface ProviderEntry {
  /** Its key under `providers`; `provider` for the default. */
  readonly name: string;
  /** Which kind it is of. */
  readonly type: string;
  readonly timeoutMs: number;
  /** For all accounts that share credentials. */
  readonly maxRequestsPerSecond: number;
  readonly allowInsecureHttp: boolean;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  /** Where to pay, for accounts that name no address of their own. */
  readonly topUpUrl: string | null;
  /** What its accounts have, in the order in which they are shown; at least one. */
  readonly balances: readonly BalanceDefinition[];
  /** False where readings are pushed to lowwater. */
  readonly polled: boolean;
  readonly words: ProviderWords;
  /** What stands in the file: two entries that are written alike behave alike. */
  readonly written: unknown;
}

/** The words of a provider kind in messages and advice. */
export interface ProviderWords {
  /** What to do when the key is refused, as the first half of a sentence: "Create a new access key in the provider’s dashboard, and". */
  readonly replaceKey: string;
  /** The configuration key of an account that holds the refused key, such as `authSecret`. */
  readonly keyName: string;
  /** The configuration key that holds the address, such as `baseUrl`; null where none is configured. */
  readonly addressKey: string | null;
}
