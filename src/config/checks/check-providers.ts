import { nearestWord } from '../../domain/nearest-word.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import { defaultEntry, type ProviderEntry } from '../../domain/provider-entry.ts';
import { Secret } from '../../domain/secret.ts';
import { ownAccountKeys, providerKindOf } from '../../providers/registry.ts';
import { listWords, quoteKey } from '../../wording/lists.ts';
import { readEntries } from '../build-provider.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, keysAt, problemAt, textAt, valueAt } from '../draft.ts';

/** Each account has an entry, and what the kind of that entry asks for, and nothing else. */
export function checkProviders(draft: Draft): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const entries = readBuiltEntries(draft, problems);
  /** Entries without an address, for accounts that have none: each is reported once. */
  const addressless = new Set<ProviderEntry>();
  for (const account of itemsAt(draft, ['accounts'])) {
    const path = [...account, 'provider'];
    const name = valueAt(draft, path) === undefined ? defaultEntry : textAt(draft, path);
    const entry = name === null ? null : entries.get(name);
    if (name !== null && entry === undefined)
      problems.push(unknownEntry(draft, path, name, [...entries.keys()]));
    else if (entry) problems.push(...checkAccount(draft, account, { entry, addressless }));
  }
  return problems;
}

/** By name; null where an entry has problems of its own, which are added to `problems`. */
function readBuiltEntries(draft: Draft, problems: ConfigProblem[]): Map<string, ProviderEntry | null> {
  const entries = new Map<string, ProviderEntry | null>();
  for (const { name, path, built } of readEntries(draft)) {
    const isBuilt = built !== null && !('problems' in built);
    if (built !== null && !isBuilt)
      for (const problem of built.problems)
        problems.push(problemAt(draft, [...path, ...problem.path], problem.message));
    if (entries.has(name)) problems.push(problemAt(draft, path, 'this name stands for the default entry'));
    else entries.set(name, isBuilt ? built : null);
  }
  return entries;
}

function unknownEntry(draft: Draft, path: Path, name: string, known: readonly string[]): ConfigProblem {
  const nearest = draft.isInterpolated(path) ? null : nearestWord(name, known);
  const hint =
    nearest === null
      ? `there is ${listWords(known.slice(0, 10), 'and')}`
      : `did you mean ${quoteKey(nearest)}?`;
  return problemAt(draft, path, `no entry of providers has this name; ${hint}`);
}

interface AccountOfEntry {
  readonly entry: ProviderEntry;
  /** Entries that were refused for want of an address. */
  readonly addressless: Set<ProviderEntry>;
}

function checkAccount(draft: Draft, account: Path, { entry, addressless }: AccountOfEntry): ConfigProblem[] {
  const kind = providerKindOf(entry);
  const limit = [...account, 'creditLimit'];
  const problems =
    valueAt(draft, limit) === 'provider' && entry.saysCreditLimit !== true
      ? [
          problemAt(
            draft,
            limit,
            'its provider does not say one that moves where it is empty: give an amount',
          ),
        ]
      : [];
  if (kind.accountKeys !== undefined)
    return [...problems, ...checkOwnKeys(draft, account, { entry, addressless, keys: kind.accountKeys })];
  for (const { credential, address } of ownAccountKeys)
    for (const [key, instead] of [
      [credential, ': it takes "credentials"'],
      [address, ''],
    ] as const)
      if (valueAt(draft, [...account, key]) !== undefined)
        problems.push(problemAt(draft, [...account, key], `is not for accounts of ${kind.type}${instead}`));
  problems.push(...checkCredentials(draft, account, entry));
  if (problems.length === 0 && kind.polled) problems.push(...checkRequest(draft, account, entry));
  return problems;
}

/** Of a kind whose accounts have keys of their own in place of `credentials`. */
function checkOwnKeys(
  draft: Draft,
  account: Path,
  { entry, addressless, keys }: AccountOfEntry & { readonly keys: (typeof ownAccountKeys)[number] },
): ConfigProblem[] {
  const { credential, address } = keys;
  const problems: ConfigProblem[] = [];
  const has = (key: string): boolean => valueAt(draft, [...account, key]) !== undefined;
  const refuse = (path: Path, message: string) => problems.push(problemAt(draft, path, message));
  if (has('credentials'))
    refuse(
      [...account, 'credentials'],
      `is not for accounts of ${entry.type}: its key is ${quoteKey(credential)}`,
    );
  if (!has(credential)) refuse([...account, credential], 'is missing; must be a string, not empty');
  if (!has(address) && !('baseUrl' in entry && entry.baseUrl !== null) && !addressless.has(entry)) {
    addressless.add(entry);
    refuse(
      entry.name === defaultEntry ? [defaultEntry, address] : ['providers', entry.name, address],
      'is missing; the base address of the provider, such as "https://api.example.com"',
    );
  }
  return problems;
}

/** What the entry asks for, no less and no more. */
function checkCredentials(draft: Draft, account: Path, { credentialNames }: ProviderEntry): ConfigProblem[] {
  const refuse = (name: string, message: string) =>
    problemAt(draft, [...account, 'credentials', name], message);
  const given = keysAt(draft, [...account, 'credentials']);
  const missing = credentialNames.filter((name) => !given.includes(name));
  const foreign = given.filter((name) => !credentialNames.includes(name));
  return [
    ...missing.map((name) => refuse(name, 'is missing; the provider asks for it')),
    ...foreign.map((name) => refuse(name, `is not asked for; ${wordAllowed(name, credentialNames)}`)),
  ];
}

function wordAllowed(name: string, allowed: readonly string[]): string {
  const meant = nearestWord(name, allowed);
  if (meant !== null) return `did you mean ${quoteKey(meant)}?`;
  return allowed.length === 0 ? 'this provider takes none' : `it takes ${listWords(allowed, 'and')}`;
}

/** A credential that cannot stand where the request needs it. */
function checkRequest(draft: Draft, account: Path, entry: ProviderEntry): ConfigProblem[] {
  const credentials: Record<string, Secret> = {};
  for (const name of entry.credentialNames) {
    const text = textAt(draft, [...account, 'credentials', name]);
    if (text === null) return [];
    credentials[name] = new Secret(text);
  }
  const request = providerKindOf(entry).request(entry, { id: '', baseUrl: null, credentials });
  return 'reason' in request
    ? [problemAt(draft, [...account, 'credentials', request.credential], request.reason)]
    : [];
}
