import { expect, test } from 'vitest';
import { loadValid, placeholder, sample, sampleSecrets } from './sample.ts';

type Sample = ReturnType<typeof sample>;
const rules =
  (...list: Record<string, unknown>[]) =>
  (config: Sample) =>
    Object.assign(config, { rules: list });
const routes =
  (...list: Record<string, unknown>[]) =>
  (config: Sample) =>
    Object.assign(config, { routes: list });
const all = { channels: ['ops', 'finance'] };

function describedOver(config: Sample, more: object): void {
  const request = { url: 'http://wallet.internal/{{credentials.key}}' };
  const balances = [{ id: 'main', amount: '$.amount' }];
  const acme = { type: 'http-json', request, balances, currency: { unit: 'points' }, ...more };
  Object.assign(config, { providers: { acme } });
  config.accounts.push({ id: 'acme', provider: 'acme', credentials: { key: 'acme-key' } } as never);
}

test.each<[string, (config: Sample) => unknown, string, string]>([
  [
    'a currency that does not exist',
    (c) => Object.assign(c.accounts[0] ?? {}, { currency: 'CNYY' }),
    'accounts[0].currency',
    'is not a currency code of ISO 4217; did you mean "CNY"?',
  ],
  [
    'an authorization of a described provider that is not sent',
    (c) => {
      const request = {
        url: 'https://example.net',
        bearer: '{{credentials.key}}',
        headers: { Authorization: 'x' },
      };
      const balances = [{ id: 'main', amount: '$.amount' }];
      const acme = {
        type: 'http-json',
        request,
        balances,
        currency: { unit: 'points' },
      };
      Object.assign(c, { providers: { acme } });
      c.accounts.push({ id: 'acme', provider: 'acme', credentials: { key: 'acme-key' } } as never);
    },
    'providers.acme.request.headers.Authorization',
    'is not sent: `basic` or `bearer` takes its place',
  ],
  [
    'a described provider over http:// that is never asked',
    (c) => describedOver(c, {}),
    'providers.acme.request.url',
    'is never asked: http:// would send the secret unencrypted to another machine: use https://, or set providers.acme.allowInsecureHttp to true',
  ],
  [
    'a described provider over http:// that is asked all the same',
    (c) => describedOver(c, { allowInsecureHttp: true }),
    'providers.acme.allowInsecureHttp',
    'secrets of accounts travel unencrypted over http://',
  ],
  [
    'an error of a described provider by a value that stands nowhere',
    (c) => describedOver(c, { errors: [{ status: 400, equals: 'E401', means: 'auth_failed' }] }),
    'providers.acme.errors[0].equals',
    'is not looked at: it needs `path`',
  ],
  [
    'a foreign placeholder in a header of a webhook',
    (c) =>
      Object.assign(c.channels, {
        hook: { type: 'webhook', url: 'https://hooks.example.com', headers: { authorization: '$TOKEN' } },
      }),
    'channels.hook.headers.authorization',
    'looks like a forgotten placeholder',
  ],
  [
    'a report to a tool that wakes people for everything',
    (c) => {
      const goalert = { type: 'goalert', baseUrl: 'https://goalert.example.com', token: 'key' };
      Object.assign(c.channels, { pager: goalert });
      Object.assign(c, { reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['finance', 'pager'] }] });
    },
    'reports[0].channels[1]',
    'gets no reports: they would wake people there',
  ],
  [
    'a day of rates in the future, as of a clock that was never set',
    (c) => Object.assign(c, { money: { currency: 'EUR', rates: { date: '2026-11-22', CNY: '0.121' } } }),
    'money.rates.date',
    'lies in the future: the date is wrong, or the clock of this machine is',
  ],
  [
    'a poll interval below 30 seconds',
    (c) => Object.assign(c.poll, { every: '29s' }),
    'poll.every',
    'polling more often than every 30s',
  ],
  [
    'such an interval of one account',
    (c) => Object.assign(c.accounts[0] ?? {}, { poll: { every: '10s' } }),
    'accounts[0].poll.every',
    'polling more often than every 30s',
  ],
  [
    'such an interval near the end, which many accounts may have at once',
    (c) => Object.assign(c.poll, { nearEmpty: '20s' }),
    'poll.nearEmpty',
    'polling more often than every 30s',
  ],
  [
    'two rules about how much is left of one balance',
    rules(
      { id: 'a', type: 'below', threshold: 9 },
      { id: 'b', type: 'below', threshold: 5, severity: 'critical' },
    ),
    'rules[1]',
    'watches a balance of otp, marketing as the rule a does: both alerts fire, and only the worse one is notified',
  ],
  [
    'two rules that say the same of one account',
    rules(
      { id: 'a', type: 'idle', window: '1h' },
      { id: 'b', type: 'idle', window: '1h', match: { account: 'otp' } },
      { id: 'c', type: 'idle', window: '2h' },
    ),
    'rules[1]',
    'watches a balance of otp as the rule a does: both alerts are notified',
  ],
  [
    'thresholds for a currency that no account has',
    (c) => {
      Object.assign(c.accounts[0] ?? {}, { currency: 'RMB' });
      Object.assign(c.accounts[1] ?? {}, { currency: 'eur' });
      const steps = { warning: 1 };
      rules({ id: 'a', type: 'below', thresholdsByCurrency: { CNY: steps, EUR: steps, USD: steps } })(c);
    },
    'rules[0].thresholdsByCurrency',
    'no account is in "USD"',
  ],
  [
    'accounts for whose currency a rule has no thresholds',
    (c) => {
      Object.assign(c.accounts[0] ?? {}, { currency: 'CNY' });
      rules({ id: 'a', type: 'below', thresholdsByCurrency: { CNY: { warning: 1 } } })(c);
    },
    'rules[0]',
    'has no thresholds for the currency of marketing, and does not watch that',
  ],
  [
    'a currency in a match that no account has',
    (c) => {
      Object.assign(c.accounts[0] ?? {}, { currency: 'RMB' });
      routes({ match: { not: { currency: ['cny', 'usd'] } }, ...all }, all)(c);
    },
    'routes[0].match.not.currency',
    'no account is in "USD"',
  ],
  [
    'a rule for a label that no account has',
    rules({ id: 'a', type: 'below', threshold: 1, match: { labels: { tier: '1' } } }),
    'rules[0].match.labels.tier',
    'no account has this label; there is "team"',
  ],
  [
    'labels that are one in metrics',
    (c) => {
      Object.assign(c.accounts[0] ?? {}, { labels: { team: 'identity', cost_centre: '7' } });
      Object.assign(c.accounts[1] ?? {}, { labels: { team: 'growth', 'cost-centre': '7' } });
    },
    'accounts[1].labels.cost-centre',
    'shares the name cost_centre in /metrics with "cost_centre": of an account with both only a label that is written cost_centre is shown there',
  ],
  [
    'a currency rule where no currency is given',
    rules({ id: 'a', type: 'currency' }),
    'rules[0]',
    'says nothing about accounts without a currency',
  ],
  [
    'a pause of a rule about events',
    rules({ id: 'a', type: 'top-up', for: '5m' }),
    'rules[0]',
    'for and recoverFor mean nothing here',
  ],
  [
    'staleness sooner than the next poll',
    rules({ id: 'a', type: 'stale', after: '5m' }),
    'rules[0].after',
    'is not longer than the poll interval',
  ],
  [
    'routes that leave a gap',
    routes({ ...all, match: { severity: 'critical' } }),
    'routes',
    'an alert that no route matches goes to every channel',
  ],
  [
    'a route that is never reached',
    routes({ channels: ['ops'] }, { channels: ['finance'] }),
    'routes[1]',
    'is never reached',
  ],
  [
    'a channel that nothing uses',
    routes({ channels: ['ops'] }),
    'channels.finance',
    'no route and no report uses this channel',
  ],
  [
    'a silence that begins again before it ends',
    (c) =>
      Object.assign(c, {
        silences: [{ match: { severity: 'info' }, cron: '0 22 * * *', duration: '24h', comment: 'nights' }],
      }),
    'silences[0].duration',
    'begins again before it ends',
  ],
  [
    'a short token',
    (c) => Object.assign(c.server, { token: 'short' }),
    'server.token',
    'is shorter than 16 characters',
  ],
  [
    'a server open to everybody',
    (c) => Object.assign(c, { server: { host: '0.0.0.0', allowUnauthenticated: true } }),
    'server.allowUnauthenticated',
    'everybody who reaches the server can silence alerts',
  ],
  [
    'a short token',
    (c) => Object.assign(c, { server: { token: 'short' } }),
    'server.token',
    'make one with: openssl rand -hex 24',
  ],
  ...['$OTP_SECRET', '$(OTP_SECRET)', '%OTP_SECRET%'].map(
    (text): [string, (config: Sample) => unknown, string, string] => [
      `${text} for a key`,
      (c) => Object.assign(c.accounts[0] ?? {}, { authSecret: text }),
      'accounts[0].authSecret',
      'looks like a forgotten placeholder',
    ],
  ),
  [
    'a key with a space after it',
    (c) => Object.assign(c.accounts[0] ?? {}, { authSecret: 'a-key-that-was-pasted ' }),
    'accounts[0].authSecret',
    'begins or ends with a space',
  ],
  [
    'a foreign placeholder within an address',
    (c) =>
      Object.assign(c.channels.ops ?? {}, { webhookUrl: 'https://hooks.example.com/services/$SLACK_PATH' }),
    'channels.ops.webhookUrl',
    'looks like a forgotten placeholder',
  ],
  [
    'a webhook over http',
    (c) =>
      Object.assign(c, {
        channels: { ...c.channels, hook: { type: 'webhook', url: 'http://alerts.internal/in' } },
        routes: [],
      }),
    'channels.hook.url',
    'messages travel unencrypted',
  ],
])('%s is allowed with a warning', (_, change, path, message) => {
  const config = sample();
  change(config);
  const { warnings } = loadValid(config);
  expect(warnings.map((warning) => warning.path)).toContain(path);
  expect(warnings.find((warning) => warning.path === path)?.message).toContain(message);
});

