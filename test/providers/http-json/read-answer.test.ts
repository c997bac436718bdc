import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import type { OutcomeDetail } from '../../../src/domain/reading.ts';
import { descriptionSchema, type WrittenDescription } from '../../../src/providers/http-json/description.ts';
import { readAnswer, readToken } from '../../../src/providers/http-json/read-answer.ts';

const secret = 'very-secret-key';

const wallet = {
  request: { url: 'https://sms.example.net/wallet' },
  balances: [{ id: 'main', amount: '$.data.balance' }],
  currency: { path: '$.data.currency' },
} satisfies WrittenDescription;

function read(
  body: string,
  { status = 200, ...change }: Partial<WrittenDescription> & { status?: number } = {},
) {
  const description = descriptionSchema.parse({ ...wallet, ...change });
  return readAnswer(
    description,
    { status, headers: {}, body },
    { texts: createForeignTexts([secret]), now: 0 },
  );
}

const answer = (balance: string, currency = '"EUR"'): string =>
  `{"data":{"balance":${balance},"currency":${currency}}}`;

const micros = (outcome: OutcomeDetail): number | string =>
  outcome.kind === 'ok' ? (outcome.answer.balances.main ?? Number.NaN) : `${outcome.kind}: ${outcome.reason}`;

test('a token whose lifetime is written twice, differently, is good for as long as one that says none', () => {
  const token = { request: { url: 'https://sms.example.net/t' }, path: '$.t', expiresIn: '$.s' };
  const lifetimeOf = (body: string) =>
    readToken(
      descriptionSchema.parse({ ...wallet, token }),
      { status: 200, headers: {}, body },
      { texts: createForeignTexts([]), now: 0 },
    );
  expect(lifetimeOf('{"t":"abc","s":1,"s":99}')).toMatchObject({ lifetimeMs: 600_000 });
  expect(lifetimeOf('{"t":"abc","s":"99"}')).toMatchObject({ lifetimeMs: 99_000 });
});

