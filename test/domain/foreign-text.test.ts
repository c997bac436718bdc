import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { processorMs } from '../support/processor-time.ts';

const secret = 'k3y+With/Odd=chars and "quotes" & ümlaut';
const other = 'another-account-5d41402abc4b2a76';
const texts = createForeignTexts([secret, other]);

function percent(text: string): string {
  return [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
}

function everyUnit(text: string, write: (unit: number) => string): string {
  return Array.from({ length: text.length }, (_, index) => write(text.charCodeAt(index))).join('');
}

const hex4 = (unit: number): string => unit.toString(16).padStart(4, '0');

/** How a provider may write a secret into its text, by accident or not. */
const forms: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['URL-encoded', encodeURIComponent],
  ['URL-encoded in lower case', (text) => encodeURIComponent(text).replace(/%../g, (it) => it.toLowerCase())],
  ['as a form writes it', (text) => encodeURIComponent(text).replaceAll('%20', '+')],
  ['percent-encoded throughout', percent],
  ['percent-encoded twice', (text) => encodeURIComponent(percent(text))],
  ['escaped for JSON', (text) => JSON.stringify(text)],
  ['escaped for JSON twice', (text) => JSON.stringify(JSON.stringify(text))],
  ['escaped for JSON as PHP does it', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  ['escaped for PHP', (text) => text.replace(/["'\\]/g, '\\$&')],
  ['\\u-escaped', (text) => everyUnit(text, (unit) => `\\u${hex4(unit)}`)],
  ['%u-escaped', (text) => everyUnit(text, (unit) => `%u${hex4(unit)}`)],
  ['\\x-escaped', (text) => percent(text).replaceAll('%', '\\x')],
  ['as HTML entities', (text) => everyUnit(text, (unit) => `&#${unit};`)],
  ['as HTML entities in hexadecimal', (text) => everyUnit(text, (unit) => `&#x${unit.toString(16)};`)],
  [
    'escaped for HTML',
    (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('=', '&#61;'),
  ],
  ['with zero-width spaces inside', (text) => [...text].join('\u200b')],
  ['with joiners inside', (text) => [...text].join('\u200d')],
  ['with NULs inside', (text) => [...text].join('\0')],
  ['with line breaks inside', (text) => text.match(/.{1,7}/g)?.join('\r\n') ?? ''],
  ['with blanks inside', (text) => [...text].join(' ')],
  ['in capitals', (text) => text.toUpperCase()],
  ['in hexadecimal', (text) => Buffer.from(text).toString('hex')],
  [
    'in hexadecimal in capitals with colons',
    (text) =>
      Buffer.from(text)
        .toString('hex')
        .toUpperCase()
        .replace(/..(?=.)/g, '$&:'),
  ],
  ...[0, 1, 2].map(
    (offset) =>
      [
        `in base64 behind ${offset} bytes`,
        (text: string) => Buffer.from(`${'x'.repeat(offset)}${text}yz`).toString('base64'),
      ] as const,
  ),
  ['in base64 for addresses', (text) => Buffer.from(`u:${text}`).toString('base64url')],
  [
    'in base64, broken into lines',
    (text) =>
      Buffer.from(`u:${text}`)
        .toString('base64')
        .match(/.{1,20}/g)
        ?.join('\n') ?? '',
  ],
  ['in base64, percent-encoded', (text) => encodeURIComponent(Buffer.from(text).toString('base64'))],
];

describe.each(forms)('a secret that is echoed %s', (_name, write) => {
  it.each([secret, other])('is not shown: %s', (value) => {
    const shown = texts.clean(`key ${write(value)} is wrong`, 200);
    expect(shown).toContain('[secret]');
    expect(shown).not.toContain(value);
  });

  it('for any secret and any text around it', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'abcdefXYZ0123456789-_/+.='),
      minLength: 12,
      maxLength: 60,
    });
    const around = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(letters, around, around, (value, before, after) => {
        // Too few letters and digits are looked for as they are written only.
        fc.pre(value.replace(/[^a-z0-9]/gi, '').length >= 8);
        const shown = createForeignTexts([value]).clean(`${before} ${write(value)} ${after}`, 400);
        expect(shown).toContain('[secret]');
        expect(shown).not.toContain(write(value));
      }),
      { numRuns: 40 },
    );
  });
});

