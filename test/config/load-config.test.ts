import { expect, test } from 'vitest';
import { loadValid, placeholder, sample, sampleSecrets } from './sample.ts';

const minimal = {
  provider: { baseUrl: 'https://api.example.com/' },
  accounts: [{ id: 'otp', authSecret: placeholder('env:OTP_AUTH_SECRET') }],
  channels: { ops: { type: 'slack', webhookUrl: placeholder('env:SLACK_WEBHOOK_URL') } },
};

test('provider address, one account and one channel are enough; the rest has defaults', () => {
  const { settings, warnings } = loadValid(minimal);
  expect(warnings).toEqual([]);
  expect(settings).toMatchObject({
    provider: {
      timeoutMs: 10_000,
      maxRequestsPerSecond: 1,
      allowInsecureHttp: false,
      backoff: { initialMs: 30_000, maxMs: 3_600_000 },
    },
    accounts: [
      {
        id: 'otp',
        name: 'otp',
        baseUrl: 'https://api.example.com',
        currency: null,
        labels: {},
        poll: { kind: 'every', everyMs: 300_000 },
      },
    ],
    routes: [
      {
        match: {},
        channels: ['ops'],
        repeatEveryMs: null,
        groupWaitMs: 5000,
        escalate: null,
        continue: false,
      },
    ],
    silences: [],
    reports: [],
    server: {
      host: '127.0.0.1',
      port: 8080,
      publicUrl: null,
      token: null,
      allowUnauthenticated: false,
      openMetrics: false,
      viewerToken: null,
      trustedProxy: null,
    },
    heartbeat: null,
    storage: { path: '/etc/lowwater/lowwater.db', retentionMs: 400 * 86_400_000 },
    log: { level: 'info' },
    timezone: 'UTC',
  });
  expect(settings.rules.map(({ id, type, severity, builtIn }) => [id, type, severity, builtIn])).toEqual([
    ['sms-negative', 'negative', 'critical', true],
    ['late-top-up', 'late-top-up', 'warning', true],
    ['stale', 'stale', 'warning', true],
    ['auth-failed', 'auth-failed', 'critical', true],
  ]);
});

test('secrets are read from the environment and from files next to the configuration', () => {
  const { settings } = loadValid(sample());
  expect(settings.accounts.map(({ credentials }) => credentials.authSecret?.reveal())).toEqual([
    sampleSecrets.OTP_AUTH_SECRET,
    'marketing-key-77aa01',
  ]);
});

test('secrets show as a placeholder wherever settings are printed', () => {
  const { settings } = loadValid(sample());
  for (const value of Object.values(sampleSecrets)) expect(JSON.stringify(settings)).not.toContain(value);
});

test('every secret text is listed for the scrubber, the password of an address included', () => {
  const { secrets } = loadValid(sample());
  expect(secrets).toEqual(
    expect.arrayContaining([
      sampleSecrets.OTP_AUTH_SECRET,
      'marketing-key-77aa01',
      sampleSecrets.SLACK_WEBHOOK_URL,
      '/services/T0001/B0001/slackcredential9',
      sampleSecrets.SMTP_URL,
      'mail@word77',
      'mail%40word77',
      sampleSecrets.LOWWATER_TOKEN,
    ]),
  );
});

test.each([
  ['a number', 500, 500_000_000],
  ['a fraction', 12.5, 12_500_000],
  ['a decimal in a string', '50.00', 50_000_000],
  ['a placeholder', placeholder('env:LIMIT:-200'), 200_000_000],
  ['an overdraft', -100, -100_000_000],
  ['an exponent', 1e3, 1_000_000_000],
])('a threshold may be %s', (_, threshold, micros) => {
  const { settings } = loadValid({ ...sample(), rules: [{ id: 'low', type: 'below', threshold }] });
  expect(settings.rules[0]).toMatchObject({ thresholds: { warning: micros } });
});

test('amounts are exact to the last digit that a file can hold, beyond what a binary float keeps', () => {
  const text = JSON.stringify(sample()).replace('"threshold":100', '"threshold":8999999999.000003');
  expect(String(Number('8999999999.000003'))).not.toBe('8999999999.000003');
  const { settings } = loadValid(text);
  expect(settings.rules[0]).toMatchObject({ thresholds: { warning: 8_999_999_999_000_003 } });
});

test('a rate is taken with all the decimals that a spreadsheet writes', () => {
  const written = '{"currency":"EUR","rates":{"date":"2026-11-20","CNY":0.12106537530266344}}';
  const text = JSON.stringify({ ...sample(), money: 'here' }).replace('"here"', written);
  expect(loadValid(text).settings.money?.rates?.amounts).toEqual({ CNY: '0.12106537530266344' });
});

