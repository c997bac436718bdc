import type { ItemAccount } from '../domain/message.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import { instant, listFacts } from '../domain/quantity.ts';
import { hourMs } from '../domain/time.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayAmount, type WordingFrame } from '../wording/quantity-wording.ts';
import { outcomeFact, unknown, verdict, why } from './evaluation.ts';
import { stalenessFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';

const says = phrases('authFailed', {
  subject: 'key refused',
  firing: 'the provider refuses the key',
  resolved: 'the provider accepts the key again',
  recovery: 'Resolved: the provider accepted the key again.',
  causes:
    'What is refused may be the key itself, its rights, the address of this host, or an account that is suspended: go by what the provider says.',
  ranOut:
    'The balance was last read at {balance}: an account that has run out is often suspended, and then its key is refused. Look there first; else at the key itself, its rights, and the addresses it may be used from.',
  inFile:
    '{replace} then update "{key}" of this account in the configuration: lowwater takes the changed file by itself. Until then nobody watches this balance.',
  inKeyFile:
    '{replace} then update the file {path}: lowwater takes the changed file by itself. Until then nobody watches this balance.',
  // A running process does not see its environment change.
  inEnvironment:
    '{replace} then update the environment variable {variable} and restart lowwater: a process that runs does not see it change. Until then nobody watches this balance.',
});

const told = sentences('authFailed', {
  describes: 'the provider refuses the key ({severity})',
  tellsNothing: 'the last poll ended as {outcome}, which tells nothing about the key',
  always: 'It has no threshold: it fires whenever the provider refuses the key.',
});

const keys = { severity: severityKey.default('critical') };

export const authFailed: RuleKind<PlainRule<'auth-failed'>, InputOf<typeof keys>> = {
  type: 'auth-failed',
  summary: 'A key that the provider does not accept.',
  keys,
  needsReading: false,
  builtInId: 'auth-failed',
  staleness: 'cause',
  // After a refusal the account waits for at least half a minute, whatever its poll interval.
  minFlapWindowMs: hourMs,
  describe: ({ severity }) => told.describes({ severity }),
  /** Breached by `auth_failed`, at once; resolved by `ok`. Other outcomes say nothing about the key. */
  evaluate(rule, { outcome }) {
    if (outcome === null) return unknown(why.notPolled());
    if (outcome === 'auth_failed') return verdict(rule.severity, outcomeFact(outcome));
    if (outcome === 'ok') return verdict(null, outcomeFact(outcome));
    return unknown(told.tellsNothing({ outcome }));
  },
  isSurelyOk: (_rule, { outcome }) => outcome !== 'auth_failed',
  factsBehind: (_rule, facts) =>
    listFacts({
      'last outcome': outcomeFact(facts.outcome),
      [facts.reading === null ? 'watched since' : 'last read at']: instant(facts.readSince),
    }),
  wouldNotFire: told.always,
  subject: says.subject,
  firing: (_item, frame) => say(says.firing, frame),
  resolved: (_item, frame) => say(says.resolved, frame),
  recovery: () => says.recovery,
  figures: stalenessFigures,
  advice: ({ account }, frame) => [sayCauses(account, frame), sayReplacement(account, frame)],
};

function sayCauses(account: ItemAccount | null, frame: WordingFrame): string {
  const { reading = null, balances = [], history = [] } = account ?? {};
  const leading = balances[0]?.id ?? '';
  const last = reading === null ? undefined : ownOf(reading.balances, leading);
  const most = Math.max(0, ...history.map((each) => ownOf(each.balances, leading) ?? 0));
  if (reading === null || last === undefined || last > most * lowShare) return say(says.causes, frame);
  return say(says.ranOut, { balance: sayAmount(last, { ...frame, currency: reading.currency }) }, frame);
}

/** A share of the most in seven days: with no more than this left, messages stop. */
const lowShare = 0.02;

function sayReplacement(account: ItemAccount | null, frame: WordingFrame): string {
  const replace = account?.words.replaceKey ?? 'Replace the key,';
  const from = account?.keyFrom ?? null;
  if (from === null)
    return say(says.inFile, { replace, key: account?.words.keyName ?? 'credentials' }, frame);
  return from.kind === 'file'
    ? say(says.inKeyFile, { replace, path: cleanText(from.path, 200) }, frame)
    : say(says.inEnvironment, { replace, variable: from.name }, frame);
}