describe('an amount is exact', () => {
  test.each([
    ['a number', '12.5', {}, 12_500_000],
    ['a text', '"12.50"', {}, 12_500_000],
    ['a text with space around it', '" 12.50 "', {}, 12_500_000],
    ['float noise', '-18.383000000000003', {}, -18_383_000],
    ['digits that a float cannot hold', '1.00000050000000000000000001', {}, 1_000_001],
    ['more digits than a float has', '1234567890.123456', {}, 1_234_567_890_123_456],
    ['the same as a text', '"1234567890.123456"', {}, 1_234_567_890_123_456],
    ['half a millionth, to even', '0.0000015', {}, 2],
    ['an exponent', '1.5E+3', {}, 1_500_000_000],
    ['an exponent in a text', '"15e-1"', {}, 1_500_000],
    ['ten-thousandths', '3141500', { scale: '0.0001' }, 314_150_000],
    ['billionths as a text', '"25500000001"', { scale: '0.000000001' }, 25_500_000],
    ['what is owed', '"-23.44"', { scale: '-1' }, 23_440_000],
    ['a pattern', '"KES 640.2500"', { pattern: '^[A-Z]{3} (-?[\\d.]+)$' }, 640_250_000],
    [
      'a pattern that names the hyphen before it',
      '"EUR-640.25"',
      { pattern: '^EUR-([\\d.]+)$' },
      640_250_000,
    ],
    ['less than one, without a zero', '".50"', {}, 500_000],
    ['less than nothing, without a zero', '"-,5"', { decimal: ',' }, -500_000],
    ['a comma', '"1234,5"', { decimal: ',' }, 1_234_500_000],
    ['a comma and points', '"-1.234.567,89"', { decimal: ',', thousands: '.' }, -1_234_567_890_000],
    ['thousands in the Indian way', '"12,34,567.5"', { thousands: ',' }, 1_234_567_500_000],
    ['thousands that are not there', '"1234567.5"', { thousands: ',' }, 1_234_567_500_000],
    ['a narrow space between thousands', '"1\u202f234"', { thousands: '\u202f' }, 1_234_000_000],
  ])('%s', (_name, written, how, wanted) => {
    const outcome = read(answer(written), { balances: [{ id: 'main', amount: '$.data.balance', ...how }] });
    expect(micros(outcome)).toBe(wanted);
  });

  test.each([
    [
      '{"data":{"balance":1,"balance":2,"currency":"EUR"}}',
      '$.data.balance is written twice, with different values; expected an amount',
    ],
    [
      '{"data":{"balance":1,"currency":"EUR","currency":"USD"}}',
      '$.data.currency is written twice, with different values; expected a text',
    ],
    [
      '{"data":{"balance":1,"currency":"EUR"},"data":{"balance":2,"currency":"EUR"}}',
      '$.data.balance is not in the answer',
    ],
  ])('and none where nobody can tell which of two is meant: %s', (body, reason) => {
    expect(micros(read(body))).toBe(`invalid_response: ${reason}`);
  });

  test.each([
    ['"-12.50 EUR"', '([\\d.]+)'],
    ['"-$12.50"', '([\\d.]+)'],
    ['"EUR −12.50"', '^\\D*([\\d.]+)$'],
    ['"-CA$12.50"', '([\\d.]+)'],
    ['"-KES 12.50"', '^\\D*([\\d.]+)$'],
    ['"-€ 12.50"', '([\\d.]+)'],
    ['"Left: -$\u00a012.50"', '([\\d.]+)'],
    ['"- $12.50"', '([\\d.]+)'],
    ['"-USDT 12.50"', '([\\d.]+)'],
    ['"-kr 12.50"', '([\\d.]+)'],
    ['"-Rs. 12.50"', '([\\d.]+)$'],
    ['"12.50€-"', '([\\d.]+)'],
    ['"12.50 EUR-"', '([\\d.]+)'],
    ['"–12.50"', '([\\d.]+)'],
    ['"- 12.50"', '([\\d.]+)'],
    ['"-1,234.50 EUR"', '([\\d.]+) EUR'],
    ['"12.50-"', '([\\d.]+)'],
    ['"KES 12.50 -"', '([\\d.]+)'],
    ['"pre-paid 12.50-"', 'pre-paid ([\\d.]+)'],
    ['"(12.50)"', '([\\d.]+)'],
    ['"余额：（12.50）"', '([\\d.]+)'],
    ['"余额：－12.50"', '([\\d.]+)'],
    ['"\u201012.50"', '([\\d.]+)'],
    ['"\u201112.50 EUR"', '([\\d.]+)'],
    ['"KES (12.50)"', '([\\d.]+)'],
    ['"Left (12.50)"', '([\\d.]+)'],
    ['"Balance: (EUR 1,212.50)"', '([\\d.]+)'],
    ['"Balance: (12.50 EUR)"', '(-?[\\d.]+) EUR'],
    ['"EUR - 12.50"', '(-?[\\d.]+)$'],
    ['"€ - 12.50"', '([\\d.]+)'],
    ['"Left: - 12.50"', '([\\d.]+)'],
    ['"Left − EUR 12.50"', '([\\d.]+)'],
    ['"12.50-EUR"', '([\\d.]+)'],
    ['"12.50-€"', '([\\d.]+)'],
    ['"12.50 EUR -"', '([\\d.]+)'],
    ['"12.50 DR"', '([\\d.]+)'],
    ['"EUR 12.50Dr"', '([\\d.]+)'],
    ['"12.50 DR"', '([\\d.]+) DR?'],
    ['"(12.50)"', '\\(?([\\d.]+)\\)?'],
  ])('and none of %s where the pattern %s leaves out the minus', (written, pattern) => {
    const balances = [{ id: 'main', amount: '$.data.balance', pattern }];
    expect(micros(read(answer(written), { balances }))).toMatch(
      /^invalid_response: .* which looks like a debt; a pattern has to take in its minus, or name it$/,
    );
  });

  test.each(['(-12.50)', '(-12.50 EUR)', '-12.50 DR', '-12.50-EUR'])(
    'and below zero of %s where the pattern takes in the minus',
    (written) => {
      const balances = [{ id: 'main', amount: '$.data.balance', pattern: '(-?[\\d.]+)' }];
      expect(micros(read(answer(`"${written}"`), { balances }))).toBe(-12_500_000);
    },
  );

  test.each([
    ['"-$12.50"', '^-\\$([\\d.]+)$'],
    ['"-12.50"', '-\\s*([\\d.]+)'],
    ['"-EUR 12.50"', '^-EUR ([\\d.]+)'],
    ['"-€ 12.50"', '^-€ ([\\d.]+)$'],
    ['"-Rs. 12.50"', '^-Rs\\. ([\\d.]+)$'],
    ['"12.50 EUR-"', '^([\\d.]+) EUR-$'],
    ['"Card 1 - EUR 12.50"', '([\\d.]+)$'],
    ['"Card 1 - € 12.50"', '([\\d.]+)$'],
    ['"12.50 EUR - 3 days"', '^([\\d.]+)'],
    ['"12.50-"', '^([\\d.]+)-$'],
    ['"(12.50)"', '^\\(([\\d.]+)\\)$'],
    ['"余额：（12.50）"', '（([\\d.]+)）'],
    ['"12.50 - 3 days"', '^([\\d.]+)'],
    ['"2026-11-30,12.50"', '([\\d.]+)$'],
    ['"Left (12.50)"', '\\(([\\d.]+)'],
    ['"EUR - 12.50"', 'EUR - ([\\d.]+)'],
    ['"12.50-EUR"', '([\\d.]+)-EUR'],
    ['"12.50 DR"', '([\\d.]+) DR'],
    ['"Card - 12.50"', '([\\d.]+)'],
    ['"12.50 (EUR)"', '([\\d.]+)'],
    ['"Left (EUR) 12.50"', '([\\d.]+)'],
    ['"Left (12.50 of 20)"', '([\\d.]+)'],
    ['"12.50 Drachmas"', '([\\d.]+)'],
  ])('of %s by the pattern %s, which names the minus, or where it is a dash', (written, pattern) => {
    const balances = [{ id: 'main', amount: '$.data.balance', pattern }];
    expect(micros(read(answer(written), { balances }))).toBe(12_500_000);
  });

  test.each(['0,500', '-0,500', '00,500', '012,500'])(
    'and none of %s where commas part thousands: no number begins so',
    (written) => {
      const balances = [{ id: 'main', amount: '$.data.balance', thousands: ',' }];
      expect(micros(read(answer(`"${written}"`), { balances }))).toMatch(
        /^invalid_response: .* expected an amount/,
      );
    },
  );

  test('credit less usage, both with all their digits', () => {
    const balances = [{ id: 'main', amount: '$.total', minus: '$.used' }];
    expect(
      micros(read('{"total":60,"used":41.800000000000004}', { balances, currency: { fixed: 'USD' } })),
    ).toBe(18_200_000);
  });

  test('two amounts that are owed', () => {
    const balances = [{ id: 'main', amount: '$.a', plus: '$.b', scale: '-1' }];
    expect(micros(read('{"a":-20.5,"b":"0.5"}', { balances, currency: { fixed: 'USD' } }))).toBe(20_000_000);
  });

  test('the sum over a list', () => {
    const balances = [{ id: 'main', amount: '$[?@.u=="USD"].v', sum: true }];
    const body = '[{"u":"USD","v":0.1},{"u":"h","v":7},{"u":"USD","v":"0.2"}]';
    expect(micros(read(body, { balances, currency: { fixed: 'USD' } }))).toBe(300_000);
  });

  test('chosen by a filter', () => {
    const balances = [{ id: 'main', amount: "$.infos[?@.currency=='CNY'].total" }];
    const body = '{"infos":[{"currency":"USD","total":"1"},{"currency":"CNY","total":"72.50"}]}';
    expect(micros(read(body, { balances, currency: { fixed: 'CNY' } }))).toBe(72_500_000);
  });

  test('the whole body', () => {
    const change = { balances: [{ id: 'main', amount: '$' }], currency: { fixed: 'USD' } };
    expect(micros(read('-0.25', change))).toBe(-250_000);
  });

  test('for any amount of money, as a number and as a text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.boolean(), (amount, asText) => {
        const digits = `${amount < 0n ? '-' : ''}${String(amount < 0n ? -amount : amount).padStart(7, '0')}`;
        const written = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
        expect(micros(read(answer(asText ? `"${written}"` : written)))).toBe(Number(amount));
      }),
    );
  });

  test('of several balances, in their order', () => {
    const outcome = read('{"sms":204.5,"mms":3}', {
      balances: [
        { id: 'mms', amount: '$.mms' },
        { id: 'sms', amount: '$.sms' },
      ],
      currency: { unit: 'credits' },
    });
    expect(outcome).toEqual({
      kind: 'ok',
      answer: { currency: 'credits', balances: { mms: 3_000_000, sms: 204_500_000 } },
    });
  });
});

