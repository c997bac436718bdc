import { selfAlertRules, selfAlertTypes, severalSelfAlerts } from '../../rules/registry.ts';
import { builtInIds } from '../../rules/rules-for-account.ts';
import { idPattern } from '../../schema/texts.ts';
import { didYouMean, listWords, quoteKey } from '../../wording/lists.ts';
import { readEntries } from '../build-settings.ts';
import { entryPositions, type Position } from '../draft.ts';
import { listSecretKeys } from '../json-schema.ts';

/** Names that routes, reports, rules and silences use must exist. */
export function checkReferences(file: Position): void {
  const secrets = secretsLater(file);
  const channels = namedOf('channel has this name', file.at('channels').keys());
  const accounts = knownIds(file.at('accounts'), 'account', secrets);
  const rules = knownAlertTypes(file, secrets);
  const check = (position: Position, known: Known): void => {
    for (const each of position.text === null ? position.items() : [position])
      checkName(each, known, secrets);
  };
  const [routes, silences] = [file.at('routes').items(), file.at('silences').items()];
  for (const route of routes) {
    check(route.at('channels'), channels);
    check(route.at('escalate', 'channels'), channels);
  }
  for (const report of file.at('reports').items()) check(report.at('channels'), channels);
  const entries = entryPositions(file).map(({ name }) => name);
  const providers = namedOf('provider entry has this name', entries);
  for (const rule of file.at('rules').items())
    for (const match of matchesOf(rule)) {
      check(match.at('account'), accounts);
      check(match.at('provider'), providers);
    }
  for (const match of [...routes, ...silences].flatMap(matchesOf)) {
    check(match.at('account'), { ...accounts, others: selfAccounts });
    check(match.at('provider'), providers);
    check(match.at('rule'), rules);
  }
}

function matchesOf(item: Position): readonly Position[] {
  return [item.at('match'), item.at('match', 'not')];
}

interface Known {
  readonly what: string;
  /** Names that may be shown, because they stand in the file as they are. Computed when a name is wrong. */
  readonly shown: () => readonly string[];
  readonly names: ReadonlySet<string>;
  /** False if a name could not be read: then no name can be called unknown. */
  readonly complete: boolean;
  readonly others?: RegExp;
}

/** The accounts of alerts about lowwater itself, and about a provider as a whole. */
const selfAccounts = /^@lowwater$|^@provider:./;

function namedOf(what: string, names: readonly string[]): Known {
  return { what, shown: () => names, names: new Set(names), complete: true };
}

const idRegExp = new RegExp(idPattern);

function knownIds(list: Position, what: string, secrets: Secrets): Known {
  const ids = list.items().map((item) => item.at('id'));
  const texts = ids.map(({ text }) => text);
  // A text that has not the form of an id may be anything that was pasted there.
  const isShown = (text: string) => idRegExp.test(text) && !secrets().has(text);
  const shown = () =>
    ids.flatMap(({ text, isFilled }) => (text !== null && !isFilled && isShown(text) ? text : []));
  const names = new Set(texts.filter((text) => text !== null));
  return { what: `${what} has this id`, shown, names, complete: !texts.includes(null) };
}

/** Every text that is a secret somewhere in the file: pasted over an id by mistake, it must not be shown either. */
type Secrets = () => ReadonlySet<string>;

/** Values at a secret key or anywhere below one, such as the headers of a webhook. Collected when the first name is wrong. */
function secretsLater(file: Position): Secrets {
  let found: Set<string> | null = null;
  return () => {
    if (found !== null) return found;
    const keys = listSecretKeys();
    const secret = file.leaves().filter(({ path }) => path.some((step) => keys.has(String(step))));
    found = new Set(secret.flatMap(({ text }) => text ?? []));
    return found;
  };
}

function knownAlertTypes(file: Position, secrets: Secrets): Known {
  const configured = knownIds(file.at('rules'), 'rule', secrets);
  const balances = readEntries(file).flatMap(({ entry }) => entry?.balances ?? []);
  const alerted = balances.filter(({ alertsBelowZero }) => alertsBelowZero);
  const builtIn = builtInIds([...configured.names], alerted);
  const own = selfAlertRules(file.at('channels').keys());
  return {
    ...configured,
    shown: () => [...configured.shown(), ...builtIn, ...selfAlertTypes],
    names: new Set([...configured.names, ...builtIn, ...own]),
    others: severalSelfAlerts,
  };
}

function checkName(position: Position, known: Known, secrets: Secrets): void {
  const name = position.text;
  if (name === null || !known.complete || known.names.has(name) || known.others?.test(name)) return;
  const isName = isHarmless(name) && !secrets().has(name) && !position.isFilled;
  const wrong = `no ${known.what}${isName ? ` (${quoteKey(name)})` : ''}`;
  const shown = known.shown();
  const meant = position.isFilled ? null : didYouMean(name, shown);
  const few = shown.slice(0, 10);
  const more = shown.length > few.length ? ` and ${shown.length - few.length} more` : '';
  const all = few.length === 0 ? '' : `; there is ${listWords(few, more === '' ? 'and' : 'or')}${more}`;
  position.report(meant === null ? `${wrong}${all}` : `${wrong}; ${meant}`);
}

/** Short plain words and numbers are names; a key or a token that was pasted in the wrong place is longer, with digits. */
function isHarmless(name: string): boolean {
  return (
    name.length <= 20 && name.split(/[-_.:@]/).every((part) => /^(?:[a-z]{0,20}|[a-z\d]{1,4})$/i.test(part))
  );
}
