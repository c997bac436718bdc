import { describe, expect, test } from 'vitest';
import { maxPatternInput, parsePattern } from '../../../src/providers/http-json/pattern.ts';
import { processorMs } from '../../support/processor-time.ts';

describe('a pattern', () => {
  test.each([
    ['a code before the amount', '^[A-Z]{3} (-?[\\d.]+)$', 'KES 640.25', '640.25'],
    ['a part of a longer text', 'balance: ([\\d.]+)', 'your balance: 7.5 EUR', '7.5'],
    ['a group without a name next to the one that counts', '(?:USD|EUR) (\\d+)', 'EUR 12', '12'],
    ['brackets in a class', '^[(]([\\d]+)[)]$', '(5)', '5'],
    ['escaped marks', '^\\(\\+([0-9]+)\\*\\)$', '(+5*)', '5'],
  ])('%s', (_name, pattern, text, part) => {
    const parsed = parsePattern(pattern);
    expect(parsed instanceof RegExp && parsed.exec(text)?.[1]).toBe(part);
  });

  test.each([
    ['no group', '^\\d+$', 'exactly one group in parentheses; it has 0'],
    ['two groups', '(\\d+)\\.(\\d+)', 'it has 2'],
    ['no regular expression', '([a-z', 'not a valid regular expression'],
    ['a repeated group', '^((?:a+)+)$', 'must not repeat a group'],
    ['a counted group', '^((?:a|a){9})$', 'must not repeat a group'],
    ['a backreference', '(a)\\1', 'backreferences or lookarounds'],
    ['a named backreference', '(?<x>a)\\k<x>', 'backreferences or lookarounds'],
    ['a lookahead', '(a)(?=b)', 'backreferences or lookarounds'],
    ['a lookbehind', '(?<!b)(a)', 'backreferences or lookarounds'],
    ['five repetitions', '(a*a*a*a*a*)b', 'more than four'],
    ['endless length', `(${'a'.repeat(300)})`, 'at most 200 characters'],
  ])('is refused with %s', (_name, pattern, reason) => {
    const parsed = parsePattern(pattern);
    expect(parsed instanceof RegExp ? 'allowed' : parsed.wrong).toContain(reason);
  });

  test('at its worst takes no time to speak of', () => {
    const parsed = parsePattern('^(a*a*a*a*)b$');
    const startedAt = processorMs();
    expect(parsed instanceof RegExp && parsed.test('a'.repeat(maxPatternInput))).toBe(false);
    expect(processorMs() - startedAt).toBeLessThan(1000);
  });
});
