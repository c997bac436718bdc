import type { Matcher } from '../domain/rule.ts';

/** `account otp or marketing; label team identity`; `everything` without keys. */
export function describeMatcher(matcher: Matcher): string {
  const parts = (['account', 'rule', 'severity'] as const).flatMap((key) => {
    const values = matcher[key];
    return values === undefined ? [] : [`${key} ${values.join(' or ')}`];
  });
  for (const [label, values] of Object.entries(matcher.labels ?? {})) {
    parts.push(`label ${label} ${values.join(' or ')}`);
  }
  return parts.length === 0 ? 'everything' : parts.join(', ');
}
