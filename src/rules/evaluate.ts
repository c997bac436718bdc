import type { Fact } from '../domain/quantity.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { evaluateAuthFailed, factsOfAuthFailed } from './auth-failed.ts';
import { evaluateBelow, factsOfBelow } from './below.ts';
import { evaluateCurrency, factsOfCurrency } from './currency.ts';
import { evaluateDrop, factsOfDrop } from './drop.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { evaluateIdle, factsOfIdle } from './idle.ts';
import { evaluateNegative, factsOfNegative } from './negative.ts';
import { evaluateRunway, factsOfRunway } from './runway.ts';
import { evaluateStale, factsOfStale } from './stale.ts';
import { evaluateTopUp, factsOfTopUp } from './top-up.ts';

/**
 * What one rule says of one account. `firing` is the severity with which its alert fires now, null when it
 * does not: only what fires has hysteresis.
 *
 * Rules about money judge the newest reading, whenever they are asked: their windows end at it, so that the
 * same reading gets the same verdict later. The caller keeps an alert's state while the account cannot be
 * read, and judges `top-up` once for each new reading. The evaluation's `facts` are empty (see
 * `explainRule`).
 */
export function evaluate(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  switch (rule.type) {
    case 'below':
      return evaluateBelow(rule, facts, firing);
    case 'negative':
      return evaluateNegative(rule, facts, firing);
    case 'runway':
      return evaluateRunway(rule, facts, firing);
    case 'drop':
      return evaluateDrop(rule, facts);
    case 'idle':
      return evaluateIdle(rule, facts);
    case 'top-up':
      return evaluateTopUp(rule, facts);
    case 'currency':
      return evaluateCurrency(rule, facts);
    case 'stale':
      return evaluateStale(rule, facts, firing);
    case 'auth-failed':
      return evaluateAuthFailed(rule, facts);
  }
}

/** The same verdict with every number behind it, for messages, `explain` and the page. */
export function explainRule(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return { ...evaluate(rule, facts, firing), facts: factsBehind(rule, facts) };
}

/** Every number that the rule looks at, named, in the order in which people read them. */
export function factsBehind(rule: Rule, facts: AccountFacts): readonly Fact[] {
  switch (rule.type) {
    case 'below':
      return factsOfBelow(rule, facts);
    case 'negative':
      return factsOfNegative(rule, facts);
    case 'runway':
      return factsOfRunway(rule, facts);
    case 'drop':
      return factsOfDrop(rule, facts);
    case 'idle':
      return factsOfIdle(rule, facts);
    case 'top-up':
      return factsOfTopUp(rule, facts);
    case 'currency':
      return factsOfCurrency(facts);
    case 'stale':
      return factsOfStale(rule, facts);
    case 'auth-failed':
      return factsOfAuthFailed(facts);
  }
}
