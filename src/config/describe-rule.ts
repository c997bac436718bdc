import { formatDuration } from '../domain/duration.ts';
import { formatMicros } from '../domain/money.ts';
import type { AmountOrShare, Ladder, Matcher, Rule } from '../domain/rule.ts';
import { severities } from '../domain/severity.ts';

/**
 * What a rule watches for, in a line: `SMS balance below 500 (info), 200 (warning), 50 (critical); resolves
 * 10% above`.
 */
export function describeRule(rule: Rule): string {
  const parts = [describeCondition(rule)];
  if (rule.forMs > 0) parts.push(`for ${formatDuration(rule.forMs)}`);
  if (rule.recoverForMs > 0) parts.push(`recovered for ${formatDuration(rule.recoverForMs)}`);
  return parts.join('; ');
}

function describeCondition(rule: Rule): string {
  switch (rule.type) {
    case 'below':
      return `${nameBalance(rule)} below ${describeLadder(rule.thresholds, formatMicros)}${describeHysteresis(rule.hysteresis)}`;
    case 'negative':
      return `${nameBalance(rule)} below 0${describeHysteresis({ kind: 'amount', micros: rule.hysteresisMicros })}`;
    case 'runway':
      return `${nameBalance(rule)} lasts less than ${describeLadder(rule.thresholds, formatDuration)} until ${formatMicros(rule.floorMicros)}, at the spending of the last ${formatDuration(rule.lookbackMs)}; needs ${formatDuration(rule.minimumHistoryMs)} of history`;
    case 'drop':
      return `more than ${describeAmount(rule.by)} of the ${nameBalance(rule)} spent within ${formatDuration(rule.windowMs)}`;
    case 'idle':
      return `nothing of the ${nameBalance(rule)} spent for ${formatDuration(rule.windowMs)}`;
    case 'top-up':
      return `${nameBalance(rule)} rose by ${formatMicros(rule.atLeastMicros)} or more`;
    case 'currency':
      return "currency other than the account's";
    case 'stale':
      return rule.afterMs === null
        ? 'not read for 3 poll intervals (at least 2m)'
        : `not read for ${formatDuration(rule.afterMs)}`;
    case 'auth-failed':
      return 'key refused by the provider';
  }
}

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

function nameBalance({ balance }: { readonly balance: 'sms' | 'voip' }): string {
  return balance === 'sms' ? 'SMS balance' : 'VoIP balance';
}

function describeLadder(ladder: Ladder<number>, format: (value: number) => string): string {
  return severities
    .flatMap((severity) => {
      const value = ladder[severity];
      return value === undefined ? [] : [`${format(value)} (${severity})`];
    })
    .join(', ');
}

function describeHysteresis(hysteresis: AmountOrShare): string {
  const isNone = hysteresis.kind === 'amount' && hysteresis.micros === 0;
  return isNone ? '' : `, resolves ${describeAmount(hysteresis)} above`;
}

function describeAmount(amount: AmountOrShare): string {
  return amount.kind === 'amount'
    ? formatMicros(amount.micros)
    : `${Number((amount.share * 100).toPrecision(12))}%`;
}
