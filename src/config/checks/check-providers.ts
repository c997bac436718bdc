import { isObject } from '../../domain/json.ts';
import { defaultEntry, type ProviderEntry } from '../../domain/provider-entry.ts';
import { Secret } from '../../domain/secret.ts';
import { ownAccountKeys, providerKindOf } from '../../providers/registry.ts';
import { didYouMean, listWords, quoteKey } from '../../wording/lists.ts';
import { readEntries } from '../build-settings.ts';
import type { Position } from '../draft.ts';

/** The entry is null if it has problems of its own. */
type KnownEntry = { readonly position: Position; readonly entry: ProviderEntry | null };

/** Each account must name an entry, and give what the kind of that entry asks for, and nothing else. */
export function checkProviders(file: Position): void {
  const entries = readKnown(file);
  /** Entries that need an address and have none, while an account has none either: each is reported once. */
  const addressless = new Set<Position>();
  for (const account of file.at('accounts').items()) {
    // It was reported already that the account is no object: missing keys follow from that.
    if (!isObject(account.value)) continue;
    const provider = account.at('provider');
    const name = provider.value === undefined ? defaultEntry : provider.text;
    const known = name === null ? null : entries.get(name);
    if (name !== null && known === undefined) reportUnknown(provider, name, [...entries.keys()]);
    else if (known?.entry) checkAccount(account, known.entry, known.position, addressless);
  }
}

function readKnown(file: Position): ReadonlyMap<string, KnownEntry> {
  const entries = new Map<string, KnownEntry>();
  for (const { name, position, entry, problems } of readEntries(file)) {
    for (const { path, message } of problems) position.at(...path).report(message);
    if (entries.has(name)) position.report('this name stands for the default entry');
    else entries.set(name, { position, entry });
  }
  return entries;
}

function reportUnknown(provider: Position, name: string, known: readonly string[]): void {
  const meant = provider.isFilled ? null : didYouMean(name, known);
  const hint = meant ?? `there is ${listWords(known.slice(0, 10), 'and')}`;
  provider.report(`no entry of providers has this name; ${hint}`);
}

function checkAccount(
  account: Position,
  entry: ProviderEntry,
  position: Position,
  addressless: Set<Position>,
): void {
  const kind = providerKindOf(entry);
  const isMoving = account.at('creditLimit').value === 'provider';
  const isLimited = !isMoving || entry.saysCreditLimit === true;
  if (!isLimited)
    account
      .at('creditLimit')
      .report('its provider does not say one that moves where it is empty: give an amount');
  if (kind.accountKeys !== undefined) {
    checkOwnKeys(account, entry, kind.accountKeys);
    const { address } = kind.accountKeys;
    const isKnown = account.has(address) || ('baseUrl' in entry && entry.baseUrl !== null);
    if (isKnown || addressless.has(position)) return;
    addressless.add(position);
    position
      .at(address)
      .report('is missing; the base address of the provider, such as "https://api.example.com"');
    return;
  }
  const foreign = ownAccountKeys
    .flatMap(({ credential, address }) => [
      [credential, ': it takes "credentials"'] as const,
      [address, ''] as const,
    ])
    .filter(([key]) => account.has(key));
  for (const [key, instead] of foreign)
    account.at(key).report(`is not for accounts of ${kind.type}${instead}`);
  const isComplete = checkCredentials(account.at('credentials'), entry);
  if (isLimited && foreign.length === 0 && isComplete && kind.polled)
    checkRequest(account.at('credentials'), entry);
}

/** Checks a kind whose accounts have keys of their own in place of `credentials`. */
function checkOwnKeys(
  account: Position,
  { type }: ProviderEntry,
  { credential }: (typeof ownAccountKeys)[number],
): void {
  if (account.has('credentials'))
    account.at('credentials').report(`is not for accounts of ${type}: its key is ${quoteKey(credential)}`);
  if (!account.has(credential)) account.at(credential).report('is missing; must be a string, not empty');
}

/** Checks that the account gives everything that the entry asks for, and no more. False if something is wrong. */
function checkCredentials(credentials: Position, { credentialNames }: ProviderEntry): boolean {
  const given = credentials.keys();
  const missing = credentialNames.filter((name) => !given.includes(name));
  const foreign = given.filter((name) => !credentialNames.includes(name));
  for (const name of missing) credentials.at(name).report('is missing; the provider asks for it');
  for (const name of foreign)
    credentials.at(name).report(`is not asked for; ${wordAllowed(name, credentialNames)}`);
  return missing.length + foreign.length === 0;
}

function wordAllowed(name: string, allowed: readonly string[]): string {
  if (allowed.length === 0) return 'this provider takes none';
  return didYouMean(name, allowed) ?? `it takes ${listWords(allowed, 'and')}`;
}

/** Reports a credential that cannot stand where the request needs it. */
function checkRequest(given: Position, entry: ProviderEntry): void {
  const credentials: Record<string, Secret> = {};
  for (const name of entry.credentialNames) {
    const { text } = given.at(name);
    if (text === null) return;
    credentials[name] = new Secret(text);
  }
  const request = providerKindOf(entry).request(entry, { id: '', baseUrl: null, credentials });
  if ('reason' in request) given.at(request.credential).report(request.reason);
}