describe('a currency', () => {
  test('that is written twice is not what is otherwise so', () => {
    const currency = { path: '$.data.currency', otherwise: 'JPY' };
    expect(read(answer('1', 'null,"currency":"EUR"'), { currency })).toMatchObject({
      kind: 'invalid_response',
    });
  });

  test.each([
    ['by path', { path: '$.data.currency' }, '" EUR "', 'EUR'],
    ['in lower case', { path: '$.data.currency' }, '"usd"', 'USD'],
    ['fixed', { fixed: 'SEK' }, '7', 'SEK'],
    ['a unit', { unit: 'messages' }, '7', 'messages'],
    ['by a word of the provider', { path: '$.data.currency', map: { euros: 'EUR' } }, '"euros"', 'EUR'],
    ['by a word that is a unit', { path: '$.data.currency', map: { euros: 'EUR' } }, '"credits"', 'credits'],
    ['by what is otherwise so, of null', { path: '$.data.currency', otherwise: 'JPY' }, 'null', 'JPY'],
    ['by what is otherwise so, of no text', { path: '$.data.currency', otherwise: 'JPY' }, '""', 'JPY'],
    ['within a text', { path: '$.data.currency', pattern: '^([A-Z]{3}) ' }, '"KES 640.25"', 'KES'],
  ] as const)('%s', (_name, currency, written, wanted) => {
    expect(read(answer('1', written), { currency })).toMatchObject({ answer: { currency: wanted } });
  });

  test.each([
    ['of another type', '7', 'invalid_response: $.data.currency is 7; expected a text'],
    ['empty', '""', 'invalid_response: $.data.currency is ""; expected a currency'],
    [
      'too long',
      '"a currency of its own"',
      'invalid_response: $.data.currency is "a currency of its own"; expected a currency',
    ],
    ['a secret', `"${secret}"`, 'invalid_response: the currency of the answer is no currency'],
    ['with line breaks', '"E\\nR"', 'expected a currency'],
  ])('is invalid where it is %s', (_name, written, reason) => {
    expect(micros(read(answer('1', written)))).toContain(reason);
  });
});

