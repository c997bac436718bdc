import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { descriptionSchema, type WrittenDescription } from '../../../src/providers/http-json/description.ts';
import { findMisplaced } from '../../../src/providers/http-json/http-json-kind.ts';
import { prepareRequest } from '../../../src/providers/http-json/prepare-request.ts';
import { readTime } from '../../../src/providers/http-json/sign.ts';

type Written = Pick<WrittenDescription, 'request' | 'sign' | 'token'>;

function describeAsking(written: Written) {
  return descriptionSchema.parse({
    ...written,
    balances: [{ id: 'main', amount: '$' }],
    currency: { fixed: 'EUR' },
  });
}

interface Signing {
  readonly credentials: Readonly<Record<string, string>>;
  /** In ISO 8601, or seconds since 1970. */
  readonly at: string | number;
  readonly nonce?: string;
}

function sign(written: Written, { credentials, at, nonce = '' }: Signing) {
  const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);
  const attempt = {
    now: typeof at === 'number' ? at * 1000 : Date.parse(at),
    random: () => Buffer.from(nonce, 'hex'),
    token: null,
  };
  const description = describeAsking(written);
  expect(findMisplaced(description)).toEqual([]);
  const request = prepareRequest(description, Object.fromEntries(secrets), attempt);
  if ('reason' in request) return expect.fail(request.reason);
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.reveal(),
  ]);
  return {
    url: request.url.reveal(),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: request.body?.reveal() ?? null,
    texts: Object.fromEntries((request.signed ?? []).map(({ step, text }) => [step, text.reveal()])),
  };
}

/** How AWS, and in its wake Tencent, Alibaba, Huawei and Volcengine put a request into one text. */
const canonical =
  '{{request.method}}\n{{request.path}}\n{{request.query}}\n{{sign.lines}}\n{{sign.lines.names}}\n{{sign.body}}';

