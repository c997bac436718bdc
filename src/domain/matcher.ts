import type { Matcher } from './rule.ts';
import type { Severity } from './severity.ts';

export const labelNamePattern = /^(?!__proto__$)[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

/** What a matcher is compared with: an account, or for routes and silences one of its alerts. */
export interface MatchSubject {
  readonly account: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The names of its rule. */
  readonly rules?: readonly string[];
  readonly severity?: Severity;
}

/**
 * True when every key of the matcher holds. A matcher without keys matches everything; a key that the subject
 * does not have never matches.
 */
export function matches(matcher: Matcher, subject: MatchSubject): boolean {
  return (
    isListed(matcher.account, subject.account) &&
    areListed(matcher.rule, subject.rules ?? []) &&
    isListed(matcher.severity, subject.severity) &&
    Object.entries(matcher.labels ?? {}).every(([label, values]) =>
      isListed(values, Object.hasOwn(subject.labels, label) ? subject.labels[label] : undefined),
    )
  );
}

export function matchesEverything({ account, rule, severity, labels }: Matcher): boolean {
  const named = account !== undefined || rule !== undefined || severity !== undefined;
  return !named && Object.keys(labels ?? {}).length === 0;
}

function areListed(values: readonly string[] | undefined, names: readonly string[]): boolean {
  return values === undefined || names.some((name) => values.includes(name));
}

function isListed(values: readonly string[] | undefined, value: string | undefined): boolean {
  return values === undefined || (value !== undefined && values.includes(value));
}

/**
 * A matcher in words: `account otp or marketing, severity critical, team identity`; `every alert` without
 * keys.
 */
export function wordMatcher({ account, rule, severity, labels }: Matcher): string {
  // A label may have the name of a key.
  const keys = [...Object.entries({ account, rule, severity }), ...Object.entries(labels ?? {})];
  const parts = keys.flatMap(([name, values]) =>
    values === undefined ? [] : [`${name} ${values.join(' or ')}`],
  );
  return parts.length === 0 ? 'every alert' : parts.join(', ');
}