describe('an answer that fails', () => {
  const rules: Partial<WrittenDescription> = {
    success: { path: '$.status', equals: 'ok' },
    errors: [
      { path: '$.code', in: ['E401', 401], means: 'auth_failed' },
      { status: 422, means: 'rate_limited' },
      { status: 403, path: '$.code', equals: 'quota', means: 'rate_limited' },
      { path: '$.errors[*].code', equals: 2, means: 'auth_failed' },
      { path: '$.code', equals: 'closed', means: 'api_error' },
      { path: '$.problem', means: 'api_error' },
      { status: 403, path: '$.closed', means: 'api_error' },
    ],
    message: '$.message',
    postpaid: [
      { path: '$.payment', equals: 'postpaid' },
      { path: '$.data.balance', in: [1000000, null] },
    ],
  };

  test.each([
    ['401 by itself', 401, 'no', 'auth_failed: the provider refuses the credentials: HTTP 401'],
    ['403 by itself', 403, '{}', 'auth_failed: the provider refuses the credentials: HTTP 403'],
    ['429 by itself', 429, '<html>', 'rate_limited: rate limited: HTTP 429'],
    ['a status of the table', 422, '', 'rate_limited: rate limited: HTTP 422'],
    [
      'a code of the table inside a 200',
      200,
      '{"code":"E401"}',
      'auth_failed: the provider refuses the credentials: $.code says so (HTTP 200)',
    ],
    [
      'one of several codes in a list',
      400,
      '{"errors":[{"code":9},{"code":2}]}',
      'auth_failed: the provider refuses the credentials: $.errors[*].code says so',
    ],
    [
      'status and code together',
      403,
      '{"code":"quota"}',
      'rate_limited: rate limited: $.code says so (HTTP 403)',
    ],
    [
      'any error of the table',
      400,
      '{"problem":"x"}',
      'api_error: the provider reports an error: $.problem says so (HTTP 400)',
    ],
    [
      'any error of the table with 401, which says more',
      401,
      '{"problem":"x"}',
      'auth_failed: the provider refuses the credentials: HTTP 401',
    ],
    [
      'any error of the table with 429, which says more',
      429,
      '{"problem":"x"}',
      'rate_limited: rate limited: HTTP 429',
    ],
    [
      'any error of the table with 403 that names the status',
      403,
      '{"closed":"x"}',
      'api_error: the provider reports an error: $.closed says so (HTTP 403)',
    ],
    [
      'a code of the table with 403, which says less',
      403,
      '{"code":"closed"}',
      'api_error: the provider reports an error: $.code says so (HTTP 403)',
    ],
    [
      'a code that is a text here and a number in the table',
      200,
      '{"code":"401","status":"ok"}',
      'auth_failed: the provider refuses the credentials: $.code says so (HTTP 200)',
    ],
    [
      'no success inside a 200',
      200,
      '{"status":"error","message":"no such user"}',
      'api_error: the provider does not report success: $.status is "error", "no such user"',
    ],
    [
      'no word of success',
      200,
      answer('1'),
      'invalid_response: $.status, which says whether the answer is good',
    ],
    [
      'a postpaid account',
      200,
      '{"status":"ok","payment":"postpaid"}',
      'api_error: the account is not prepaid: $.payment says that it has no balance',
    ],
    [
      'a sentinel for one',
      200,
      '{"status":"ok","data":{"balance":1000000.0,"currency":"ZAR"}}',
      'api_error: the account is not prepaid',
    ],
    [
      'a sentinel that is a text',
      200,
      '{"status":"ok","data":{"balance":"1000000","currency":"ZAR"}}',
      'api_error: the account is not prepaid',
    ],
    ['null for one', 200, '{"status":"ok","data":{"balance":null}}', 'api_error: the account is not prepaid'],
    ['a server error', 500, answer('1'), 'http_error: HTTP 500'],
    ['a redirect', 302, '', 'http_error: HTTP 302, a redirect; it is never followed'],
    [
      'a part of an answer',
      206,
      '{"status":"ok","data":{"balance":12,"currency":"EUR"}}',
      'http_error: HTTP 206',
    ],
    ['no content', 204, '', 'invalid_response: the answer is empty'],
    ['HTML', 200, '<!doctype html><p>12.50', 'invalid_response: the answer is HTML or XML, not JSON'],
    ['a plain text', 200, '12,50', 'invalid_response: the answer is not JSON'],
  ])('%s', (_name, status, body, wanted) => {
    expect(micros(read(body, { ...rules, status }))).toContain(wanted);
  });

  test.each([
    ['too-large', 'the answer is too large'],
    ['encoded', 'the answer is compressed'],
  ] as const)('a body that is %s', (problem, reason) => {
    const description = descriptionSchema.parse(wallet);
    const outcome = readAnswer(
      description,
      { status: 200, headers: {}, body: null, problem },
      { texts: createForeignTexts([]), now: 0 },
    );
    expect(outcome).toMatchObject({ kind: 'invalid_response', reason: expect.stringContaining(reason) });
  });
});

