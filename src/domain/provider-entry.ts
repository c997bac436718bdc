import type { BalanceDefinition } from './reading.ts';
import type { Secret } from './secret.ts';

/** A tenth of the documented limit of the account group. */
export const maxRequestsPerSecondLimit = 20;

/** `provider`, or one of `providers`. Its accounts share one client, one time limit and one way of backing off. */
export interface ProviderEntry {
  /** Its key under `providers`; `provider` for the default. */
  readonly name: string;
  readonly type: string;
  readonly timeoutMs: number;
  /** The limit for all accounts that share credentials. */
  readonly maxRequestsPerSecond: number;
  /** Polling more often than this shows nothing new, or is refused; null if nothing is known. */
  readonly shortestEveryMs: number | null;
  /** Names that its accounts give under `credentials`. */
  readonly credentialNames: readonly string[];
  readonly allowInsecureHttp: boolean;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  /** The address to pay at, for accounts that name no address of their own. */
  readonly topUpUrl: string | null;
  /** When payments to this provider are made, as a cron expression; null: as the configuration says for all. */
  readonly payDays: string | null;
  /** The balances of its accounts, in the order in which they are shown; at least one. */
  readonly balances: readonly BalanceDefinition[];
  /** Set if answers say how far below zero an account may go, and the balances of its accounts do not include that. */
  readonly saysCreditLimit?: boolean;
  /** Scheme and host at which its accounts are asked, if they have no address of their own. */
  readonly address?: string;
  /** False when readings are pushed to lowwater. */
  readonly polled: boolean;
  readonly words: ProviderWords;
  /** The entry as it stands in the file: two entries that are written alike behave alike. */
  readonly written: unknown;
  /** Secrets of its requests besides the credentials of accounts: never shown. */
  readonly secrets: readonly Secret[];
}

export interface ProviderWords {
  /** The advice when the key is refused, as the first half of a sentence: "Create a new access key in the provider’s dashboard,". */
  readonly replaceKey: string;
  /** The configuration key of an account that holds the refused key, such as `authSecret`. */
  readonly keyName: string;
  /** The configuration key that holds the address, such as `baseUrl`; null when none is configured. */
  readonly addressKey: string | null;
}

/** The name of the default entry: its key in the file. */
export const defaultEntry = 'provider';

/** The part of an account that says where it is asked, and by which key. */
export interface ProviderAccess {
  readonly provider: string;
  /** Its base address, if its kind's accounts have one; without a trailing slash. */
  readonly baseUrl: string | null;
  /** Scheme and host of its entry, if it has no base address. */
  readonly entryAddress?: string;
  /** The credentials that its provider's kind asks for. */
  readonly credentials: Readonly<Record<string, Secret>>;
}

/** The key of accounts that fail together: all accounts at one base address, or else all of one entry. */
export function providerKeyOf({ baseUrl, provider }: Pick<ProviderAccess, 'baseUrl' | 'provider'>): string {
  return baseUrl ?? provider;
}

/** The credentials as one text, which is a secret. Accounts with the same text share the provider's limit. */
export function credentialTextOf({ credentials }: Pick<ProviderAccess, 'credentials'>): string {
  return Object.values(credentials)
    .map((secret) => secret.reveal())
    .join('\n');
}

export interface ProviderEntries {
  readonly provider: ProviderEntry;
  readonly providers: Readonly<Record<string, ProviderEntry>>;
}

export function entryOf(
  { provider, providers }: ProviderEntries,
  account: Pick<ProviderAccess, 'provider'>,
): ProviderEntry {
  return providers[account.provider] ?? provider;
}

/** The parts that two entries must agree in to behave alike, as one text; the compiled part follows from them. A secret may stand in it. */
export function entryText(entry: ProviderEntry): string {
  const { name, type, timeoutMs, maxRequestsPerSecond, allowInsecureHttp, backoff, topUpUrl } = entry;
  const limits = [timeoutMs, maxRequestsPerSecond, allowInsecureHttp, backoff];
  return JSON.stringify([name, type, ...limits, topUpUrl, entry.written]);
}

export function entriesOf({ provider, providers }: ProviderEntries): readonly ProviderEntry[] {
  return [provider, ...Object.values(providers)];
}
