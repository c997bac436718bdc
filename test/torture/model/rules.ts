import { amountOf, type Reading } from '../../../src/domain/reading.ts';
import type { Matcher, Rule } from '../../../src/domain/rule.ts';
import type { AccountSettings, Settings } from '../../../src/domain/settings.ts';
import type { Severity } from '../../../src/domain/severity.ts';
import type { BelowRule } from '../../../src/rules/below.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { asAnyRule } from '../../support/any-rule.ts';

/** The model's own understanding of rules, written from the contract (3.2, 3.3) and not from the product's code. */

export const rank: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };
const worstFirst: readonly Severity[] = ['critical', 'warning', 'info'];

export interface Subject {
  readonly account: string;
  /** Any of these names it. */
  readonly rules?: readonly string[];
  readonly severity?: Severity;
  readonly labels: Readonly<Record<string, string>>;
}

export function fits(match: Matcher, subject: Subject): boolean {
  if (match.account !== undefined && !match.account.includes(subject.account)) return false;
  if (match.rule !== undefined && subject.rules?.some((rule) => match.rule?.includes(rule)) !== true)
    return false;
  if (
    match.severity !== undefined &&
    !(subject.severity !== undefined && match.severity.includes(subject.severity))
  )
    return false;
  for (const [name, values] of Object.entries(match.labels ?? {})) {
    const value = subject.labels[name];
    if (value === undefined || !values.includes(value)) return false;
  }
  return true;
}

/** A configured rule replaces the built-in rule of its kind, for the accounts that it matches. */
export function rulesOf(settings: Settings, account: AccountSettings): readonly AnyRule[] {
  const subject = { account: account.id, labels: account.labels };
  const matching = settings.rules
    .filter((rule) => fits(rule.match, subject))
    .flatMap((rule) => onAccount(rule, account).map(asAnyRule));
  const kinds = new Set(matching.filter((rule) => !rule.builtIn).map(kindOf));
  const idle = (rule: AnyRule): boolean => rule.type === 'currency' && account.currency === null;
  return matching.filter((rule) => !(rule.builtIn && (kinds.has(kindOf(rule)) || idle(rule))));
}

/** A rule that names no balance is about the account's first one. No rule is about a balance that the account lacks. */
function onAccount(rule: Rule, { balances }: AccountSettings): Rule[] {
  if (rule.balance === null) return [rule];
  const id = rule.balance === '' ? balances[0]?.id : rule.balance;
  return balances.flatMap((balance) => (balance.id === id ? [{ ...rule, balance: id }] : []));
}

function kindOf(rule: AnyRule): string {
  return `${rule.type} ${rule.balance}`;
}

export type Verdict = Severity | 'ok' | 'unknown';

/** Rules whose verdict follows from the newest reading alone: the model knows it exactly. */
export function verdictOnReading(
  rule: AnyRule,
  it: { readonly reading: Reading; readonly currency: string | null; readonly firing: Severity | null },
): Verdict {
  const { reading, currency, firing } = it;
  const foreign = currency !== null && currency !== reading.currency;
  switch (rule.type) {
    case 'below':
      return foreign ? 'unknown' : stepOf(rule, amountOf(reading, rule.balance), firing);
    case 'negative': {
      const limit = firing === null ? 0 : rule.hysteresisMicros;
      return amountOf(reading, rule.balance) < limit ? rule.severity : 'ok';
    }
    case 'currency':
      if (currency === null) return 'unknown';
      return foreign ? rule.severity : 'ok';
    default:
      return 'unknown';
  }
}

function stepOf(rule: BelowRule, balance: number, firing: Severity | null): Severity | 'ok' {
  for (const severity of worstFirst) {
    const threshold = rule.thresholds[severity];
    if (threshold === undefined) continue;
    const held = firing !== null && rank[firing] >= rank[severity];
    if (balance < threshold + (held ? marginOf(rule, threshold) : 0)) return severity;
  }
  return 'ok';
}

/** How far above its threshold a balance must rise before the firing step ends. */
function marginOf({ hysteresis }: BelowRule, threshold: number): number {
  return hysteresis.kind === 'amount'
    ? hysteresis.micros
    : Math.round(Math.abs(threshold) * hysteresis.share);
}

const exact: readonly string[] = ['below', 'negative', 'currency', 'top-up', 'stale', 'auth-failed'];

/** Whether a rule looks at a stretch of time, or is of a kind that is new here: checked against history when it fires, not predicted. */
export function isSoft({ type }: Pick<Rule, 'type'>): boolean {
  return !exact.includes(type);
}

export function needsReading(rule: AnyRule): boolean {
  return rule.type !== 'stale' && rule.type !== 'auth-failed';
}