describe('facts', () => {
  const facts = {
    autoRecharge: { path: '$.auto', equals: true },
    creditLimit: { amount: '$.limit' },
    pending: { amount: '$.pending' },
  };

  test('are read next to the balance, amounts without their sign', () => {
    const body = '{"data":{"balance":1,"currency":"EUR"},"auto":false,"limit":"5.00","pending":-0.5}';
    expect(read(body, { facts })).toMatchObject({
      kind: 'ok',
      facts: { autoRecharge: false, creditLimitMicros: 5_000_000, pendingMicros: 500_000 },
    });
  });

  test('that are missing or unreadable fail no reading', () => {
    const outcome = read('{"data":{"balance":1,"currency":"EUR"},"limit":"none"}', { facts });
    expect(outcome).toEqual({ kind: 'ok', answer: { currency: 'EUR', balances: { main: 1_000_000 } } });
  });
});

/** What may stand where the amount should: each must be invalid, and say the path. */
const noAmounts: readonly string[] = [
  ...[
    'null',
    'true',
    'false',
    '{}',
    '[]',
    '[1]',
    '{"amount":1}',
    '""',
    '" "',
    '"-"',
    '"+1"',
    '"1,5"',
    '"1.234,5"',
  ],
  ...[
    '"1 000"',
    '"1’000"',
    '"12.50 EUR"',
    '"EUR 12.50"',
    '"$5"',
    '"0x10"',
    '"1e"',
    '"e5"',
    '"."',
    '"."',
    '"5."',
    '"--1"',
  ],
  ...[
    '"NaN"',
    '"Infinity"',
    '"-Infinity"',
    '"null"',
    '"undefined"',
    '"unlimited"',
    '"N/A"',
    '"٣"',
    '"１２"',
    '"½"',
    '"1_000"',
  ],
  ...[
    '"1e101"',
    '1e101',
    '1e308',
    '1e999',
    '-1e999',
    '9007199255',
    '-9007199255',
    '"9007199254.000001"',
    '1e12',
    '"1E+10"',
  ],
  ...[
    '"<b>12</b>"',
    '"12\\u0000"',
    '"1\\n2"',
    '"12;drop"',
    '"12.5.1"',
    '"1-2"',
    '"−5"',
    `"${'9'.repeat(101)}"`,
    '9'.repeat(200),
  ],
  ...[
    '"0.1.2"',
    '"1e5.5"',
    '"1e+"',
    '"(12)"',
    '"12%"',
    '"٫5"',
    '"1\\u00a0000"',
    '[[]]',
    '[null]',
    '{"":1}',
    '"true"',
  ],
];

