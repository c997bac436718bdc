import type { ConfigProblem } from '../../domain/config-problem.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
import { defaultEntry, type ProviderEntry } from '../../domain/provider-entry.ts';
import { Secret } from '../../domain/secret.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { providerKindOf } from '../../providers/registry.ts';
import { listWords, quoteKey } from '../../wording/lists.ts';
import { buildProvider } from '../build-provider.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, keysAt, problemAt, textAt, valueAt } from '../draft.ts';
import { providerSchema } from '../schema/providers.ts';

/** An entry that has the shape of its kind. */
interface CheckedEntry {
  readonly entry: ProviderEntry;
  readonly kind: ProviderKind;
  /** The credentials that each of its accounts needs. */
  readonly credentials: readonly string[];
  /** That it has no address, for accounts that have none, is told once. */
  isAddressMissed: boolean;
}

/** Each account has an entry, and what the kind of that entry asks for, and nothing else. */
export function checkProviders(draft: Draft): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const entries = new Map<string, CheckedEntry | null>();
  const paths: readonly (readonly [string, Path])[] = [
    [defaultEntry, [defaultEntry]],
    ...keysAt(draft, ['providers']).map((name) => [name, ['providers', name]] as const),
  ];
  for (const [name, path] of paths) {
    const read = readEntry(draft, name, path);
    if (Array.isArray(read)) problems.push(...read);
    entries.set(name, Array.isArray(read) ? null : read);
  }
  if (entries.has(defaultEntry) && keysAt(draft, ['providers']).includes(defaultEntry))
    problems.push(problemAt(draft, ['providers', defaultEntry], 'this name stands for the default entry'));
  for (const account of itemsAt(draft, ['accounts'])) {
    const name =
      valueAt(draft, [...account, 'provider']) === undefined
        ? defaultEntry
        : textAt(draft, [...account, 'provider']);
    if (name === null) continue;
    const checked = entries.get(name);
    if (checked === undefined)
      problems.push(unknownEntry(draft, [...account, 'provider'], name, [...entries.keys()]));
    else if (checked !== null) problems.push(...checkAccount(draft, account, checked));
  }
  return problems;
}

/** What is wrong with its shape is told by the schema. */
function readEntry(draft: Draft, name: string, path: Path): CheckedEntry | ConfigProblem[] | null {
  const written = valueAt(draft, path) ?? {};
  const { data } = providerSchema.safeParse(written);
  if (data === undefined) return null;
  const built = buildProvider(name, data, written);
  if ('problems' in built)
    return built.problems.map((problem) => problemAt(draft, [...path, ...problem.path], problem.message));
  const kind = providerKindOf(built);
  return {
    entry: built,
    kind,
    isAddressMissed: false,
    credentials: kind.credentials({ ...data, type: kind.type }).map((each) => each.name),
  };
}

function unknownEntry(draft: Draft, path: Path, name: string, known: readonly string[]): ConfigProblem {
  const nearest = draft.isInterpolated(path) ? null : nearestWord(name, known);
  const hint =
    nearest === null
      ? `there is ${listWords(known.slice(0, 10), 'and')}`
      : `did you mean ${quoteKey(nearest)}?`;
  return problemAt(draft, path, `no entry of providers has this name; ${hint}`);
}

function checkAccount(draft: Draft, account: Path, checked: CheckedEntry): ConfigProblem[] {
  const { kind, entry } = checked;
  const problems: ConfigProblem[] = [];
  const refuse = (key: Path, message: string) =>
    problems.push(problemAt(draft, [...account, ...key], message));
  const has = (key: string): boolean => valueAt(draft, [...account, key]) !== undefined;
  if (kind.accountKeys !== undefined) {
    const { credential, address } = kind.accountKeys;
    if (has('credentials'))
      refuse(['credentials'], `is not for accounts of ${kind.type}: its key is ${quoteKey(credential)}`);
    if (!has(credential)) refuse([credential], 'is missing; must be a string, not empty');
    if (!has(address) && !('baseUrl' in entry && entry.baseUrl !== null) && !checked.isAddressMissed) {
      checked.isAddressMissed = true;
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
  for (const key of ['authSecret', 'baseUrl'])
    if (has(key))
      refuse(
        [key],
        `is not for accounts of ${kind.type}${key === 'authSecret' ? ': it takes "credentials"' : ''}`,
      );
  const given = keysAt(draft, [...account, 'credentials']);
  for (const name of checked.credentials)
    if (!given.includes(name)) refuse(['credentials', name], 'is missing; the provider asks for it');
  for (const name of given.filter((each) => !checked.credentials.includes(each)))
    refuse(
      ['credentials', name],
      `is not asked for; ${checked.credentials.length === 0 ? 'this provider takes none' : `it takes ${listWords(checked.credentials, 'and')}`}`,
    );
  if (problems.length === 0 && kind.polled) problems.push(...checkRequest(draft, account, checked));
  return problems;
}

/** A credential that cannot stand where the request needs it. */
function checkRequest(
  draft: Draft,
  account: Path,
  { entry, kind, credentials }: CheckedEntry,
): ConfigProblem[] {
  const texts = credentials.map((name) => [name, textAt(draft, [...account, 'credentials', name])] as const);
  const secrets: Record<string, Secret> = {};
  for (const [name, text] of texts) {
    if (text === null) return [];
    secrets[name] = new Secret(text);
  }
  const request = kind.request(entry, { id: '', baseUrl: null, credentials: secrets });
  return 'reason' in request
    ? [problemAt(draft, [...account, 'credentials', request.credential], request.reason)]
    : [];
}