describe('the vectors that vendors publish come out digit by digit', () => {
  test('Tencent Cloud, TC3-HMAC-SHA256', () => {
    // The body of the example has blanks that JSON does not need, so that its text is given as it stands.
    const body = '{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}';
    const { headers } = sign(
      {
        request: {
          method: 'POST',
          url: 'https://cvm.tencentcloudapi.com/',
          json: {},
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'x-tc-timestamp': '{{sign.now}}',
            authorization:
              'TC3-HMAC-SHA256 Credential={{credentials.id}}/{{sign.date}}/cvm/tc3_request, SignedHeaders={{sign.lines.names}}, Signature={{sign.signature}}',
          },
        },
        sign: {
          now: { time: 'unix' },
          date: { time: 'YYYY-MM-DD' },
          lines: { headers: ['content-type', 'host'], lowerCase: true },
          body: { hash: 'sha256', of: body },
          canonical: { hash: 'sha256', of: canonical },
          signature: {
            hmac: 'sha256',
            key: ['TC3{{credentials.key}}', '{{sign.date}}', 'cvm', 'tc3_request'],
            of: 'TC3-HMAC-SHA256\n{{sign.now}}\n{{sign.date}}/cvm/tc3_request\n{{sign.canonical}}',
          },
        },
      },
      {
        credentials: { id: 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE', key: 'Gu5t9xGARNpq86cd98joQYCN3EXAMPLE' },
        at: 1551113065,
      },
    );
    expect(headers['x-tc-timestamp']).toBe('1551113065');
    expect(headers.authorization).toBe(
      'TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host, Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
    );
  });

  test('Alibaba Cloud, ACS3-HMAC-SHA256', () => {
    const { headers } = sign(
      {
        request: {
          method: 'POST',
          url: 'https://ecs.cn-shanghai.aliyuncs.com/',
          query: {
            RegionId: 'cn-shanghai',
            ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd',
          },
          headers: {
            'x-acs-action': 'RunInstances',
            'x-acs-version': '2014-05-26',
            'x-acs-date': '{{sign.now}}',
            'x-acs-signature-nonce': '{{sign.nonce}}',
            'x-acs-content-sha256': '{{sign.body}}',
            authorization:
              'ACS3-HMAC-SHA256 Credential={{credentials.id}},SignedHeaders={{sign.lines.names}},Signature={{sign.signature}}',
          },
        },
        sign: {
          now: { time: 'YYYY-MM-DDTHH:mm:ssZ' },
          nonce: { nonce: 32 },
          body: { hash: 'sha256', of: '{{request.body}}' },
          lines: {
            headers: [
              'host',
              'x-acs-action',
              'x-acs-content-sha256',
              'x-acs-date',
              'x-acs-signature-nonce',
              'x-acs-version',
            ],
          },
          canonical: { hash: 'sha256', of: canonical },
          signature: {
            hmac: 'sha256',
            key: '{{credentials.key}}',
            of: 'ACS3-HMAC-SHA256\n{{sign.canonical}}',
          },
        },
      },
      {
        credentials: { id: 'YourAccessKeyId', key: 'YourAccessKeySecret' },
        at: '2023-10-26T10:22:32Z',
        nonce: '3156853299f313e23d1673dc12e1703d',
      },
    );
    expect(headers['x-acs-date']).toBe('2023-10-26T10:22:32Z');
    expect(headers.authorization).toBe(
      'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
    );
  });

  test('Huawei Cloud, SDK-HMAC-SHA256, whose path ends in a slash', () => {
    const { headers } = sign(
      {
        request: {
          url: 'https://service.region.example.com/v1/77b6a44cba5143ab91d13ab9a8ff44fd/vpcs?limit=2&marker=13551d6b-755d-4757-b956-536f674975c0',
          headers: {
            'content-type': 'application/json',
            'x-sdk-date': '{{sign.now}}',
            authorization:
              'SDK-HMAC-SHA256 Access={{credentials.ak}}, SignedHeaders={{sign.lines.names}}, Signature={{sign.signature}}',
          },
        },
        sign: {
          now: { time: 'YYYYMMDDTHHmmssZ' },
          lines: { headers: ['content-type', 'host', 'x-sdk-date'] },
          body: { hash: 'sha256', of: '{{request.body}}' },
          canonical: { hash: 'sha256', of: canonical.replace('request.path', 'request.pathWithSlash') },
          signature: {
            hmac: 'sha256',
            key: '{{credentials.sk}}',
            of: 'SDK-HMAC-SHA256\n{{sign.now}}\n{{sign.canonical}}',
          },
        },
      },
      {
        credentials: { ak: 'QTWAOYTTINDUT2QVKYUC', sk: 'MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc' },
        at: '2019-11-15T03:36:55Z',
      },
    );
    expect(headers['x-sdk-date']).toBe('20191115T033655Z');
    expect(headers.authorization).toBe(
      'SDK-HMAC-SHA256 Access=QTWAOYTTINDUT2QVKYUC, SignedHeaders=content-type;host;x-sdk-date, Signature=7be6668032f70418fcc22abc52071e57aff61b84a1d2381bb430d6870f4f6ebe',
    );
  });

  test.each([
    ['', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['%E1%88%B4', '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
    ['?%E1%88%B4=bar', '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
    ['?Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
    ['?Param1=value2&Param1=value1', '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694'],
    [
      '?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
      '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
    ],
  ])('AWS Signature Version 4, which Volcengine signs like, of /%s', (address, signature) => {
    const { headers, texts } = sign(
      {
        request: {
          url: `https://example.amazonaws.com/${address}`,
          headers: {
            'x-amz-date': '{{sign.now}}',
            authorization:
              'AWS4-HMAC-SHA256 Credential={{credentials.id}}/{{sign.scope}}, SignedHeaders={{sign.lines.names}}, Signature={{sign.signature}}',
          },
        },
        sign: {
          now: { time: 'YYYYMMDDTHHmmssZ' },
          date: { time: 'YYYYMMDD' },
          scope: { text: '{{sign.date}}/us-east-1/service/aws4_request' },
          lines: { headers: ['host', 'x-amz-date'] },
          body: { hash: 'sha256', of: '{{request.body}}' },
          canonical: { hash: 'sha256', of: canonical },
          signature: {
            hmac: 'sha256',
            key: ['AWS4{{credentials.key}}', '{{sign.date}}', 'us-east-1', 'service', 'aws4_request'],
            of: 'AWS4-HMAC-SHA256\n{{sign.now}}\n{{sign.scope}}\n{{sign.canonical}}',
          },
        },
      },
      {
        credentials: { id: 'AKIDEXAMPLE', key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
        at: '2015-08-30T12:36:00Z',
      },
    );
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    );
    if (address !== '') return;
    expect(texts.canonical).toBe(
      'GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  test('OVH, a SHA-1 of everything', () => {
    const { headers } = sign(
      {
        request: {
          url: 'https://eu.api.ovh.com/1.0/domains/',
          headers: {
            'x-ovh-timestamp': '{{sign.now}}',
            'x-ovh-signature': ['$1$', '{{sign.signature}}'].join(''),
          },
        },
        sign: {
          now: { time: 'unix' },
          signature: {
            hash: 'sha1',
            of: '{{credentials.secret}}+{{credentials.consumer}}+{{request.method}}+{{request.url}}+{{request.body}}+{{sign.now}}',
          },
        },
      },
      {
        credentials: {
          secret: 'EXEgWIz07P0HYwtQDs7cNIqCiQaWSuHF',
          consumer: 'MtSwSrPpNjqfVSmJhLbPyr2i45lSwPU1',
        },
        at: 1366560945,
      },
    );
    expect(headers['x-ovh-signature']).toBe('$1$d3705e8afb27a0d2970a322b96550abfc67bb798');
  });

  test('Montnets, an MD5 with a time in China', () => {
    const { body } = sign(
      {
        request: {
          method: 'POST',
          url: 'https://sms.example.net/get_balance',
          json: {
            userid: '{{credentials.userid}}',
            pwd: '{{sign.password}}',
            timestamp: '{{sign.now}}',
          },
        },
        sign: {
          now: { time: 'MMDDHHmmss', utcOffset: 8 },
          password: { hash: 'md5', of: '{{credentials.userid}}00000000{{credentials.password}}{{sign.now}}' },
        },
      },
      { credentials: { userid: 'J10003', password: '111111' }, at: '2026-08-03T11:20:20Z' },
    );
    expect(JSON.parse(body ?? '')).toEqual({
      userid: 'J10003',
      pwd: '26dad7f364507df18f3841cc9c4ff94d',
      timestamp: '0803192020',
    });
  });
});

describe('a signature', () => {
  test('in the query is of the parameters without it, sorted and encoded by RFC 3986', () => {
    const { url, texts } = sign(
      {
        request: {
          url: 'https://api.example.net/iaas/?z=1',
          query: { b: "it's (b)*", a: 'ü {{credentials.id}}', signature: '{{sign.signature}}' },
        },
        sign: { signature: { hmac: 'sha256', key: 'k', of: '{{request.query}}', as: 'base64' } },
      },
      { credentials: { id: 'A+/=' }, at: 0 },
    );
    expect(texts.signature).toBe('a=%C3%BC%20A%2B%2F%3D&b=it%27s%20%28b%29%2A&z=1');
    expect(new URL(url).searchParams.get('signature')).toMatch(/^[\w+/]{43}=$/);
  });

  test('may be of every part of the request', () => {
    const parts = ['method', 'url', 'host', 'hostname', 'path', 'pathWithSlash', 'query', 'body'];
    const { texts } = sign(
      {
        request: { method: 'POST', url: 'https://api.example.net:8443/a%20b?y=2&x=1', json: { k: 1 } },
        sign: { s: { hash: 'md5', of: parts.map((part) => `{{request.${part}}}`).join(' ') } },
      },
      { credentials: {}, at: 0 },
    );
    expect(texts.s?.split(' ')).toEqual([
      'POST',
      'https://api.example.net:8443/a%20b?y=2&x=1',
      'api.example.net:8443',
      'api.example.net',
      '/a%20b',
      '/a%20b/',
      'x=1&y=2',
      '{"k":1}',
    ]);
  });

  test('is written as its vendor reads it', () => {
    const as = (encoding: 'hex' | 'HEX' | 'base64' | 'base64-of-hex') =>
      sign(
        {
          request: { url: 'https://api.example.net/', headers: { s: '{{sign.s}}' } },
          sign: { s: { hash: 'md5', of: '', as: encoding } },
        },
        { credentials: {}, at: 0 },
      ).headers.s;
    expect([as('hex'), as('HEX'), as('base64'), as('base64-of-hex')]).toEqual([
      'd41d8cd98f00b204e9800998ecf8427e',
      'D41D8CD98F00B204E9800998ECF8427E',
      '1B2M2Y8AsgTpgAmY7PhCfg==',
      'ZDQxZDhjZDk4ZjAwYjIwNGU5ODAwOTk4ZWNmODQyN2U=',
    ]);
  });

  test.each([
    ['unix', 0, '1772536825'],
    ['millis', 0, '1772536825123'],
    ['http', 0, 'Tue, 03 Mar 2026 11:20:25 GMT'],
    ['YYYY-MM-DD HH:mm:ss', 8, '2026-03-03 19:20:25'],
    ['YYYYMMDDHHmmss', -5, '20260303062025'],
    ['MMDDHHmmss', 14, '0304012025'],
  ] as const)(
    'writes %s at %i hours from UTC, and the simulator reads it back',
    (time, utcOffset, written) => {
      const at = Date.parse('2026-03-03T11:20:25.123Z');
      const { headers } = sign(
        {
          request: { url: 'https://api.example.net/', headers: { t: '{{sign.t}}' } },
          sign: { t: { time, utcOffset } },
        },
        { credentials: {}, at: at / 1000 },
      );
      expect(headers.t).toBe(written);
      expect(Math.floor((readTime(written, { time, utcOffset }, at) ?? 0) / 1000)).toBe(
        Math.floor(at / 1000),
      );
    },
  );

  test.each([
    ['that the request does not have', { a: { headers: ['host', 'x-dat'] } }, 'x-dat'],
    ['that is sent by itself', { a: { headers: ['accept'] } }, 'accept'],
    ['that holds a later step', { a: { headers: ['x-date'] }, b: { time: 'unix' } }, 'x-date'],
    ['of a body that there is not', { a: { headers: ['content-type'] } }, 'content-type'],
  ] satisfies [string, WrittenDescription['sign'], string][])(
    'is refused with a header %s',
    (_name, steps, wrong) => {
      const request = { url: 'https://api.example.net/', headers: { 'X-Date': '{{sign.b}}' } };
      const problems = findMisplaced(describeAsking({ request, sign: { ...steps, b: { time: 'unix' } } }));
      expect(problems).toEqual([
        { path: ['sign', 'a'], message: `"${wrong}" is no header of the request, or holds a later step` },
      ]);
    },
  );

  test.each([
    ['a step that comes later', { a: { text: '{{sign.b}}' }, b: { nonce: 8 } }, 'sign.b'],
    ['a step that there is not', { a: { text: '{{sign.c}}' } }, 'sign.c'],
    [
      'the names of what is no list of headers',
      { a: { text: 'x' }, b: { text: '{{sign.a.names}}' } },
      'sign.a.names',
    ],
    ['a token that nothing asks for', { a: { text: '{{token}}' } }, 'token'],
  ] satisfies [string, WrittenDescription['sign'], string][])('is refused with %s', (_name, steps, wrong) => {
    const description = describeAsking({ request: { url: 'https://api.example.net/' }, sign: steps });
    expect(findMisplaced(description).map(({ message }) => message)).toEqual([
      `{{${wrong}}} stands for nothing here`,
    ]);
  });

  test('of an address that holds it itself is refused', () => {
    const description = describeAsking({
      request: { url: 'https://api.example.net/{{sign.a}}' },
      sign: { a: { hash: 'md5', of: '{{request.url}}' } },
    });
    expect(findMisplaced(description)).toHaveLength(1);
  });

  test.each([
    ['a form of time', { a: { time: 'hh:mm' } }],
    ['a hash', { a: { hash: 'crc32', of: 'x' } }],
    ['a step', { a: {} }],
    ['a name', { 'a.b': { nonce: 8 } }],
  ])('with %s that is not known is no description', (_name, steps) => {
    const written = {
      request: { url: 'https://api.example.net/' },
      sign: steps,
      balances: [{ id: 'main', amount: '$' }],
      currency: { fixed: 'EUR' },
    };
    expect(descriptionSchema.safeParse(written).success).toBe(false);
  });
});