test('a string that is one placeholder may stand for a number, true or false', () => {
  const config = sample();
  Object.assign(config.server, {
    port: placeholder('env:PORT'),
    allowUnauthenticated: placeholder('env:OPEN'),
  });
  Object.assign(config.provider, { maxRequestsPerSecond: placeholder('env:RATE:-0.5') });
  const { settings } = loadValid(config, { env: { ...sampleSecrets, PORT: '9000', OPEN: 'true' } });
  expect(settings.server).toMatchObject({ port: 9000, allowUnauthenticated: true });
  expect(settings.provider.maxRequestsPerSecond).toBe(0.5);
});

test('an empty token is none', () => {
  const config = { ...sample(), server: { token: placeholder('env:NONE:-') } };
  expect(loadValid(config).settings.server?.token).toBeNull();
});

test('the server is switched off by null', () => {
  expect(loadValid({ ...sample(), server: null }).settings.server).toBeNull();
});

test('the time zone of the file goes for cron expressions that name none', () => {
  const { settings } = loadValid({
    ...sample(),
    timezone: 'Europe/Berlin',
    poll: { cron: '*/5 * * * *' },
    silences: [{ match: { account: 'otp' }, cron: '0 2 * * 0', timezone: 'UTC', duration: '2h' }],
    reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['ops'] }],
  });
  expect(settings.timezone).toBe('Europe/Berlin');
  expect(settings.accounts[0]?.poll).toEqual({
    kind: 'cron',
    cron: '*/5 * * * *',
    timezone: 'Europe/Berlin',
  });
  expect(settings.reports[0]?.timezone).toBe('Europe/Berlin');
  expect(settings.silences[0]?.timezone).toBe('UTC');
});

test('single values and lists in a match mean the same', () => {
  const { settings } = loadValid({
    ...sample(),
    routes: [
      {
        match: {
          account: 'otp',
          rule: ['sms-low', 'stale', 'storage-failed'],
          severity: 'critical',
          labels: { team: 'identity' },
        },
        channels: ['ops'],
      },
      { match: { account: ['@lowwater', '@provider:api.example.com'] }, channels: ['finance'] },
      { channels: ['ops', 'finance'] },
    ],
  });
  expect(settings.routes.map(({ match }) => match)).toEqual([
    {
      account: ['otp'],
      rule: ['sms-low', 'stale', 'storage-failed'],
      severity: ['critical'],
      labels: { team: ['identity'] },
    },
    { account: ['@lowwater', '@provider:api.example.com'] },
    {},
  ]);
});

test('currencies in a match are read as accounts have them, and what is left out stands under not', () => {
  const config = sample();
  Object.assign(config.accounts[0] ?? {}, { currency: 'RMB' });
  config.rules = [
    { id: 'low', type: 'below', threshold: 1, match: { currency: ' rmb', not: { provider: 'provider' } } },
  ];
  const { settings } = loadValid(config);
  expect(settings.rules[0]?.match).toEqual({ currency: ['CNY'], not: { provider: ['provider'] } });
});

test('every rule type has the defaults of the contract', () => {
  const { settings } = loadValid({
    ...sample(),
    rules: [
      { id: 'a', type: 'below', threshold: 1 },
      {
        id: 'b',
        type: 'below',
        thresholds: { info: 3, warning: 2 },
        hysteresis: '10%',
        for: '5m',
        recoverFor: '1m',
      },
      { id: 'c', type: 'negative', balance: 'voip' },
      { id: 'd', type: 'runway', within: '3d' },
      { id: 'e', type: 'runway', thresholds: { critical: '1d' }, lookback: '30m', minimumHistory: '10m' },
      { id: 'f', type: 'drop', by: '12.5%', window: '1h' },
      { id: 'g', type: 'idle', window: '1h' },
      { id: 'h', type: 'top-up' },
      { id: 'i', type: 'currency', match: { labels: { team: 'identity' } } },
      { id: 'j', type: 'stale' },
      { id: 'k', type: 'auth-failed' },
    ],
  });
  const base = { forMs: 0, recoverForMs: 0, match: {}, builtIn: false, balance: null };
  const money = { ...base, balance: 'sms' };
  const none = { kind: 'amount', micros: 0 };
  expect(settings.rules.filter((rule) => !rule.builtIn)).toMatchObject([
    { ...money, id: 'a', type: 'below', severity: 'warning', thresholds: { warning: 1e6 }, hysteresis: none },
    {
      ...money,
      id: 'b',
      type: 'below',
      severity: 'warning',
      thresholds: { info: 3e6, warning: 2e6 },
      hysteresis: { kind: 'share', share: 0.1 },
      forMs: 300_000,
      recoverForMs: 60_000,
    },
    { ...money, id: 'c', type: 'negative', severity: 'critical', balance: 'voip', hysteresisMicros: 0 },
    {
      ...money,
      id: 'd',
      type: 'runway',
      severity: 'warning',
      thresholds: { warning: 3 * 86_400_000 },
      floorMicros: null,
      lookbackMs: null,
      minimumHistoryMs: 3_600_000,
      minimumHistoryGiven: false,
    },
    {
      ...money,
      id: 'e',
      type: 'runway',
      severity: 'critical',
      thresholds: { critical: 86_400_000 },
      floorMicros: null,
      lookbackMs: 1_800_000,
      minimumHistoryMs: 600_000,
      minimumHistoryGiven: true,
    },
    {
      ...money,
      id: 'f',
      type: 'drop',
      severity: 'warning',
      by: { kind: 'share', share: 0.125 },
      windowMs: 3_600_000,
    },
    { ...money, id: 'g', type: 'idle', severity: 'warning', windowMs: 3_600_000 },
    { ...money, id: 'h', type: 'top-up', severity: 'info', atLeastMicros: 10_000 },
    { ...base, id: 'i', type: 'currency', severity: 'critical', match: { labels: { team: ['identity'] } } },
    { ...base, id: 'j', type: 'stale', severity: 'warning', afterMs: null },
    { ...base, id: 'k', type: 'auth-failed', severity: 'critical' },
  ]);
});

