import { expect, test } from 'vitest';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { english } from '../../src/wording/language.ts';
import { readTypedAmount } from '../../src/wording/typed-amount.ts';

const readers = { en: english, es: await loadLanguage('es'), 'zh-CN': await loadLanguage('zh-CN') };

test.each([
  ['en', '1,400.50', 1_400_500_000],
  ['en', '0.125', 125_000],
  ['en', '0,125', null],
  ['en', '1.400', null],
  ['en', '12,50', null],
  ['zh-CN', '1,400', 1_400_000_000],
  ['zh-CN', '１，４００．５０', 1_400_500_000],
  ['zh-CN', '10⁶', null],
  ['zh-CN', '①', null],
  ['es', '1.400', 1_400_000_000],
  ['es', '1.400,50', 1_400_500_000],
  ['es', '1400,5', 1_400_500_000],
  ['es', '1400.5', 1_400_500_000],
  ['es', '0.125', 125_000],
  ['es', '1,400', null],
  ['es', '1,400.50', null],
] as const)('in %s %s is %s millionths', (language, text, micros) => {
  expect(readTypedAmount(text, readers[language])).toBe(micros);
});
