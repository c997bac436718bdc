import { expect, test } from 'vitest';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { english } from '../../src/wording/language.ts';
import {
  balanceLabel,
  balanceName,
  sayFact,
  sayPayable,
  sayRise,
  sayRunwayClause,
} from '../../src/wording/quantity-wording.ts';
import { buildRunway, dayMs, viewsNow } from '../support/built-views.ts';

const reader = { language: english, timezone: 'UTC', now: viewsNow };

test.each([
  ['\u202eWallet\u2066 A', 'Wallet A'],
  ['\u200b\u2060', 'main'],
  ['钱包', '钱包'],
])('the label %j of a balance turns no text round and hides nothing', (label, shown) => {
  expect(balanceLabel('main', [{ id: 'main', label, alertsBelowZero: false }])).toBe(shown);
});

test.each([
  [2_999_665_707, 'about 3,000.00 CNY'],
  [500_000_000, '500.00 CNY'],
  [1_397_900_000, 'about 1,400.00 CNY'],
  [10_000, '0.01 CNY'],
])('a rise of %i millionths is reported as %s', (micros, words) => {
  expect(sayRise(micros, { language: english, currency: 'CNY' })).toBe(words);
});

test.each([
  [4_123_400_000, '4,200.00 CNY'],
  [99_000_000, '99.00 CNY'],
  [101_000_000, '110.00 CNY'],
  [28_753_720_000, '29,000.00 CNY'],
  [120_001, '0.13 CNY'],
])('of %i millionths a person would pay %s', (micros, words) => {
  expect(sayPayable(micros, { language: english, currency: 'CNY' })).toBe(words);
});

test.each([
  ['SMS', 'SMS balance'],
  ['Balance', 'Balance'],
  ['Main balance', 'Main balance'],
  ['Imbalance', 'Imbalance balance'],
])('a balance with the label %s is called %s', (label, name) => {
  expect(balanceName(label)).toBe(name);
});

test('a forecast that nobody can date is said as one in a sentence too', () => {
  const forecast = {
    emptyAt: viewsNow + 2 * dayMs,
    earliest: viewsNow + dayMs / 48,
    latest: viewsNow + 42 * dayMs,
    basis: 'hour-of-week',
  } as const;
  const runway = buildRunway({ forecast, emptyAt: forecast.emptyAt, runwayMs: 2 * dayMs });
  expect(sayRunwayClause(runway, reader)).toBe(
    'lasts for an uncertain time, empty perhaps within hours, at the latest in 6 weeks',
  );
});

test.each([
  ['zh-CN', '严重', '2.5'],
  ['es', 'crítica', '2,5'],
])(
  'in %s the name of a channel stays as people wrote it, and a factor is a figure',
  async (id, translated, factor) => {
    const frame = { ...reader, language: await loadLanguage(id), currency: null };
    const say = (name: string, text: string) => sayFact({ name, value: { unit: 'text', text } }, frame);
    expect(say('severity', 'critical').toLowerCase()).toBe(translated);
    expect(say('channel', 'critical')).toBe('critical');
    expect(say('times the usual', '2.5')).toBe(factor);
  },
);