/** Whole answers that hold no balance, and why. */
const noAnswers: readonly string[] = [
  ...[
    '',
    ' ',
    '\n',
    'null',
    'true',
    '0',
    '-1',
    '12.5',
    '"12.5"',
    '[]',
    '{}',
    '[{}]',
    '{"data":null}',
    '{"data":[]}',
    '{"data":{}}',
  ],
  ...[
    '{"data":1}',
    '{"data":"x"}',
    '{"data":{"balance":1}}',
    '{"data":{"currency":"EUR"}}',
    '{"Data":{"Balance":1}}',
    '{"data":[{"balance":1}]}',
  ],
  ...[
    '{',
    '}',
    '[',
    '{"data"',
    '{"data":{"balance":1,"currency":"EUR"}',
    '{"data":{"balance":1,"currency":"EUR"}}x',
    "{'data':1}",
    '{data:1}',
  ],
  ...[
    '{"data":{"balance":01,"currency":"EUR"}}',
    '{"data":{"balance":+1,"currency":"EUR"}}',
    '{"data":{"balance":.5,"currency":"EUR"}}',
  ],
  ...[
    '{"data":{"balance":NaN,"currency":"EUR"}}',
    '{"data":{"balance":1,"currency":"EUR"},}',
    '{"data":{"balance":1 /*x*/,"currency":"EUR"}}',
  ],
  ...[
    '<html>',
    '<?xml version="1.0"?><balance>5</balance>',
    '<!-- -->',
    'balance=5',
    'OK',
    'ok 5.0',
    '%PDF-1.7',
    'PK\u0003\u0004',
    '\u0000',
    '\u001f\ufffd',
  ],
  ...[
    '['.repeat(1000),
    '['.repeat(60_000),
    `${'{"data":'.repeat(5000)}1${'}'.repeat(5000)}`,
    `${'['.repeat(70)}${']'.repeat(70)}`,
  ],
  ...[
    `{"data":${'[1,'.repeat(70)}1${']'.repeat(70)}}`,
    `{"data":{"balance":"${'x'.repeat(60_000)}","currency":"EUR"}}`,
    '\ufeff\ufeff{}',
    '\ufeff',
  ],
  ...[
    '{"__proto__":{"data":{"balance":1,"currency":"EUR"}}}',
    '{"data":{"__proto__":{"balance":1,"currency":"EUR"}}}',
    '{"constructor":1}',
  ],
  ...[
    '{"data":{"balance":1,"currency":"EUR"},"data":{}}',
    '{"data":{"balance":1,"balance":null,"currency":"EUR"}}',
    'data: {"balance":1}',
  ],
  ...[
    '{"error":"invalid key"}',
    '{"message":"Forbidden"}',
    '{"code":500}',
    '{"success":false}',
    '{"errors":[]}',
    'undefined',
    'Infinity',
    '1 2',
  ],
];

const hostile: readonly (readonly [string, Partial<WrittenDescription>])[] = [
  ...noAmounts.map((amount) => [answer(amount), {}] as const),
  ...noAmounts
    .map(
      (amount) =>
        [
          answer(amount),
          { balances: [{ id: 'main', amount: '$.data.balance', scale: '0.01', thousands: "'" }] },
        ] as const,
    )
    .filter(([body]) => !/90{0,1}07199255|9007199254|1e12|1E\+10/.test(body)),
  ...noAnswers.map((body) => [body, {}] as const),
  ...[
    '[]',
    '[{"v":1},{"v":2}]',
    '[{"v":[]}]',
    '[{"v":"1"},{"v":"x"}]',
    '{"v":[1,2]}',
    '[[{"v":1}],{"v":1}]',
  ].map(
    (body) => [body, { balances: [{ id: 'main', amount: '$..v' }], currency: { fixed: 'EUR' } }] as const,
  ),
];

