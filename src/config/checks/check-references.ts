import { nearestWord } from '../../domain/nearest-word.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import type { BalanceDefinition } from '../../domain/reading.ts';
import { selfAlertTypes } from '../../rules/registry.ts';
import { builtInIds } from '../../rules/rules-for-account.ts';
import { channelFailedRule } from '../../rules/self-alert-kinds.ts';
import { listWords, quoteKey } from '../../wording/lists.ts';
import { readEntries } from '../build-provider.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, keysAt, leavesBelow, problemAt, textAt, textsAt } from '../draft.ts';
import { listSecretKeys } from '../json-schema.ts';

/** Names that routes, reports, rules and silences use must exist. */
export function checkReferences(draft: Draft): ConfigProblem[] {
  const secrets = secretsLater(draft);
  const channels = knownChannels(draft);
  const accounts = knownIds(draft, secrets, { list: 'accounts', what: 'account' });
  const rules = knownAlertTypes(draft, secrets);
  const problems: ConfigProblem[] = [];
  const check = (path: Path, known: Known): void => {
    for (const place of namesAt(draft, path))
      problems.push(...checkName(draft, place, { ...known, secrets }));
  };
  for (const route of itemsAt(draft, ['routes'])) {
    check([...route, 'channels'], channels);
    check([...route, 'escalate', 'channels'], channels);
  }
  for (const report of itemsAt(draft, ['reports'])) check([...report, 'channels'], channels);
  for (const rule of itemsAt(draft, ['rules'])) check([...rule, 'match', 'account'], accounts);
  for (const item of [...itemsAt(draft, ['routes']), ...itemsAt(draft, ['silences'])]) {
    check([...item, 'match', 'account'], { ...accounts, others: ownAccounts });
    check([...item, 'match', 'rule'], rules);
  }
  return problems;
}

interface Known {
  readonly what: string;
  /** Names that may be shown: those that stand in the file as they are. Asked for where one is wrong. */
  readonly shown: () => readonly string[];
  readonly names: ReadonlySet<string>;
  /** False when a name could not be read: then nothing can be said to be unknown. */
  readonly complete: boolean;
  readonly others?: RegExp;
}

/** Alerts about lowwater itself and about a provider as a whole stand under these. */
const ownAccounts = /^@lowwater$|^@provider:./;

function knownChannels(draft: Draft): Known {
  const names = keysAt(draft, ['channels']);
  return { what: 'channel has this name', shown: () => names, names: new Set(names), complete: true };
}

function knownIds(
  draft: Draft,
  secrets: Secrets,
  { list, what }: { readonly list: string; readonly what: string },
): Known {
  const ids = textsAt(draft, [list], 'id');
  const names = new Set(ids.filter((id) => id !== null));
  const mayBeShown = (id: string | null, index: number): id is string =>
    id !== null && !draft.isInterpolated([list, index, 'id']) && !secrets().has(id);
  return {
    what: `${what} has this id`,
    shown: () => ids.filter(mayBeShown),
    names,
    complete: !ids.includes(null),
  };
}

/** Every text that stands as a secret somewhere: pasted over an id by mistake it must not be shown either. */
type Secrets = () => ReadonlySet<string>;

/** What stands at a secret key, or anywhere below one, such as the headers of a webhook. Looked for when the first name is wrong. */
function secretsLater(draft: Draft): Secrets {
  let found: Set<string> | null = null;
  return () => {
    if (found !== null) return found;
    const keys = listSecretKeys();
    const paths = leavesBelow(draft, []).filter((path) => path.some((step) => keys.has(String(step))));
    found = new Set(paths.flatMap((path) => textAt(draft, path) ?? []));
    return found;
  };
}

/** Of all entries: those that must not run empty. */
function alertedBalances(draft: Draft): readonly BalanceDefinition[] {
  return readEntries(draft).flatMap(({ built }) =>
    built !== null && 'balances' in built ? built.balances.filter((each) => each.alertsBelowZero) : [],
  );
}

function knownAlertTypes(draft: Draft, secrets: Secrets): Known {
  const configured = knownIds(draft, secrets, { list: 'rules', what: 'rule' });
  const others = [...builtInIds([...configured.names], alertedBalances(draft)), ...selfAlertTypes];
  const failing = keysAt(draft, ['channels']).map(channelFailedRule);
  return {
    ...configured,
    shown: () => [...configured.shown(), ...others],
    names: new Set([...configured.names, ...others, ...failing]),
  };
}

/** A value, or each of a list. */
function namesAt(draft: Draft, path: Path): Path[] {
  return textAt(draft, path) === null ? itemsAt(draft, path) : [path];
}

function checkName(draft: Draft, path: Path, known: Known & { readonly secrets: Secrets }): ConfigProblem[] {
  const name = textAt(draft, path);
  if (name === null || !known.complete || known.names.has(name) || known.others?.test(name)) return [];
  const isName = isHarmless(name) && !known.secrets().has(name) && !draft.isInterpolated(path);
  const written = isName ? ` (${quoteKey(name)})` : '';
  const shown = known.shown();
  const nearest = draft.isInterpolated(path) ? null : nearestWord(name, shown);
  if (nearest !== null)
    return [problemAt(draft, path, `no ${known.what}${written}; did you mean ${listWords([nearest])}?`)];
  const few = shown.slice(0, 10);
  const more = shown.length > few.length ? ` and ${shown.length - few.length} more` : '';
  const all = few.length === 0 ? '' : `; there is ${listWords(few, more === '' ? 'and' : 'or')}${more}`;
  return [problemAt(draft, path, `no ${known.what}${written}${all}`)];
}

/** Short plain words and numbers are names; a key or a token that was pasted in the wrong place is longer, with digits. */
function isHarmless(name: string): boolean {
  return (
    name.length <= 20 && name.split(/[-_.:@]/).every((part) => /^(?:[a-z]{0,20}|[a-z\d]{1,4})$/i.test(part))
  );
}
