import { expect, it } from 'vitest';
import { formatProblem } from '../../src/config/config-problem.ts';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { load, loadValid, placeholder, sample, sampleSecrets } from './sample.ts';

const gateway = {
  type: 'http-json',
  request: { url: 'https://sms.example.net/wallet?user={{credentials.user}}' } as Record<string, unknown>,
  balances: [{ id: 'main', amount: '$.balance' }],
  currency: { fixed: 'EUR' },
};

/** The sample with an entry of its own for an account. */
function withEntry(entry: object, account: object = {}) {
  const { accounts, ...rest } = sample();
  const own = { id: 'own', provider: 'gateway', credentials: { user: 'someone-4711' }, ...account };
  return { ...rest, accounts: [...accounts, own], providers: { gateway: entry } };
}

it('what a placeholder puts into a request outside of credentials is kept secret, and warned of', () => {
  const request = {
    ...gateway.request,
    bearer: placeholder('env:GATEWAY_KEY'),
    query: { key: `v-${placeholder('file:key')}`, version: placeholder('env:V') },
  };
  const { secrets, warnings } = loadValid(withEntry({ ...gateway, request }), {
    env: { ...sampleSecrets, GATEWAY_KEY: 'gateway-key-1', V: 'v1' },
    files: { '/etc/lowwater/key': { text: 'key-of-a-file\n' } },
  });
  expect(secrets).toEqual(expect.arrayContaining(['gateway-key-1', 'key-of-a-file', 'someone-4711']));
  expect(secrets).not.toContain('v1');
  expect(warnings.map(formatProblem)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^providers\.gateway\.request\.bearer \(.*credentials/)]),
  );
});

it('what is written out where a request has nothing but a secret is kept secret, and warned of', () => {
  const password = 'written-password-7';
  const requests = {
    bearer: { bearer: 'written-bearer-7' },
    'basic.password': { basic: { user: 'someone', password } },
    'headers.Authorization': { headers: { Authorization: 'Key written-header-7' } },
    'form.password': { method: 'POST', form: { password } },
    'headers.X-Api-Key': { headers: { 'X-Api-Key': 'written-key-7' } },
    'query.access_token': { query: { access_token: 'written-token-7' } },
    url: { url: `${gateway.request.url}&apikey=written-key-7` },
  };
  for (const [place, own] of Object.entries(requests)) {
    const { secrets, warnings } = loadValid(
      withEntry({ ...gateway, request: { ...gateway.request, ...own } }),
    );
    expect(secrets.filter((each) => each.startsWith('written-'))).toHaveLength(1);
    expect(warnings.map(({ path, message }) => `${path}: ${message}`)).toContainEqual(
      expect.stringMatching(new RegExp(`^providers\\.gateway\\.request\\.${place}: a secret belongs into`)),
    );
  }
  const filled = { bearer: '{{credentials.user}}', form: { password: 'none' }, method: 'POST' };
  const { warnings } = loadValid(withEntry({ ...gateway, request: { ...gateway.request, ...filled } }));
  expect(warnings.filter(({ message }) => message.includes('belongs into'))).toEqual([]);
});

it.each([
  [['euros'], 'providers.gateway.currency.map'],
  [{ euros: 978 }, 'providers.gateway.currency.map.euros'],
])('words of a currency that are no texts are refused in words of ours (%j)', (map, path) => {
  const loaded = load(withEntry({ ...gateway, currency: { path: '$.c', map } }));
  expect(loaded).toMatchObject({
    kind: 'invalid',
    problems: [{ path, message: expect.stringMatching(/^must be an object of texts/) }],
  });
});

it('validate shows where accounts of a described provider are asked', () => {
  const { accounts } = describeSettings(loadValid(withEntry(gateway)).settings);
  expect(accounts.at(-1)).toMatchObject({ baseUrl: 'https://sms.example.net' });
});