test('channels of every type are understood', () => {
  const { settings } = loadValid({
    ...sample(),
    channels: {
      ops: { type: 'slack', webhookUrl: 'http://127.0.0.1:9999/hook' },
      finance: {
        type: 'email',
        smtpUrl: 'smtp://mail.example.com',
        from: 'lowwater@example.com',
        to: ['"Doe, Jane" <jane@example.com>'],
        allowInsecure: true,
        oauth2: {
          user: 'lowwater@example.com',
          clientId: 'app',
          clientSecret: 'client-secret-1',
          refreshToken: 'refresh-token-1',
          accessUrl: 'https://login.example.com/token',
        },
      },
      hook: { type: 'webhook', url: 'https://example.com/in?key=1', secret: placeholder('env:HOOK_SECRET') },
    },
    routes: [],
  });
  expect(settings.channels).toMatchObject([
    { type: 'slack', name: 'ops' },
    {
      type: 'email',
      name: 'finance',
      from: { name: '', address: 'lowwater@example.com' },
      to: [{ name: 'Doe, Jane', address: 'jane@example.com' }],
      allowInsecure: true,
      oauth2: { user: 'lowwater@example.com', clientId: 'app', accessUrl: 'https://login.example.com/token' },
    },
    { type: 'webhook', name: 'hook' },
  ]);
  expect(settings.routes[0]?.channels).toEqual(['ops', 'finance', 'hook']);
});

test.each(['http://localhost:9080', 'http://127.0.0.1', 'http://[::1]:9080'])(
  'a provider at %s needs no permission for http',
  (baseUrl) => {
    expect(loadValid({ ...sample(), provider: { baseUrl } }).warnings).toEqual([]);
  },
);

test('http to another machine is possible with permission, and warned of', () => {
  const provider = { baseUrl: 'http://provider.internal', allowInsecureHttp: true };
  expect(loadValid({ ...sample(), provider }).warnings).toMatchObject([
    { path: 'provider.allowInsecureHttp', message: 'secrets of accounts travel unencrypted over http://' },
  ]);
});

test('no address for all is needed where every account has its own', () => {
  const config = sample();
  config.provider = {};
  for (const account of config.accounts) account.baseUrl = 'https://eu.example.com/api/';
  expect(loadValid(config).settings.accounts[0]?.baseUrl).toBe('https://eu.example.com/api');
});

test('it is known where a key stands, and what a channel takes from the environment', () => {
  const { settings } = loadValid({
    ...sample(),
    accounts: [...sample().accounts, { id: 'plain', authSecret: 'a-key-in-the-file-itself' }],
  });
  expect(settings.accounts.map(({ id, keyFrom }) => [id, keyFrom])).toEqual([
    ['otp', { kind: 'environment', name: 'OTP_AUTH_SECRET' }],
    ['marketing', { kind: 'file', path: 'secrets/marketing' }],
    ['plain', null],
  ]);
  expect(settings.channels.map(({ name, valuesFrom }) => [name, valuesFrom])).toEqual([
    ['ops', { kind: 'environment', name: 'SLACK_WEBHOOK_URL' }],
    ['finance', { kind: 'environment', name: 'SMTP_URL' }],
  ]);
});

test('a key is traced through a file of accounts', () => {
  const text = JSON.stringify([{ id: 'far', authSecret: placeholder('file:far.key') }]);
  const { settings } = loadValid(
    { ...sample(), accounts: { files: 'accounts.d/*.json' } },
    {
      files: {
        '/etc/lowwater/accounts.d/a.json': { text },
        '/etc/lowwater/far.key': { text: 'far-key-99' },
      },
    },
  );
  expect(settings.accounts[0]?.keyFrom).toEqual({ kind: 'file', path: 'far.key' });
});
