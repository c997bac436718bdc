import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { descriptionSchema, type WrittenDescription } from '../../../src/providers/http-json/description.ts';
import { credentialNames, prepareRequest } from '../../../src/providers/http-json/prepare-request.ts';

type WrittenRequest = WrittenDescription['request'];

function describeRequest(request: WrittenRequest) {
  return descriptionSchema.parse({
    request,
    balances: [{ id: 'main', amount: '$' }],
    currency: { fixed: 'EUR' },
  });
}

const key = '{{credentials.key}}';
const origin = 'https://api.example.net';

/** The request as it is sent, in plain text. */
function send(request: WrittenRequest, value: string, baseUrl?: string) {
  const prepared = prepareRequest(describeRequest(request), { key: new Secret(value) }, undefined, baseUrl);
  if ('reason' in prepared) return prepared;
  const headers = Object.entries(prepared.headers).map(([name, text]) => [
    name,
    typeof text === 'string' ? text : text.reveal(),
  ]);
  return {
    url: new URL(prepared.url.reveal()),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: prepared.body?.reveal() ?? null,
  };
}

function sent(request: WrittenRequest, value: string, baseUrl?: string) {
  const result = send(request, value, baseUrl);
  return 'reason' in result ? expect.fail(result.reason) : result;
}

/** What a credential could break out of its place with. */
const nasty = fc.string({
  unit: fc.constantFrom(...'&"\'/\\#?=%+; :@{}[]<>.\r\n\t\0é😀aZ9$'),
  minLength: 1,
  maxLength: 12,
});

describe('a credential stands for itself, regardless of its characters,', () => {
  test('as a segment of the path', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const result = send({ url: `${origin}/v1/${key}/balance?a=1` }, value);
        if ('reason' in result) {
          expect(['.', '..']).toContain(value);
          return;
        }
        expect(result.url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'v1', value, 'balance']);
        expect(result.url.search).toBe('?a=1');
        expect(result.url.host).toBe('api.example.net');
      }),
    );
  });

  test('in the query, written in the address or apart', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const { url } = sent({ url: `${origin}/x?user=${key}&a=1`, query: { token: key, b: '2' } }, value);
        expect([...url.searchParams]).toEqual([
          ['user', value],
          ['a', '1'],
          ['token', value],
          ['b', '2'],
        ]);
        expect(url.pathname).toBe('/x');
      }),
    );
  });

  test('in a form', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const { body, headers } = sent({ url: origin, method: 'POST', form: { key, b: '2' } }, value);
        expect([...new URLSearchParams(body ?? '')]).toEqual([
          ['key', value],
          ['b', '2'],
        ]);
        expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
      }),
    );
  });

  test('in a string of JSON', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const { body, headers } = sent(
          { url: origin, method: 'POST', json: { auth: [{ key: `k=${key}` }], n: 1, yes: true, no: null } },
          value,
        );
        expect(JSON.parse(body ?? '')).toEqual({ auth: [{ key: `k=${value}` }], n: 1, yes: true, no: null });
        expect(headers['content-type']).toBe('application/json');
      }),
    );
  });

  test('as a password of Basic', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const { headers } = sent({ url: origin, basic: { user: 'me', password: key } }, value);
        const encoded = headers.authorization?.replace('Basic ', '') ?? '';
        expect(Buffer.from(encoded, 'base64').toString()).toBe(`me:${value}`);
      }),
    );
  });

  test('or is refused, as a header', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const result = send({ url: origin, bearer: key, headers: { 'X-Key': `App ${key}` } }, value);
        if ('reason' in result) {
          expect(value).toMatch(/[^\t -~]/);
          return;
        }
        expect(result.headers).toEqual({ authorization: `Bearer ${value}`, 'x-key': `App ${value}` });
        expect(value).toMatch(/^[\t -~]*$/);
      }),
    );
  });
});

describe('a credential is refused by name, never quoted,', () => {
  test.each([
    [
      'with a line break in a header',
      { url: origin, headers: { a: key } },
      'x\r\nhost: evil',
      'stands in a header',
    ],
    ['with a line break in a bearer', { url: origin, bearer: key }, 'secret\n', 'stands in a header'],
    ['with an umlaut in a header', { url: origin, bearer: key }, 'sécret', 'stands in a header'],
    ['with a colon as a user of Basic', { url: origin, basic: { user: key, password: 'x' } }, 'a:b', 'colon'],
    ['as a step up in the path', { url: `${origin}/a/${key}/b` }, '..', '".."'],
    ['as half a surrogate pair', { url: `${origin}/a/${key}` }, '\ud800', 'not well-formed'],
    ['as half a surrogate pair in a query', { url: origin, query: { q: key } }, '\ud800', 'not well-formed'],
  ] satisfies [string, WrittenRequest, string, string][])('%s', (_name, request, value, reason) => {
    const result = send(request, value);
    expect(result).toMatchObject({ credential: 'key', reason: expect.stringContaining(reason) });
    if (value.length > 2) expect(JSON.stringify(result)).not.toContain(value.trim());
  });

  test('that is missing', () => {
    expect(prepareRequest(describeRequest({ url: `${origin}/${key}` }), {})).toEqual({
      credential: 'key',
      reason: 'the credential "key" is missing',
    });
  });
});

describe('a request', () => {
  test('names its credentials, each once, in order', () => {
    const request = describeRequest({
      url: `${origin}/{{credentials.sid}}/x`,
      query: { a: '{{ credentials.sid }}' },
      basic: { user: '{{credentials.sid}}', password: '{{credentials.token}}' },
    });
    expect(credentialNames(request)).toEqual(['sid', 'token']);
  });

  test('goes to another base address with its own path', () => {
    const { url } = sent({ url: `${origin}/v1/balance?k=${key}` }, 'x', 'http://127.0.0.1:9000/gateway/');
    expect(url.href).toBe('http://127.0.0.1:9000/gateway/v1/balance?k=x');
  });

  test('goes to the root where its address has no path', () => {
    expect(sent({ url: 'https://api.example.net:8443?a=1' }, 'x').url.href).toBe(
      'https://api.example.net:8443/?a=1',
    );
  });

  test('prints no credential', () => {
    const prepared = prepareRequest(
      describeRequest({ url: `${origin}/${key}?k=${key}`, headers: { a: key }, method: 'POST', json: key }),
      { key: new Secret('very-secret') },
    );
    expect(JSON.stringify(prepared)).not.toContain('very-secret');
  });
});