it('a credit limit comes from the provider only where its answers say one that the balances do not include', () => {
  const facts = (included: boolean) => ({ ...gateway, facts: { creditLimit: { amount: '$.c', included } } });
  const account = { creditLimit: 'provider' };
  const { settings } = loadValid(withEntry(facts(false), account));
  expect(settings.accounts.at(-1)?.creditLimitMicros).toBeNull();
  for (const entry of [gateway, facts(true)]) {
    const loaded = load(withEntry(entry, account));
    expect(loaded).toMatchObject({ kind: 'invalid', problems: [{ path: 'accounts[2].creditLimit' }] });
  }
});

it('an account at an unencrypted address goes by what its own entry allows, and the warning stands there', () => {
  const keys = {
    baseUrl: 'http://provider.internal',
    authSecret: 'key-of-the-account',
    credentials: undefined,
  };
  const own = { baseUrl: 'https://other.example.com' };
  expect(load(withEntry(own, keys))).toMatchObject({
    problems: [{ message: expect.stringContaining('providers.gateway.allowInsecureHttp') }],
  });
  const lax = sample();
  lax.provider.allowInsecureHttp = true;
  expect(load({ ...withEntry(own, keys), provider: lax.provider })).toMatchObject({ kind: 'invalid' });
  const { warnings } = loadValid(withEntry({ ...own, allowInsecureHttp: true }, keys));
  expect(warnings).toContainEqual(
    expect.objectContaining({
      path: 'providers.gateway.allowInsecureHttp',
      message: expect.stringContaining('unencrypted'),
    }),
  );
});

it('an account whose readings are pushed is warned of where nothing takes them, and loads as in 0.3.0', () => {
  const pushed = withEntry({ type: 'pushed' }, { credentials: undefined });
  const switchedOff = { path: 'accounts[2].provider', message: expect.stringContaining('"server": null') };
  expect(loadValid({ ...pushed, server: null }).warnings).toContainEqual(
    expect.objectContaining(switchedOff),
  );
  for (const server of [{}, undefined])
    expect(loadValid({ ...pushed, server }).warnings).not.toContainEqual(
      expect.objectContaining(switchedOff),
    );
});

it('accounts whose readings are pushed are warned of no load on a provider that nobody asks, however many they are', () => {
  const { accounts: polled, ...config } = withEntry({ type: 'pushed' }, { credentials: undefined });
  const [pushed] = polled.slice(2);
  const accounts = Array.from({ length: 60 }, (_, index) => ({ ...pushed, id: `pushed-${index}` }));
  const paths = loadValid({ ...config, poll: { every: '20s' }, accounts }).warnings.map(({ path }) => path);
  expect(paths).not.toContain('poll.every');
  expect(paths).not.toContain('providers.gateway.maxRequestsPerSecond');
});

it.each([
  'storage-failed:otp',
  'storage-failed:@records',
  'cluster-degraded:clock',
  'channel-failed:ops',
  'sms-negative',
])('routes and silences may name lowwater’s own alert %s', (rule) => {
  const routes = [{ match: { rule }, channels: ['ops'] }];
  expect(load({ ...sample(), routes, silences: undefined }).kind).toBe('loaded');
});

it('what is wrong with one step of a signature is said where it stands, once it is clear which step is meant', () => {
  const sign = {
    hash: { hash: 'sha3', of: 'x' },
    hmac: { hmac: 'sha1', of: '{{request.query}}' },
    parts: { hmac: 'sha1', key: [7], of: 'x' },
    empty: {},
  };
  const loaded = load(withEntry({ ...gateway, sign }));
  const said = loaded.kind === 'invalid' ? loaded.problems.map(formatProblem) : [];
  expect(said.map((problem) => problem.replace(/ \(.*?\)/, ''))).toEqual([
    expect.stringMatching(/sign\.hash\.hash: must be "md5", "sha1", "sha256" or "sha512"/),
    expect.stringMatching(/sign\.hmac\.key: is missing; must be a string or a list of strings/),
    expect.stringMatching(/sign\.parts\.key: must be a string or a list of strings/),
    expect.stringMatching(/sign\.empty: must be a step with "time", /),
  ]);
});
