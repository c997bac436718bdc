import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capital, cleanText, cutText } from '../../src/domain/plain-text.ts';
import { anyText, hostileNames } from '../support/hostile-text.ts';

describe('cleaning text from outside', () => {
  it.each([
    ['a right-to-left override is removed', 'OTP \u202egnp', 'OTP gnp'],
    ['zero-width characters are removed', 'O\u200bT\u2060P\ufeff', 'OTP'],
    ['NUL and escape sequences lose their control characters', 'O\u0000T\u001b[31mP', 'OT[31mP'],
    ['line breaks become one space', 'one\r\n\r\ntwo', 'one two'],
    ['a lone surrogate is replaced', 'a\ud800b', 'a\ufffdb'],
    ['emoji with joiners stay whole', '👩‍👩‍👧', '👩‍👩‍👧'],
    ['markup is no business of it', '<b>&*', '<b>&*'],
  ])('%s', (_, text, clean) => {
    expect(cleanText(text, 100)).toBe(clean);
  });

  it('cuts 5,000 characters to the limit with an ellipsis', () => {
    expect(cleanText('x'.repeat(5000), 80)).toBe(`${'x'.repeat(79)}…`);
  });

  it('never splits a character that takes two code units', () => {
    expect(cutText('🔥'.repeat(10), 4)).toBe('🔥🔥🔥…');
  });

  it('gives one well-formed line within the limit, no matter what goes in', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 100 }), (text, limit) => {
        const clean = cleanText(text, limit);
        expect(clean.isWellFormed()).toBe(true);
        expect(Array.from(clean).length).toBeLessThanOrEqual(limit);
        expect(clean).not.toMatch(/[\p{Cc}\u200b\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/u);
      }),
    );
  });

  it.each(Object.entries(hostileNames))('cleaning twice changes nothing more: %s', (_, name) => {
    expect(cleanText(cleanText(name, 80), 80)).toBe(cleanText(name, 80));
  });
});

it.each([
  ['saldo de SMS', 'Saldo de SMS'],
  ['été', 'Été'],
  ['SMS balance', 'SMS balance'],
  ['eSIM balance', 'eSIM balance'],
  ['vCPU hours', 'vCPU hours'],
  ['', ''],
])('a line begins with a capital where its first word has none of its own: %s', (text, expected) => {
  expect(capital(text)).toBe(expected);
});
