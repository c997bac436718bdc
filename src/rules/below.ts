import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { BelowRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { breachedStep, firstThreshold, ladderSteps } from './ladder.ts';
import { readingFacts, unusable, usableReading } from './snapshot.ts';
import { breached, money, moneyFact, ok, unknown } from './verdict.ts';

/**
 * `below`: breached when balance < threshold, compared exactly in millionths; resolved when balance ≥
 * threshold + hysteresis. With a ladder the worst breached step is the severity.
 */
export function evaluateBelow(rule: BelowRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const balance = reading[rule.balance];
  const severity = breachedStep({
    ladder: rule.thresholds,
    value: balance,
    firing,
    resolvesAt: (threshold) => resolvesAt(rule, threshold),
  });
  const threshold = severity === null ? firstThreshold(rule.thresholds) : (rule.thresholds[severity] ?? null);
  const numbers = { value: money(balance), threshold: threshold === null ? null : money(threshold) };
  return severity === null ? ok(numbers) : breached(severity, numbers);
}

/** The balance at which a breached threshold is left: a share counts of the threshold's magnitude. */
export function resolvesAt(rule: BelowRule, threshold: Micros): Micros {
  const { hysteresis } = rule;
  if (hysteresis.kind === 'amount') return threshold + hysteresis.micros;
  return threshold + Math.round(Math.abs(threshold) * hysteresis.share);
}

export function factsOfBelow(rule: BelowRule, facts: AccountFacts): readonly Fact[] {
  const steps = ladderSteps(rule.thresholds).flatMap(({ severity, threshold }) => [
    moneyFact(`${severity} below`, threshold),
    moneyFact(`${severity} resolves at`, resolvesAt(rule, threshold)),
  ]);
  return [...readingFacts(facts, rule.balance), ...steps];
}
