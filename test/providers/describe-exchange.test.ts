import { expect, test } from 'vitest';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { Secret } from '../../src/domain/secret.ts';
import { describeExchange } from '../../src/providers/describe-exchange.ts';
import { descriptionSchema } from '../../src/providers/http-json/description.ts';
import { httpJsonKind } from '../../src/providers/http-json/http-json-kind.ts';
import { prepareRequest } from '../../src/providers/http-json/prepare-request.ts';
import { makeProvider } from '../support/settings.ts';

/** What a URL, a form, JSON and a header each write in another way, and a line break where that may stand. */
const values = [
  'a&b=c/d?e#f',
  'quote " and \\',
  '100%41!',
  "it's (a) *star*",
  'päß wörd+',
  '{{credentials.n}}',
  '..;/../',
];

const request = descriptionSchema.parse({
  request: {
    method: 'POST',
    url: 'https://sms.example.net/w/{{credentials.n}}/{{credentials.key}}/x?a={{credentials.key}}&z=zz',
    query: { q: '{{credentials.key}}' },
    basic: { user: 'me', password: '{{credentials.key}}' },
    json: { list: ['{{credentials.key}}', 7] },
  },
  balances: [{ id: 'main', amount: '$.balance' }],
  currency: { fixed: 'EUR' },
}).request;

test.each(values)(
  'the credential %j stands in a request as it is, changes nothing else, and is shown by its name',
  (value) => {
    const credentials = { n: new Secret('4'), key: new Secret(value) };
    for (const how of [
      request,
      { ...request, json: undefined, form: { k: '{{credentials.key}}', z: 'zz' } },
    ]) {
      const prepared = prepareRequest({ request: how }, credentials);
      if ('reason' in prepared) return expect.fail(prepared.reason);
      const url = new URL(prepared.url.reveal());
      expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'w', '4', value, 'x']);
      expect([...url.searchParams]).toEqual([
        ['a', value],
        ['z', 'zz'],
        ['q', value],
      ]);
      expect(url.hash).toBe('');
      const body = prepared.body?.reveal() ?? '';
      if (how.json === undefined)
        expect([...new URLSearchParams(body)]).toEqual([
          ['k', value],
          ['z', 'zz'],
        ]);
      else expect(JSON.parse(body)).toEqual({ list: [value, 7] });
      const account = { id: 'own', baseUrl: null, credentials };
      const texts = createForeignTexts([value]);
      const entry = makeProvider();
      const described = describeExchange({
        kind: httpJsonKind,
        entry,
        account,
        texts,
        request: prepared,
        answer: null,
        isForToken: false,
        now: 0,
      });
      expect(described.request.join('\n')).not.toContain(value);
      expect(described.request[0]).toBe('POST https://sms.example.net/w/[n]/[key]/x?a=[key]&z=zz&q=[key]');
      expect(described.request.at(-1)).toBe(how.json === undefined ? 'k=[key]&z=zz' : '{"list":["[key]",7]}');
    }
  },
);

test('a credential and a step of one name are both shown by it, not as any secret', () => {
  const { request: asked, sign } = descriptionSchema.parse({
    request: {
      url: 'https://sms.example.net/query',
      query: { p: '{{sign.password}}', q: '{{credentials.password}}' },
    },
    sign: { password: { hash: 'md5', of: '{{credentials.password}}' } },
    balances: [{ id: 'main', amount: '$' }],
    currency: { fixed: 'EUR' },
  });
  const credentials = { password: new Secret('correct horse') };
  const prepared = prepareRequest({ request: asked, sign }, credentials);
  if ('reason' in prepared) return expect.fail(prepared.reason);
  const described = describeExchange({
    kind: httpJsonKind,
    entry: makeProvider(),
    account: { id: 'own', baseUrl: null, credentials },
    texts: createForeignTexts(['correct horse']),
    request: prepared,
    answer: null,
    isForToken: false,
    now: 0,
  });
  expect(described.request).toEqual(['GET https://sms.example.net/query?p=[password]&q=[password]']);
  expect(described.signed).toEqual([{ step: 'password', text: '[password]' }]);
});
