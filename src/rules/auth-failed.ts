import type { Fact } from '../domain/quantity.ts';
import type { AuthFailedRule } from '../domain/rule.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { breached, instantFact, ok, text, textFact, unknown } from './verdict.ts';

/**
 * `auth-failed`: breached by the outcome `auth_failed`, at once; resolved by `ok`. Any other
 * outcome tells nothing about the key.
 */
export function evaluateAuthFailed(rule: AuthFailedRule, facts: AccountFacts): Evaluation {
  const { outcome } = facts;
  if (outcome === null) return unknown('not polled yet');
  if (outcome === 'auth_failed') return breached(rule.severity, { value: text(outcome), threshold: null });
  if (outcome === 'ok') return ok({ value: text(outcome), threshold: null });
  return unknown(`the last poll ended as ${outcome}, which tells nothing about the key`);
}

export function factsOfAuthFailed(facts: AccountFacts): readonly Fact[] {
  return [
    textFact('last outcome', facts.outcome ?? 'not polled yet'),
    instantFact(facts.reading === null ? 'watched since' : 'last read at', facts.readSince),
  ];
}
