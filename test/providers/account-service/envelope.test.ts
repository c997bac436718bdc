import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { parseMicros } from '../../../src/domain/money.ts';
import type { OutcomeDetail } from '../../../src/domain/reading.ts';
import { judgeAnswer } from '../../../src/providers/account-service/envelope.ts';
import { anyCharacter } from '../../support/hostile-text.ts';

const secret = 'very-secret-key';

const judge = (body: string, status = 200): OutcomeDetail =>
  judgeAnswer({ status, body }, createForeignTexts([secret]));
const withResult = (result: string): string => `{"msg":"SUCCESS","code":200,"result":${result}}`;
const withSms = (sms: string): string => withResult(`{"smsBalance":${sms},"voipBalance":1,"currency":"CNY"}`);
const withCurrency = (currency: string): string =>
  withResult(`{"smsBalance":1,"voipBalance":1,"currency":${currency}}`);

describe('a successful answer', () => {
  test('takes a currency without the space around it', () => {
    expect(judge(withCurrency('" CNY "'))).toMatchObject({ kind: 'ok', answer: { currency: 'CNY' } });
  });

  test('gives both balances exactly and the currency', () => {
    const body = withResult('{"smsBalance":-18.383,"voipBalance":0.1,"currency":"CNY"}');
    expect(judge(body)).toEqual({
      kind: 'ok',
      answer: { balances: { sms: -18_383_000, voip: 100_000 }, currency: 'CNY' },
    });
  });

  test.each([
    ['the float noise of a server heals', '-18.383000000000003', -18_383_000],
    ['negative zero is zero', '-0', 0],
    ['half a millionth rounds to even', '0.0000015', 2],
    ['digits that a float cannot distinguish', '1.00000050000000000000000001', 1_000_001],
    ['large amounts keep every digit', '1234567890.123456', 1_234_567_890_123_456],
    ['exponents are read', '1E+3', 1_000_000_000],
    ['a vanishing amount is zero', '1e-7', 0],
  ])('%s', (_name, sms, micros) => {
    const outcome = judge(withSms(sms));
    expect(outcome).toMatchObject({ kind: 'ok', answer: { balances: { sms: micros } } });
    expect(outcome.kind === 'ok' && Object.is(outcome.answer.balances.sms, micros)).toBe(true);
  });

  test('is one regardless of the HTTP status', () => {
    expect(judge(withSms('5'), 500)).toMatchObject({ kind: 'ok', answer: { balances: { sms: 5_000_000 } } });
  });

  test('may begin with a byte order mark and hold white space', () => {
    expect(judge(`\ufeff \n${withSms(' 5 ')}\n`)).toMatchObject({ kind: 'ok' });
  });

  test('names unknown fields, and is read all the same', () => {
    const body =
      '{"msg":"S","code":200,"trace":"x","result":{"smsBalance":1,"voipBalance":2,"currency":"CNY","bonus":3}}';
    expect(judge(body)).toMatchObject({ kind: 'ok', unknownFields: ['trace', 'result.bonus'] });
  });

  test('names only a few of a flood of unknown fields, cut and cleaned', () => {
    const fields = Array.from(
      { length: 500 },
      (_, index) => `"\\u001b[31m${'x'.repeat(100)}${index}":1`,
    ).join(',');
    const outcome = judge(
      `{"msg":"S","code":200,${fields},"result":{"smsBalance":1,"voipBalance":2,"currency":"CNY"}}`,
    );
    const names = outcome.kind === 'ok' ? (outcome.unknownFields ?? []) : [];
    expect(names).toHaveLength(10);
    for (const name of names) expect(name).toMatch(/^[\x20-\x7e…]{1,60}$/);
  });

  test('may say one thing twice, and anything about what is not read', () => {
    const body =
      '{"msg":"a","code":200,"code":200,"x":{"code":1,"code":2},"result":{"smsBalance":2,"smsBalance":2,"voipBalance":1,"currency":"CNY"}}';
    expect(judge(body)).toMatchObject({ kind: 'ok', answer: { balances: { sms: 2_000_000 } } });
  });

  const result = '"result":{"smsBalance":1,"voipBalance":1,"currency":"CNY"}';

  test.each([
    [`{"code":-22,"code":200,${result}}`, 'code'],
    [`{"code":200,"msg":"SUCCESS","msg":"ERROR",${result}}`, 'msg'],
    [`{"code":200,"result":{},${result}}`, 'result'],
    [
      withResult('{"smsBalance":1,"smsBalance":2.0000000000000000001,"voipBalance":1,"currency":"CNY"}'),
      'result.smsBalance',
    ],
    [
      withResult('{"smsBalance":1,"sms\\u0042alance":2,"voipBalance":1,"currency":"CNY"}'),
      'result.smsBalance',
    ],
    [withResult('{"smsBalance":1,"voipBalance":1,"currency":"CNY","currency":"USD"}'), 'result.currency'],
  ])('is none where nobody can tell which of two values is meant: %s', (body, place) => {
    expect(judge(body)).toMatchObject({
      kind: 'invalid_response',
      reason: `${place} is written twice, with different values`,
    });
  });

  test('changes no prototype through its keys', () => {
    const body = withResult(
      '{"__proto__":{"polluted":1},"constructor":{"x":1},"smsBalance":1,"voipBalance":1,"currency":"CNY"}',
    );
    expect(judge(body)).toMatchObject({ kind: 'ok' });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('finds no balance in the prototype of the result', () => {
    const body = withResult('{"__proto__":{"smsBalance":1},"voipBalance":1,"currency":"CNY"}');
    expect(judge(body)).toMatchObject({ kind: 'invalid_response', reason: 'result.smsBalance is missing' });
  });
});

describe('an answer that is no valid reading is an invalid response', () => {
  test.each([
    ['a balance as a string', withSms('"12.50"')],
    ['a balance of null', withSms('null')],
    ['a balance of an empty string', withSms('""')],
    ['a balance of true', withSms('true')],
    ['a balance of an empty list', withSms('[]')],
    ['a balance of an empty object', withSms('{}')],
    ['a balance out of range', withSms('9007199254.000001')],
    ['a balance of twenty digits', withSms('12345678901234567890')],
    ['a balance whose exponent is infinite', withSms('1e400')],
    ['a long balance whose exponent is infinite', withSms('1.00000000000000001e400')],
    ['NaN, which is no JSON', withSms('NaN')],
    ['Infinity, which is no JSON', withSms('-Infinity')],
    ['a leading zero, which is no JSON', withSms('007')],
    ['a missing balance', withResult('{"voipBalance":1,"currency":"CNY"}')],
    ['a missing currency', withResult('{"smsBalance":1,"voipBalance":1}')],
    ['an empty currency', withCurrency('""')],
    ['a blank currency', withCurrency('"  "')],
    ['a currency that is a number', withCurrency('156')],
    ['a currency of 40 characters', withCurrency(`"${'C'.repeat(40)}"`)],
    ['a currency with a control character', withCurrency('"C\\u0000Y"')],
    ['a currency with a line break', withCurrency('"CNY\\n"')],
    ['a currency with a direction override', withCurrency('"\\u202eYNC"')],
    ['a currency with half a surrogate pair', withCurrency('"\\ud800"')],
    ['a currency that echoes the secret', withCurrency(`"${secret}"`)],
    ['a missing result', '{"msg":"SUCCESS","code":200}'],
    ['a result of null', withResult('null')],
    ['a result that is a list', withResult('[]')],
    ['a result that is an empty string', withResult('""')],
    ['no code', '{"msg":"SUCCESS","result":{}}'],
    ['a code as a string', '{"msg":"SUCCESS","code":"200","result":{}}'],
    ['a code with a fraction', '{"msg":"SUCCESS","code":200.5}'],
    ['an infinite code', '{"msg":"SUCCESS","code":1e400}'],
    ['a message of null next to an unknown code', '{"code":-5,"msg":null}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a string', '"SUCCESS"'],
    ['an empty body', ''],
    ['HTML', '<html><body>SECRETS</body></html>'],
    ['half a JSON', '{"msg":"SUCCESS","code":200,"res'],
    ['JSON with something behind it', `${withSms('1')}x`],
    ['deep nesting', '['.repeat(60_000)],
    ['deep nesting that is closed', '['.repeat(30_000) + ']'.repeat(30_000)],
    [
      'deep nesting with a long number, which is walked',
      `${'['.repeat(30_000)}1.2345678901234567${']'.repeat(30_000)}`,
    ],
  ])('%s', (_name, body) => {
    expect(judge(body).kind).toBe('invalid_response');
  });

  test('the reason says which field and never quotes the body', () => {
    expect(judge(withSms('"SECRETS"'))).toMatchObject({
      reason: 'result.smsBalance is not what the interface says',
    });
    expect(judge(withSms('1e400'))).toMatchObject({ reason: 'result.smsBalance is out of range' });
    expect(judge('<html>SECRETS')).toMatchObject({ reason: 'the answer is not JSON' });
  });
});

test('a strange but printable currency is kept for those who escape it', () => {
  expect(judge(withCurrency('"<script>"'))).toMatchObject({ kind: 'ok', answer: { currency: '<script>' } });
  expect(judge(withCurrency('"元"'))).toMatchObject({ kind: 'ok', answer: { currency: '元' } });
});

describe('codes', () => {
  test.each([200, 400, 401, 403, 500])('-22 refuses the secret, with HTTP %i', (status) => {
    expect(judge('{"msg":"auth secret error!","code":-22}', status)).toEqual({
      kind: 'auth_failed',
      reason: 'the provider refuses the authSecret: code -22, "auth secret error!"',
      code: -22,
      status,
    });
  });

  test.each([200, 429, 503])('-32 is a rate limit, with HTTP %i', (status) => {
    expect(judge('{"msg":"Too Many Requests","code":-32}', status)).toMatchObject({
      kind: 'rate_limited',
      code: -32,
      status,
    });
  });

  test.each([
    ['no message', ''],
    ['a message of null', ',"msg":null'],
    ['a message that is no text', ',"msg":[7]'],
  ])('-22 and -32 say enough with %s', (_name, rest) => {
    expect(judge(`{"code":-22${rest}}`)).toMatchObject({ kind: 'auth_failed', code: -22 });
    expect(judge(`{"code":-32${rest}}`, 503)).toMatchObject({ kind: 'rate_limited', code: -32 });
  });

  test('a reading needs no message', () => {
    expect(judge(withSms('5').replace('"msg":"SUCCESS",', ''))).toMatchObject({ kind: 'ok' });
  });

  test.each(['', ',"result":null', ',"result":[]', ',"result":""'])(
    'code zero%s is an answer of the provider',
    (rest) => {
      expect(judge(`{"msg":"zero","code":0${rest}}`)).toEqual({
        kind: 'api_error',
        reason: 'the provider answered code 0, "zero"',
        code: 0,
        status: 200,
      });
    },
  );

  test.each(['', '<html>', '{"msg":"x","code":-22}', withSms('5')])(
    'HTTP 429 is a rate limit with any body: %s',
    (body) => {
      expect(judge(body, 429)).toMatchObject({ kind: 'rate_limited', status: 429 });
    },
  );

  test('a failure is one though it brings a valid result', () => {
    const body = '{"msg":"x","code":-1,"result":{"smsBalance":1,"voipBalance":1,"currency":"CNY"}}';
    expect(judge(body)).toMatchObject({ kind: 'api_error', code: -1 });
    expect(judge(body.replace('-1', '0'))).toMatchObject({ kind: 'api_error', code: 0 });
    // More digits than a number holds exactly: they stand in the reason, and no other number beside it.
    for (const digits of ['99999999999999999999', '-9007199254740993']) {
      const outcome = judge(body.replace('-1', digits));
      expect(outcome).toMatchObject({ kind: 'api_error', reason: expect.stringContaining(`code ${digits}`) });
      expect(outcome).not.toHaveProperty('code');
    }
  });

  test.each([-1, -99_999, 1, 500])('unknown code %i is kept with its message', (code) => {
    expect(judge(`{"msg":"system busy","code":${code}}`)).toMatchObject({
      kind: 'api_error',
      code,
      reason: `the provider answered code ${code}, "system busy"`,
    });
  });

  test('messages are cleaned and cut', () => {
    const outcome = judge(JSON.stringify({ code: -5, msg: `a\u0000b\n\u202ec${'x'.repeat(500)}` }));
    const reason = outcome.kind === 'ok' ? '' : outcome.reason;
    expect(reason).toMatch(/^the provider answered code -5, "ab cx+…"$/);
    expect(reason.length).toBeLessThan(240);
  });

  test('a message that echoes the secret does not carry it on', () => {
    const outcome = judge(JSON.stringify({ code: -22, msg: `bad key ${secret}!` }));
    expect(JSON.stringify(outcome)).not.toContain(secret);
    expect(outcome).toMatchObject({ reason: expect.stringContaining('bad key [secret]!') });
  });
});

describe('without an envelope', () => {
  test.each([500, 502, 503, 504, 401, 403, 404, 204])(
    'HTTP %i is an HTTP error and its body goes nowhere',
    (status) => {
      const outcome = judge('<html>SECRETS</html>', status);
      expect(outcome).toEqual({
        kind: 'http_error',
        reason: `HTTP ${status} without an answer of the provider`,
        status,
      });
    },
  );

  test.each([301, 302, 307, 308])('HTTP %i is a redirect, which is not followed', (status) => {
    expect(judge('', status)).toMatchObject({
      kind: 'http_error',
      reason: `HTTP ${status}, a redirect; it is never followed`,
    });
  });

  test('JSON of another kind does not make an HTTP error an answer', () => {
    expect(judge('{"error":"gateway"}', 502)).toMatchObject({ kind: 'http_error' });
  });

  test.each([
    [200, 'invalid_response'],
    [503, 'http_error'],
    [429, 'rate_limited'],
  ])('a body that was not read, with HTTP %i, is %s', (status, kind) => {
    expect(judgeAnswer({ status, body: null, problem: 'too-large' }, createForeignTexts([secret])).kind).toBe(
      kind,
    );
  });
});

describe('for any input', () => {
  test('text of any kind gives an outcome and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: anyCharacter }), fc.json()),
        fc.integer({ min: 200, max: 599 }),
        (body, status) => {
          expect(['invalid_response', 'http_error', 'rate_limited']).toContain(judge(body, status).kind);
        },
      ),
    );
  });

  test('a balance of any digits is what exact arithmetic says of them', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,18})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(digits, (text) => {
        const outcome = judge(withSms(text));
        expect(outcome.kind === 'ok' ? outcome.answer.balances.sms : null).toBe(parseMicros(text));
      }),
      { numRuns: 500 },
    );
  });

  test('any JSON value in place of a balance is refused unless it is a number', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { kind } = judge(withSms(JSON.stringify(value)));
        if (typeof value !== 'number') expect(kind).toBe('invalid_response');
      }),
    );
  });
});
