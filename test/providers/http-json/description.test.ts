import { describe, expect, test } from 'vitest';
import { descriptionSchema } from '../../../src/providers/http-json/description.ts';

const least = {
  request: { url: 'https://sms.example.net/wallet' },
  balances: [{ id: 'main', amount: '$.balance' }],
  currency: { fixed: 'EUR' },
};

function complaintsAbout(change: object): readonly string[] {
  const read = descriptionSchema.safeParse({ ...least, ...change });
  return (read.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('three keys describe a provider', () => {
  expect(descriptionSchema.safeParse(least).error).toBeUndefined();
});

describe('a description is refused where', () => {
  test.each([
    [
      'a path is none',
      { balances: [{ id: 'a', amount: 'balance' }] },
      'balances.0.amount: must be a JSONPath (RFC 9535)',
    ],
    [
      'two balances share an id',
      {
        balances: [
          { id: 'a', amount: '$.a' },
          { id: 'a', amount: '$.b' },
        ],
      },
      'balances: has an id twice',
    ],
    ['there is no balance', { balances: [] }, 'balances: must be a list of balances'],
    [
      'a scale is 0',
      { balances: [{ id: 'a', amount: '$.a', scale: '0.00' }] },
      'balances.0.scale: must be a decimal',
    ],
    [
      'a pattern has no group',
      { balances: [{ id: 'a', amount: '$.a', pattern: '.*' }] },
      'balances.0.pattern: must have exactly one group',
    ],
    [
      'a separator is a digit',
      { balances: [{ id: 'a', amount: '$.a', decimal: '1' }] },
      'balances.0.decimal: must be one character',
    ],
    ['a key is misspelt', { balances: [{ id: 'a', amont: '$.a', amount: '$.a' }] }, 'did you mean "amount"?'],
    [
      'the address is none',
      { request: { url: 'sms.example.net' } },
      'request.url: must be an http:// or https:// address',
    ],
    [
      'half of a character stands in the query',
      { request: { url: 'https://sms.example.net', query: { a: '\ud800' } } },
      'request.query.a: is not well-formed text',
    ],
    [
      'the host is a credential',
      { request: { url: 'https://{{credentials.host}}/x' } },
      'request.url: must be',
    ],
    [
      'the host is half a credential',
      { request: { url: 'https://api.{{credentials.host}}.net/x' } },
      'request.url: must be',
    ],
    [
      'a password stands in the address',
      { request: { url: 'https://a:b@example.net/x' } },
      'request.url: must be',
    ],
    ['the address has a fragment', { request: { url: 'https://example.net/x#y' } }, 'request.url: must be'],
    ['the address has a space', { request: { url: 'https://example.net/a b' } }, 'request.url: must be'],
    [
      'a placeholder is not known',
      { request: { url: 'https://example.net/{{account.id}}' } },
      'request.url: must be',
    ],
    [
      'a header’s placeholder is not known',
      { request: { url: 'https://example.net', headers: { a: '{{today}}' } } },
      'request.headers.a: must be a string; of placeholders, only {{credentials.name}}',
    ],
    [
      'a body’s placeholder is not known',
      { request: { url: 'https://example.net', method: 'POST', json: { a: ['{{x}}'] } } },
      'request.json: holds a placeholder',
    ],
    [
      'a header is the connection’s own',
      { request: { url: 'https://example.net', headers: { 'Content-Length': '0' } } },
      'request.headers.Content-Length: cannot be sent',
    ],
    [
      'the name of a header is none',
      { request: { url: 'https://example.net', headers: { 'x[0]': 'a' } } },
      'request.headers.x[0]: is no name of a header',
    ],
    [
      'a header holds what no header can',
      { request: { url: 'https://example.net', headers: { 'x-team': 'Кассы' } } },
      'request.headers.x-team: cannot be sent: it holds',
    ],
    [
      'a header stands there twice',
      { request: { url: 'https://example.net', headers: { Accept: 'a/b', accept: 'a/c' } } },
      'request.headers.accept: stands here twice',
    ],
    [
      'a path holds a pattern that may take long',
      { currency: { path: "$[?match(@.c, '(a+)+$')].c" } },
      'currency: must be',
    ],
    [
      'the thousands separator is the decimal one',
      { balances: [{ id: 'main', amount: '$.a', thousands: '.' }] },
      'balances.0.thousands: is the decimal separator too',
    ],
    [
      'there are two bodies',
      { request: { url: 'https://example.net', method: 'POST', json: {}, form: {} } },
      'request.form: excludes json',
    ],
    [
      'a GET has a body',
      { request: { url: 'https://example.net', form: {} } },
      'request.method: must be POST where there is a body',
    ],
    [
      'there are two authorizations',
      { request: { url: 'https://example.net', bearer: 'x', basic: { user: 'a', password: 'b' } } },
      'request.bearer: excludes basic',
    ],
    ['an error has no sign', { errors: [{ means: 'auth_failed' }] }, 'errors.0: needs "status" or "path"'],
    ['an error means what it cannot', { errors: [{ status: 402, means: 'ok' }] }, 'errors.0.means: must be'],
    ['a unit looks like a currency', { currency: { unit: 'EUR' } }, 'currency'],
  ])('%s', (_name, change, complaint) => {
    expect(complaintsAbout(change).join('\n')).toContain(complaint);
  });
});