test('a secret that merely holds such characters is not warned of', () => {
  const config = sample();
  for (const text of ['pa$$word', 'a%20b%3Fc', '100%sure%', '$ecret-9']) {
    Object.assign(config.accounts[0] ?? {}, { authSecret: text });
    expect(loadValid(config).warnings).toEqual([]);
  }
});

test('what holds for many accounts is said once, with their number', () => {
  const accounts = Array.from({ length: 50 }, (_, index) => ({
    id: `a${index}`,
    authSecret: `key-of-${index}`,
    poll: { every: '10s' },
  }));
  expect(loadValid({ ...sample(), accounts }).warnings).toMatchObject([
    {
      path: 'accounts[0].poll.every',
      message: expect.stringMatching(/rate limits nearer \(so do 49 more accounts\)$/),
    },
  ]);
});

test('a label with a value that no account has is warned of', () => {
  const config = { ...sample(), routes: [{ ...all, match: { labels: { team: 'growth' } } }, all] };
  expect(loadValid(config).warnings).toMatchObject([
    { path: 'routes[0].match.labels.team', message: 'no account has this label with such a value' },
  ]);
});

test('a route or silence about the outage of a provider that no account has is warned of', () => {
  const [known, unknown] = ['@provider:api.example.com', '@provider:api.exmaple.com'];
  const match = { account: ['@lowwater', known], not: { account: [known, unknown] } };
  const config = { ...sample(), routes: [{ ...all, match }, all] };
  expect(loadValid(config).warnings).toMatchObject([
    {
      path: 'routes[0].match.not.account',
      message: `no account has a provider of such a name; there is "${known}"`,
    },
  ]);
});