describe('text of the provider', () => {
  it('keeps what stands around a secret that is written as it is', () => {
    expect(texts.clean(`key ${secret} is wrong`, 200)).toBe('key [secret] is wrong');
    expect(texts.clean(`key ${other.split('').join('\u200b')} is wrong`, 200)).toBe('key [secret] is wrong');
  });

  it('keeps what stands around a password as the address has it, that the text has encoded in the same way', () => {
    const password = 'p@ss/wörd:very-secret';
    const inAddress = createForeignTexts([encodeURIComponent(password), password]);
    expect(inAddress.clean(`no <${encodeURIComponent(password)}>, try`, 99)).toBe('no <[secret]>, try');
  });

  it.each([
    '199',
    'Too Many Requests',
    'balance low, pay at 10:00',
    '1/200',
    'Sun, 22 Nov 2026 10:00:00 GMT',
    '余额不足',
  ])('stays as it is where there is no secret in it: %s', (text) => {
    expect(texts.clean(text, 200)).toBe(text);
    expect(createForeignTexts([]).clean(text, 200)).toBe(text);
  });

  it('hides a short secret only as it is written', () => {
    const short = createForeignTexts(['ab-1']);
    expect(short.clean('key ab-1 is wrong', 200)).toBe('key [secret] is wrong');
    expect(short.clean('cab 12 is wrong', 200)).toBe('cab 12 is wrong');
  });

  it('hides a secret that the cut would leave a part of', () => {
    expect(texts.clean(`${'x'.repeat(190)} ${other}`, 200)).not.toContain(other.slice(0, 5));
  });

  it.each([
    ['one line', 'k'.repeat(9) + '0123456789abcdef'.repeat(120)],
    ['several lines', `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0B\n'.repeat(70)}-----END`],
  ])('hides a long key of %s, whole or as a beginning that something cut', (_name, key) => {
    const long = createForeignTexts([key]);
    const start = key.slice(0, 20);
    for (const echoed of [
      key,
      key.slice(0, 1000),
      `${key.slice(0, 500)}…`,
      `"${key.slice(0, 60)}" is wrong`,
    ]) {
      const shown = long.clean(`the key ${echoed}`, 120);
      expect(shown).not.toContain(start);
      expect(shown).toContain('[secret]');
    }
  });

  it('shows where an address leads that is a credential', () => {
    const hook = createForeignTexts(['https://hooks.example.com/services/T000/B000/very-secret-token']);
    expect(hook.clean('see https://hooks.example.com/ for help', 120)).toBe(
      'see https://hooks.example.com/ for help',
    );
    expect(hook.clean('no https://hooks.example.com/services/T000/B000 here', 120)).toBe('no [secret] here');
  });

  it('with half a character in the secret is no error', () => {
    expect(createForeignTexts(['x\ud800y and more']).clean('a \ud800 b and more text', 200)).not.toContain(
      '\ud800',
    );
  });

  it('hides an encoded secret that happens to hold a short one', () => {
    const token = 'tok-2-abcdefghijklmnopqrstuvwxyz';
    const both = createForeignTexts([token, 'a3', '7374']);
    expect(both.clean(`key ${Buffer.from(token).toString('hex')} of a3`, 200)).toBe('[secret]');
    expect(both.clean(`key ${token} of a3`, 200)).toBe('key [secret] of [secret]');
  });

  it('hides an encoded secret of which another one is a part', () => {
    const whole = 'team-4711-key/with more=9Zq';
    for (const part of ['team-4711', '4711-key', 'more=9Zq']) {
      const both = createForeignTexts([part, whole]);
      for (const echoed of [encodeURIComponent(whole), [...whole].join(' '), `${part}: ${percent(whole)}`])
        expect(both.clean(`key ${echoed} is wrong`, 200)).toBe('[secret]');
      expect(both.clean(`key ${whole} of ${part}`, 200)).toBe('key [secret] of [secret]');
    }
  });

  it('hides nearly all of a key, wherever the rest was cut off, and no name that is a part of an address', () => {
    const key = 'p4QkT9vXw2LmR8sJd6Zb';
    for (const part of [key.slice(3), key.slice(0, -3), key.slice(2, -2), percent(key.slice(1, -1))])
      expect(createForeignTexts([key]).clean(`no such key: …${part}…`, 200)).toBe('[secret]');
    const hook = createForeignTexts(['https://hooks.example.com/incoming-webhook/run']);
    expect(hook.clean('the incoming-webhook of hooks.example.com is off', 200)).not.toContain('[secret]');
  });

  it.each(['hex', 'base64', 'base64url'] as const)(
    'hides a whole request that is quoted in %s',
    (encoding) => {
      for (const sent of [
        `GET /?k=${encodeURIComponent(secret)}`,
        JSON.stringify({ key: secret, of: 'otp' }),
      ])
        expect(texts.clean(`no: ${Buffer.from(sent).toString(encoding)}`, 400)).toBe('[secret]');
    },
  );

  it('takes no currency for a secret, because a wallet or region among the credentials has its letters', () => {
    const wallets = createForeignTexts(['USD', 'EU', 'wallet-key-1']);
    expect(['USD', 'EUR', 'wallet-key-1', 'EU-1'].map(wallets.holdsSecret)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('forgets a secret that is over once everybody who added it took it back, and no other that begins as it does', () => {
    const passing = createForeignTexts(['header.configured']);
    passing.add('header.first-token');
    passing.add('header.first-token');
    passing.add('header.configured');
    for (const over of ['header.first-token', 'header.configured', 'header.unknown']) passing.remove(over);
    const said = 'header.first-token and header.configured';
    expect(passing.clean(said, 200)).toBe('[secret] and [secret]');
    passing.remove('header.first-token');
    expect(passing.clean(said, 200)).toBe('header.first-token and [secret]');
    expect(passing.holdsSecret(Buffer.from('header.first-token').toString('hex'))).toBe(false);
    expect(passing.holdsSecret(Buffer.from('header.configured').toString('hex'))).toBe(true);
  });

  it('looks through any text of 64 KiB in bounded time, however many secrets begin as it does', () => {
    const keys = Array.from(
      { length: 2000 },
      (_, index) => `vendor_key_2026_${index * 7919}_${'x'.repeat(20)}`,
    );
    const many = createForeignTexts(keys);
    const startedAt = processorMs();
    for (const part of ['\\', '%5c', '=5c', '&#92;', '\u0301\u0323', 'vendor_key_2', 'vendorkey202'])
      expect(many.clean(`no: ${part.repeat(65_536 / Buffer.byteLength(part))}zz`, 300)).toMatch(/^no: /);
    expect(processorMs() - startedAt).toBeLessThan(3000);
    expect(many.clean(`${keys[7]} and ${keys[1999]?.slice(0, 30)}!`, 200)).toBe('[secret] and [secret]!');
  });

  it('learns secrets later', () => {
    const learning = createForeignTexts([]);
    expect(learning.clean('key abcdef123 is wrong', 200)).toContain('abcdef123');
    learning.add('abcdef123');
    expect(learning.clean('key abcdef123 is wrong', 200)).toBe('key [secret] is wrong');
  });
});
