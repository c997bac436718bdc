import { hourMs } from '../domain/duration.ts';
import type { MessageItem } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import { instant, listFacts, text } from '../domain/quantity.ts';
import { unknown, verdict } from './evaluation.ts';
import { stalenessFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';

const keys = { severity: severityKey.default('critical') };

export const authFailed: RuleKind<PlainRule<'auth-failed'>, InputOf<typeof keys>> = {
  type: 'auth-failed',
  summary: 'A key that the provider does not accept.',
  keys,
  needsReading: false,
  builtInId: 'auth-failed',
  staleness: 'cause',
  // After a refusal the account waits for half a minute at least, at any poll interval.
  minFlapWindowMs: hourMs,
  describe: (rule) => `the provider refuses the key (${rule.severity})`,
  /** Breached by `auth_failed`, at once; resolved by `ok`. Other outcomes say nothing about the key. */
  evaluate(rule, { outcome }) {
    if (outcome === null) return unknown('not polled yet');
    if (outcome === 'auth_failed') return verdict(rule.severity, text(outcome));
    if (outcome === 'ok') return verdict(null, text(outcome));
    return unknown(`the last poll ended as ${outcome}, which tells nothing about the key`);
  },
  isSurelyOk: (_rule, { outcome }) => outcome !== 'auth_failed',
  factsBehind: (_rule, facts) =>
    listFacts({
      'last outcome': text(facts.outcome ?? 'not polled yet'),
      [facts.reading === null ? 'watched since' : 'last read at']: instant(facts.readSince),
    }),
  wouldNotFire: () => 'It has no threshold: it fires whenever the provider refuses the key.',
  subject: () => 'key refused',
  firing: () => 'the provider refuses the key',
  resolved: () => 'the provider accepts the key again',
  recovery: 'Resolved: the provider accepted the key again.',
  figures: stalenessFigures,
  advice: ({ account }) => [
    `${account?.words.replaceKey ?? 'Replace the key,'} and ${placeOfKey(account)} Until then nobody watches this balance.`,
  ],
};

/** The second half of a sentence. A running process does not see its environment change. */
function placeOfKey(account: MessageItem['account']): string {
  const from = account?.keyFrom ?? null;
  if (from === null)
    return `put it into the configuration as "${account?.words.keyName ?? 'credentials'}" of this account: lowwater takes the changed file by itself.`;
  return from.kind === 'file'
    ? `write it to the file ${cleanText(from.path, 200)}: lowwater takes it from there by itself.`
    : `give it to lowwater as the environment variable ${from.name}, with a restart: a process that runs does not see it.`;
}
