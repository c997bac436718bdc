import { expect, test } from 'vitest';
import { rulesForAccount } from '../../src/rules/rules-for-account.ts';
import { loadValid, sample } from '../config/sample.ts';

/** Ids of the built-in rules that watch each account. */
function builtInsByAccount(
  rules: readonly Record<string, unknown>[],
  currency?: string,
): Record<string, string[]> {
  const config = { ...sample(), rules };
  if (currency !== undefined) Object.assign(config.accounts[0] ?? {}, { currency });
  const { settings } = loadValid(config);
  return Object.fromEntries(
    settings.accounts.map((account) => [
      account.id,
      rulesForAccount(settings, account)
        .filter((rule) => rule.builtIn)
        .map((rule) => rule.id),
    ]),
  );
}

const every = ['sms-negative', 'late-top-up', 'stale', 'auth-failed'];

test.each<[string, Record<string, unknown>[], Record<string, string[]>]>([
  ['no rules leave all of them', [], { otp: every, marketing: every }],
  [
    'a rule of the same type replaces one',
    [{ id: 'mine', type: 'stale', after: '1h' }],
    {
      otp: ['sms-negative', 'late-top-up', 'auth-failed'],
      marketing: ['sms-negative', 'late-top-up', 'auth-failed'],
    },
  ],
  [
    'a rule for some accounts leaves the others protected',
    [{ id: 'mine', type: 'auth-failed', match: { account: 'otp' } }],
    { otp: ['sms-negative', 'late-top-up', 'stale'], marketing: every },
  ],
  [
    'a rule for some labels leaves the others protected',
    [{ id: 'mine', type: 'negative', match: { labels: { team: 'identity' } } }],
    { otp: ['late-top-up', 'stale', 'auth-failed'], marketing: every },
  ],
  [
    'a negative rule on the VoIP balance does not replace that on the SMS balance',
    [{ id: 'mine', type: 'negative', balance: 'voip' }],
    { otp: every, marketing: every },
  ],
  [
    'a configured rule that took a name gives the built-in one another',
    [{ id: 'stale', type: 'below', threshold: 1 }],
    {
      otp: ['sms-negative', 'late-top-up', 'built-in-stale', 'auth-failed'],
      marketing: ['sms-negative', 'late-top-up', 'built-in-stale', 'auth-failed'],
    },
  ],
])('%s', (_, rules, expected) => {
  expect(builtInsByAccount(rules)).toEqual(expected);
});

test('a built-in rule that no account needs is not among the settings', () => {
  const { settings } = loadValid({ ...sample(), rules: [{ id: 'mine', type: 'stale' }] });
  expect(settings.rules.map(({ id }) => id)).toEqual(['mine', 'sms-negative', 'late-top-up', 'auth-failed']);
});

test('a currency that an account names is watched, on that account alone', () => {
  expect(builtInsByAccount([], 'CNY')).toEqual({
    otp: ['sms-negative', 'late-top-up', 'currency', 'stale', 'auth-failed'],
    marketing: every,
  });
  expect(builtInsByAccount([{ id: 'mine', type: 'currency' }], 'CNY')).toEqual({
    otp: every,
    marketing: every,
  });
});
