import type { Rule } from '../domain/rule.ts';
import { type InputOf, severityKey } from './common-keys.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { unreadFigures } from './figures.ts';
import type { RuleKind } from './kind.ts';
import { breached, instantFact, ok, text, textFact, unknown } from './verdict.ts';

export interface AuthFailedRule extends Rule {
  readonly type: 'auth-failed';
}

const keys = { severity: severityKey.default('critical') };

export const authFailed: RuleKind<AuthFailedRule, InputOf<typeof keys>> = {
  type: 'auth-failed',
  summary: 'A key that the provider does not accept.',
  keys,
  needsReading: false,
  builtInId: 'auth-failed',
  unread: 'explains',
  build: (common) => ({ ...common, type: 'auth-failed' }),
  describe: (rule) => `the provider refuses the key (${rule.severity})`,
  evaluate,
  factsBehind: (_rule, facts) => [
    textFact('last outcome', facts.outcome ?? 'not polled yet'),
    instantFact(facts.reading === null ? 'watched since' : 'last read at', facts.readSince),
  ],
  wouldNotFire: () => 'It has no threshold: it fires whenever the provider refuses the key.',
  matter: () => 'key refused',
  firing: () => 'the provider refuses the key',
  resolved: () => 'the provider accepts the key again',
  recovery: 'Resolved: the provider accepted the key again.',
  figures: unreadFigures,
  advice: () => [
    'Create a new access key in the provider’s dashboard (security, access keys), and put it where the configuration takes "authSecret" from. From a file it is taken by a reload (SIGHUP); from a variable of the environment only by a restart of lowwater. Until then nobody watches this balance.',
  ],
};

/** Breached by the outcome `auth_failed`, at once; resolved by `ok`. Any other outcome tells nothing about the key. */
function evaluate(rule: AuthFailedRule, { outcome }: AccountFacts): Evaluation {
  if (outcome === null) return unknown('not polled yet');
  if (outcome === 'auth_failed') return breached(rule.severity, { value: text(outcome), threshold: null });
  if (outcome === 'ok') return ok({ value: text(outcome), threshold: null });
  return unknown(`the last poll ended as ${outcome}, which tells nothing about the key`);
}
