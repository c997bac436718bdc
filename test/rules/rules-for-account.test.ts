import { expect, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import type { WatchableAccount } from '../../src/rules/kind.ts';
import type { NegativeRule } from '../../src/rules/negative.ts';
import { rulesForAccount } from '../../src/rules/rules-for-account.ts';
import type { StaleRule } from '../../src/rules/stale.ts';
import { belowRule, runwayRule, units } from '../support/account-facts.ts';

const base = { severity: 'warning', forMs: 0, recoverForMs: 0, match: {}, builtIn: false } as const;
const builtInStale: StaleRule = {
  ...base,
  id: 'stale',
  type: 'stale',
  balance: null,
  afterMs: null,
  builtIn: true,
};
const builtInNegative: NegativeRule = {
  ...base,
  id: 'sms-negative',
  type: 'negative',
  balance: 'sms',
  hysteresisMicros: 0,
  builtIn: true,
};
const otp = { id: 'otp', labels: { team: 'identity' }, currency: 'CNY', balances: accountServiceBalances };
const marketing = { id: 'marketing', labels: {}, currency: null, balances: accountServiceBalances };

function idsFor(rules: readonly Rule[], account: WatchableAccount): string[] {
  return rulesForAccount({ rules }, account).map((rule) => rule.id);
}

test('a rule without match watches every account', () => {
  const rules = [{ ...builtInStale, id: 'late', builtIn: false }];
  expect(idsFor(rules, otp)).toEqual(['late']);
  expect(idsFor(rules, marketing)).toEqual(['late']);
});

test('a rule watches the accounts that its match selects by id or label', () => {
  const rules = [
    { ...builtInStale, id: 'by-id', builtIn: false, match: { account: ['marketing'] } },
    { ...builtInStale, id: 'by-label', builtIn: false, match: { labels: { team: ['identity'] } } },
  ];
  expect(idsFor(rules, otp)).toEqual(['by-label']);
  expect(idsFor(rules, marketing)).toEqual(['by-id']);
});

const low = belowRule({ id: 'low', balance: 'sms' });

test.each([
  ['replaces the step of that severity', low, { info: units(900) }, { ...low.thresholds, info: units(900) }],
  [
    'adds a step that the rule does not have',
    { ...low, thresholds: { info: units(500) } },
    { critical: units(20) },
    { info: units(500), critical: units(20) },
  ],
])('a threshold of an account %s', (_, rule, own, thresholds) => {
  const [watching] = rulesForAccount({ rules: [rule] }, { ...otp, thresholds: { sms: own } });
  expect(watching).toMatchObject({ id: 'low', balance: 'sms', thresholds, severity: 'critical' });
});

test('thresholds of an account leave other accounts, other balances and other kinds of rules alone', () => {
  const forecast = runwayRule({ id: 'runway', balance: 'sms', balanceLabel: 'SMS' });
  const voip = { ...low, id: 'voip', balance: 'voip', balanceLabel: 'VoIP' };
  const rules = [{ ...low, balanceLabel: 'SMS' }, voip, forecast];
  const own = { ...otp, thresholds: { sms: { warning: units(300) } } };
  expect(rulesForAccount({ rules }, own).slice(1)).toEqual([voip, forecast]);
  expect(rulesForAccount({ rules }, marketing)).toEqual(rules);
});

test('accounts with the same thresholds share one rule', () => {
  const watching = ['a', 'b'].map((id) =>
    rulesForAccount({ rules: [low] }, { ...otp, id, thresholds: { sms: { warning: units(300) } } }),
  );
  expect(watching[0]?.[0]).toBe(watching[1]?.[0]);
});

test.each([
  ['the currency of the account', 'RMB', undefined, { warning: units(1500) }],
  [
    'a currency, and its own over them',
    'cny',
    { critical: units(9) },
    { warning: units(1500), critical: units(9) },
  ],
  ['no currency that is listed: the usual ones', 'USD', undefined, low.thresholds],
  ['no currency at all: the usual ones', null, undefined, low.thresholds],
])('of thresholds by currency an account gets those of %s', (_, currency, own, thresholds) => {
  const rule = { ...low, thresholdsByCurrency: { CNY: { warning: units(1500) } } };
  const account = { ...otp, currency, ...(own && { thresholds: { sms: own } }) };
  expect(rulesForAccount({ rules: [rule] }, account)[0]?.thresholds).toEqual(thresholds);
});

test('a rule with thresholds by currency alone does not watch an account in another currency', () => {
  const rule = { ...low, thresholds: {}, thresholdsByCurrency: { CNY: { warning: units(1500) } } };
  expect(idsFor([rule], { ...otp, currency: 'EUR' })).toEqual([]);
  expect(idsFor([rule], { ...otp, currency: 'EUR', thresholds: { sms: { warning: 1 } } })).toEqual(['low']);
});

test('a configured rule replaces the built-in one only for the accounts that it matches', () => {
  const rules = [{ ...builtInStale, id: 'late', builtIn: false, match: { account: ['otp'] } }, builtInStale];
  expect(idsFor(rules, otp)).toEqual(['late']);
  expect(idsFor(rules, marketing)).toEqual(['stale']);
});

test('a negative rule on the other balance does not replace the built-in one', () => {
  const voip: NegativeRule = { ...builtInNegative, id: 'voip-negative', balance: 'voip', builtIn: false };
  expect(idsFor([voip, builtInNegative], otp)).toEqual(['voip-negative', 'sms-negative']);
  expect(idsFor([{ ...voip, balance: 'sms' }, builtInNegative], otp)).toEqual(['voip-negative']);
});
