import { currencyCode, type Micros } from './money.ts';
import { ownOf } from './own.ts';
import type { Balance } from './reading.ts';
import { type Severity, severities } from './severity.ts';

/** A key matches when the value is one of those listed. All given keys must match. */
export interface Matcher {
  readonly account?: readonly string[];
  /** Names of provider entries. */
  readonly provider?: readonly string[];
  /** Codes as `currencyCode` gives them. */
  readonly currency?: readonly string[];
  readonly rule?: readonly string[];
  readonly severity?: readonly Severity[];
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  /** Subjects that this matches are left out. */
  readonly not?: Matcher;
}

/** An amount in the balance's currency, or a share of another amount (0.1 is 10 %). */
export type AmountOrShare =
  | { readonly kind: 'amount'; readonly micros: Micros }
  | { readonly kind: 'share'; readonly share: number };

/** Only the severities that the rule uses are present. */
export type Ladder<T> = Readonly<Partial<Record<Severity, T>>>;

/** The keys that all kinds of rules have; the module of a kind types its own. */
export interface Rule {
  readonly id: string;
  readonly type: string;
  /** With a ladder: the worst severity that it can reach. */
  readonly severity: Severity;
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly match: Matcher;
  /** True for a rule that exists without being configured. */
  readonly builtIn: boolean;
  /** The rule as written in the file, placeholders replaced; absent when no file has it. */
  readonly written?: unknown;
  /** In the unit that the kind judges. */
  readonly thresholds?: Ladder<number>;
  /** Replaces `thresholds` on accounts in these currencies. */
  readonly thresholdsByCurrency?: Readonly<Record<string, Ladder<number>>>;
  /** Set on an account whose own thresholds or currency replace those that the rule has for all. */
  readonly thresholdsOf?: 'account';
  /** Null for rules about the whole account; `firstBalance` until the account is known. */
  readonly balance: Balance | null;
  /** People's name for the balance; absent while `balance` is `firstBalance`, and when no account is known. */
  readonly balanceLabel?: string;
}

/** Stands for the first balance of each account's provider kind. */
export const firstBalance: Balance = '';

export interface MoneyRule extends Rule {
  readonly balance: Balance;
}

export const labelNamePattern = /^(?!__proto__$)[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

/** Names that Prometheus keeps for itself, and the labels of `lowwater_account_info` that no account chooses. */
const reservedMetricLabel = /^(?:[0-9]|__|(?:le|quantile|account|name|currency)$)/;

/** The name of an account's label in metrics, as Prometheus allows it; several labels may have the same one. */
export function metricLabelOf(label: string): string {
  const plain = label.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  return reservedMetricLabel.test(plain) ? `label_${plain}` : plain;
}

type Labels = Readonly<Record<string, string>>;

/** Labels under names that another system allows. Of several with one new name, only the label that had it already is kept: another's value would be taken for its. */
export function renameLabels(labels: Labels, nameOf: (label: string) => string): Labels {
  const byName = Map.groupBy(Object.keys(labels), nameOf);
  const shown = [...byName].flatMap(([name, keys]) => {
    const value = ownOf(labels, keys.length === 1 ? (keys[0] ?? '') : name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(shown);
}

/** The subject of a matcher: an account, or for routes and silences one of its alerts. */
export interface MatchSubject {
  readonly account: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string | undefined;
  readonly currency?: string | null | undefined;
  readonly rules?: readonly string[];
  readonly severity?: Severity;
}

/** A matcher without keys matches everything; a key that the subject does not have never matches. */
export function matches(matcher: Matcher, subject: MatchSubject): boolean {
  return (
    isListed(matcher.account, subject.account) &&
    isListed(matcher.provider, subject.provider) &&
    isListed(matcher.currency, currencyCode(subject.currency ?? '')) &&
    areListed(matcher.rule, subject.rules ?? []) &&
    isListed(matcher.severity, subject.severity) &&
    Object.entries(matcher.labels ?? {}).every(([label, values]) =>
      isListed(values, ownOf(subject.labels, label)),
    ) &&
    (matcher.not === undefined || !matches(matcher.not, subject))
  );
}

/** The differences of the subject from a matcher, each in words; empty when it matches. */
export function wordMismatch({ labels = {}, ...keys }: Matcher, subject: MatchSubject): readonly string[] {
  const parts: readonly Matcher[] = [
    ...Object.entries(keys).map(([key, value]) => ({ [key]: value })),
    ...Object.entries(labels).map(([label, values]) => ({ labels: { [label]: values } })),
  ];
  return parts.filter((part) => !matches(part, subject)).map(wordMatcher);
}

export function accountSubject(
  account: Omit<MatchSubject, 'account' | 'rules' | 'severity'> & { readonly id: string },
): MatchSubject {
  const { id, labels, provider, currency } = account;
  return { account: id, labels, provider, currency };
}

/** Whether the matcher may match an alert of the account, of whatever rule and severity. */
export function mayMatchAlertsOf(matcher: Matcher, account: Parameters<typeof accountSubject>[0]): boolean {
  const { rule: _, severity: __, not, ...ofAccount } = matcher;
  // A `not` with rules or severities leaves out only some of the account's alerts.
  const isPartly = not === undefined || not.rule !== undefined || not.severity !== undefined;
  return matches(isPartly ? ofAccount : { ...ofAccount, not }, accountSubject(account));
}

export function matchesEverything({ labels = {}, ...keys }: Matcher): boolean {
  return Object.values({ ...keys, ...labels }).every((values) => values === undefined);
}

/** Also true for a matcher that names every severity. */
export function mutesEverything({ severity = severities, ...match }: Matcher): boolean {
  return matchesEverything(match) && severities.every((each) => severity.includes(each));
}

function areListed(values: readonly string[] | undefined, names: readonly string[]): boolean {
  return values === undefined || names.some((name) => values.includes(name));
}

function isListed(values: readonly string[] | undefined, value: string | undefined): boolean {
  return values === undefined || (value !== undefined && values.includes(value));
}

/** `account otp or marketing, severity critical, team identity`; `every alert` without keys. */
export function wordMatcher({ account, provider, currency, rule, severity, labels, not }: Matcher): string {
  // A label may have the name of a key.
  const keys = [
    ...Object.entries({ account, provider, currency, rule, severity }),
    ...Object.entries(labels ?? {}),
    ...(not === undefined ? [] : [['not', [`(${wordMatcher(not)})`]] as const]),
  ];
  const parts = keys.flatMap(([name, values]) =>
    values === undefined ? [] : [`${name} ${values.join(' or ')}`],
  );
  return parts.length === 0 ? 'every alert' : parts.join(', ');
}