describe('200 hostile answers', () => {
  test('are as many', () => {
    expect(hostile.length).toBeGreaterThanOrEqual(200);
  });

  test('are invalid each, with a reason that is short, never a balance and never 0', () => {
    for (const [body, change] of hostile) {
      const outcome = read(body, change);
      expect(`${outcome.kind} ${body.slice(0, 80)}`).toBe(`invalid_response ${body.slice(0, 80)}`);
      if (outcome.kind === 'ok') continue;
      expect(outcome.reason.length).toBeLessThan(200);
      expect(outcome.reason).toMatch(/^(?:\$|the answer is )/);
    }
  });

  test('name the path and what stood there', () => {
    expect(micros(read(answer('"12.50 EUR"')))).toBe(
      'invalid_response: $.data.balance is "12.50 EUR"; expected an amount',
    );
    expect(micros(read(answer('[]')))).toBe(
      'invalid_response: $.data.balance is an empty list; expected an amount',
    );
    expect(micros(read(answer('{"a":1}')))).toBe(
      'invalid_response: $.data.balance is an object; expected an amount',
    );
    expect(micros(read(answer('null')))).toBe('invalid_response: $.data.balance is null; expected an amount');
    expect(micros(read(answer('1e12')))).toBe('invalid_response: $.data.balance is out of range');
    expect(micros(read('{"data":{}}'))).toBe('invalid_response: $.data.balance is not in the answer');
    const many = { balances: [{ id: 'main', amount: '$.data[*]' }] };
    expect(micros(read('{"data":[1,2]}', many))).toBe(
      'invalid_response: $.data[*] stands in 2 places of the answer; expected one',
    );
  });

  test('any JSON at all is read without an exception', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.constantFrom('$..v', '$.data.balance', '$[*]', '$[?@.a>1].b', '$'),
        (body, amount) => {
          const outcome = read(body, { balances: [{ id: 'main', amount }], currency: { fixed: 'EUR' } });
          expect(['ok', 'invalid_response']).toContain(outcome.kind);
        },
      ),
    );
  });
});

describe('no secret', () => {
  const encoded = Buffer.from(`me:${secret}`).toString('base64');
  const echoes: readonly string[] = [
    answer(`"${secret}"`),
    answer(`"key ${secret} is wrong"`),
    answer(`"${encoded}"`),
    answer(`"${encodeURIComponent(secret)}"`),
    answer(`"${Buffer.from(secret).toString('hex')}"`),
    answer(`"${secret.toUpperCase()}"`),
    answer(`"${[...secret].join(' ')}"`),
    answer(`"${[...secret].join('\u200b')}"`),
    answer(
      `"${[...secret].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
    ),
    answer(`"${'x'.repeat(50)}${secret}"`),
    answer('1', `"${secret}"`),
    answer('1', `"${secret} "`),
    answer('1', `"x ${secret.slice(0, 15)}"`),
    answer('1', `"${encoded.slice(0, 16)}"`),
    `{"status":"${secret}"}`,
    `{"status":"bad","message":"${secret}"}`,
    `{"status":"bad","message":"Authorization: Basic ${encoded}"}`,
    `{"code":"E401","message":"key ${secret} unknown"}`,
    `{"payment":"postpaid","note":"${secret}"}`,
    `<html>${secret}</html>`,
    secret,
  ];

  test('of 20 echoing answers comes out', () => {
    expect(echoes.length).toBeGreaterThanOrEqual(20);
    for (const body of echoes) {
      for (const status of [200, 400, 401, 429, 500]) {
        for (const success of [undefined, { path: '$.status', equals: 'ok' }] as const) {
          const outcome = read(body, {
            status,
            ...(success === undefined ? {} : { success }),
            message: '$.message',
            errors: [{ path: '$.code', equals: 'E401', means: 'auth_failed' }],
            postpaid: [{ path: '$.payment', equals: 'postpaid' }],
          });
          const shown = JSON.stringify(outcome)
            .replace(/[\s\u200b]/g, '')
            .toLowerCase();
          for (const form of [secret, 'verysecret', encoded, Buffer.from(secret).toString('hex')])
            expect(shown).not.toContain(form.toLowerCase());
        }
      }
    }
  });
});
