import { expect, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import type { WatchableAccount } from '../../src/rules/kind.ts';
import type { NegativeRule } from '../../src/rules/negative.ts';
import { rulesForAccount } from '../../src/rules/rules-for-account.ts';
import type { StaleRule } from '../../src/rules/stale.ts';

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
