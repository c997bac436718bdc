import type { ConfigProblem } from '../../domain/config-problem.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
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
  const entries = new Map<string, ProviderEntry | null>();
  for (const { name, path, built } of readEntries(draft)) {
    const isBuilt = built !== null && !('problems' in built);
    if (built !== null && !isBuilt)
      for (const problem of built.problems)
        problems.push(problemAt(draft, [...path, ...problem.path], problem.message));
    if (entries.has(name)) problems.push(problemAt(draft, path, 'this name stands for the default entry'));
    else entries.set(name, isBuilt ? built : null);
  }
  /** Entries without an address, for accounts that have none: each is told once. */
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

function unknownEntry(draft: Draft, path: Path, name: string, known: readonly string[]): ConfigProblem {
  const nearest = draft.isInterpolated(path) ? null : nearestWord(name, known);
  const hint =
    nearest === null
      ? `there is ${listWords(known.slice(0, 10), 'and')}`
      : `did you mean ${quoteKey(nearest)}?`;
  return problemAt(draft, path, `no entry of providers has this name; ${hint}`);
}

function checkAccount(
  draft: Draft,
  account: Path,
  { entry, addressless }: { readonly entry: ProviderEntry; readonly addressless: Set<ProviderEntry> },
): ConfigProblem[] {
  const kind = providerKindOf(entry);
  const problems: ConfigProblem[] = [];
  const refuse = (key: Path, message: string) =>
    problems.push(problemAt(draft, [...account, ...key], message));
  const has = (key: string): boolean => valueAt(draft, [...account, key]) !== undefined;
  if (valueAt(draft, [...account, 'creditLimit']) === 'provider' && entry.saysCreditLimit !== true)
    refuse(['creditLimit'], 'its provider does not say one that moves where it is empty: give an amount');
  if (kind.accountKeys !== undefined) {
    const { credential, address } = kind.accountKeys;
    if (has('credentials'))
      refuse(['credentials'], `is not for accounts of ${kind.type}: its key is ${quoteKey(credential)}`);
    if (!has(credential)) refuse([credential], 'is missing; must be a string, not empty');
    if (!has(address) && !('baseUrl' in entry && entry.baseUrl !== null) && !addressless.has(entry)) {
      addressless.add(entry);
      problems.push(
        problemAt(
          draft,
          entry.name === defaultEntry ? [defaultEntry, address] : ['providers', entry.name, address],
          'is missing; the base address of the provider, such as "https://api.example.com"',
        ),
      );
    }
    return problems;
  }
  for (const { credential, address } of ownAccountKeys) {
    if (has(credential)) refuse([credential], `is not for accounts of ${kind.type}: it takes "credentials"`);
    if (has(address)) refuse([address], `is not for accounts of ${kind.type}`);
  }
  const given = keysAt(draft, [...account, 'credentials']);
  for (const name of entry.credentialNames)
    if (!given.includes(name)) refuse(['credentials', name], 'is missing; the provider asks for it');
  for (const name of given.filter((each) => !entry.credentialNames.includes(each))) {
    const meant = nearestWord(name, entry.credentialNames);
    const takes =
      meant === null
        ? `it takes ${listWords(entry.credentialNames, 'and')}`
        : `did you mean ${quoteKey(meant)}?`;
    refuse(
      ['credentials', name],
      `is not asked for; ${entry.credentialNames.length === 0 ? 'this provider takes none' : takes}`,
    );
  }
  if (problems.length === 0 && kind.polled) problems.push(...checkRequest(draft, account, entry));
  return problems;
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