test('a rule that watches no account is warned of', () => {
  const match = { account: 'marketing', labels: { team: 'identity' } };
  const config = { ...sample(), rules: [{ id: 'a', type: 'below', threshold: 1, match }] };
  expect(loadValid(config).warnings).toMatchObject([
    { path: 'rules[0]', message: 'this rule watches no account' },
  ]);
});

test('a rule that watches no account for its currency says that, and nothing of the balance that they have', () => {
  const rule = { id: 'a', type: 'below', thresholdsByCurrency: { USD: { warning: 1 } } };
  const messages = loadValid({ ...sample(), rules: [rule] }).warnings.map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining([expect.stringMatching(/^has no thresholds for the currency of/)]),
  );
  expect(messages).toContain('this rule watches no account');
});

test('of accounts that have not the balance of a rule nobody is told that it has no thresholds for their currency', () => {
  const config = sample();
  const credentials = { accountSid: 'AC0123456789abcdef0123456789abcdef', authToken: 'token-0123456789' };
  config.accounts.push({ id: 'us', provider: 'us-sms', credentials, currency: 'USD' });
  const thresholds = { warning: 9 };
  const rule = {
    id: 'a',
    type: 'below',
    balance: 'sms',
    thresholds,
    thresholdsByCurrency: { USD: thresholds },
  };
  const { warnings } = loadValid({ ...config, providers: { 'us-sms': { type: 'twilio' } }, rules: [rule] });
  expect(warnings).toEqual([]);
});

test('accounts of one secret that want more polls than the guard lets through are warned of', () => {
  const accounts = [1, 2, 3].map((number) => ({
    id: `a${number}`,
    authSecret: placeholder('env:OTP_AUTH_SECRET'),
    poll: { every: '2s' },
  }));
  const { warnings } = loadValid({ ...sample(), accounts }, { env: sampleSecrets });
  expect(warnings.map(({ path }) => path)).toContain('provider.maxRequestsPerSecond');
});

test('continuing routes cover everything together', () => {
  const config = { ...sample(), routes: [{ channels: ['ops'], continue: true }, { channels: ['finance'] }] };
  expect(loadValid(config).warnings).toEqual([]);
});

test('a silence with any hour between its runs is no cause for a warning', () => {
  const config = sample();
  Object.assign(config, {
    silences: [{ match: { severity: 'info' }, cron: '0 18 * * 1-5', duration: '25h', comment: 'evenings' }],
  });
  expect(loadValid(config).warnings).toEqual([]);
});
