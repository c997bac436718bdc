import { expect, test } from 'vitest';
import { formatPath, formatProblem } from '../../src/config/config-problem.ts';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { quoteKey } from '../../src/wording/lists.ts';
import { load, loadValid, sample } from './sample.ts';

test('what validate prints says all that an account is presented by, and what empty means for it', () => {
  const config = { ...sample(), holidays: ['2026-12-25'] };
  Object.assign(config.accounts[0] ?? {}, {
    creditLimit: 100.5,
    leadTime: '2d',
    topUpUrl: 'https://pay.example/otp',
    runbookUrl: 'https://run.example/otp',
    note: 'call Ada first',
    timezone: 'Asia/Shanghai',
    holidays: ['2027-02-06'],
    poll: { every: '5m', nearEmpty: '30s' },
  });
  const [otp, marketing] = describeSettings(loadValid(config).settings).accounts;
  expect(otp).toMatchObject({
    poll: 'every 5m, near empty every 30s',
    creditLimit: '100.5',
    leadTime: '2d',
    topUpUrl: 'https://pay.example/otp',
    runbookUrl: 'https://run.example/otp',
    note: 'call Ada first',
    timezone: 'Asia/Shanghai',
    holidays: ['2026-12-25', '2027-02-06'],
  });
  expect(marketing).toMatchObject({
    creditLimit: '0',
    leadTime: null,
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    holidays: ['2026-12-25'],
  });
});

test('what validate prints names accounts, rules, channels, routes and defaults as understood', () => {
  const config = sample();
  config.rules.push({ id: 'late', type: 'stale', after: '1h', for: '5m', match: { account: 'otp' } });
  config.routes = [
    { match: { severity: 'critical' }, channels: ['ops'], escalate: { after: '30m', channels: ['finance'] } },
    { channels: ['ops'], repeatEvery: '1h' },
  ];
  const { accounts, rules, channels, routes, settings } = describeSettings(loadValid(config).settings);
  expect(accounts[0]).toMatchObject({ id: 'otp', poll: 'every 5m', baseUrl: 'https://api.example.com' });
  expect(rules).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        id: 'late',
        accounts: ['otp'],
        condition: 'no balance read for 1h (warning); for 5m',
      }),
      expect.objectContaining({
        id: 'stale',
        builtIn: true,
        accounts: ['marketing'],
        condition: 'no balance read for 3 poll intervals, at least 2m (warning)',
      }),
    ]),
  );
  expect(channels).toEqual([
    { name: 'ops', type: 'slack', target: 'https://hooks.slack.com', language: 'en' },
    {
      name: 'finance',
      type: 'email',
      target: 'finance@example.com from Lowwater <lowwater@example.com> by smtps://mail.example.com:465',
      language: 'en',
    },
  ]);
  expect(routes).toEqual([
    {
      match: 'severity critical',
      channels: ['ops'],
      repeatEvery: 'by severity: info never, warning 1d, critical 4h',
      groupWait: '5s',
      escalate: { after: '30m', channels: ['finance'] },
      continue: false,
      mention: true,
    },
    {
      match: 'everything',
      channels: ['ops'],
      repeatEvery: '1h',
      groupWait: '5s',
      escalate: null,
      continue: false,
      mention: true,
    },
  ]);
  expect(settings).toMatchObject({
    server: '127.0.0.1 port 8080, with token',
    'storage.path': '/etc/lowwater/lowwater.db',
  });
});

test('what validate prints says in which languages people are told, whom a route mentions, and who may look', () => {
  const config = { ...sample(), language: 'es' };
  Object.assign(config.channels.ops ?? {}, { language: 'zh-CN' });
  config.routes = [{ channels: ['ops', 'finance'], mention: 'reminders' }];
  config.reports.push({ id: 'weekly', cron: '0 9 * * 1', channels: ['finance'] });
  Object.assign(config.server, {
    viewerToken: 'viewer-token-0123456789',
    trustedProxy: { addresses: ['127.0.0.1', '10.0.0.0/8'], header: 'Remote-User' },
    openMetrics: true,
  });
  const { channels, routes, reports, settings } = describeSettings(loadValid(config).settings);
  expect(channels).toMatchObject([{ language: 'zh-CN' }, { language: 'es' }]);
  expect(routes).toMatchObject([{ mention: 'reminders' }]);
  expect(reports).toMatchObject([{ language: 'that of each channel' }]);
  expect(settings).toMatchObject({
    'server.viewerToken': '(hidden)',
    'server.trustedProxy': 'remote-user of 127.0.0.1, 10.0.0.0/8',
    'server.openMetrics': 'true',
  });
});

test('what validate prints of an entry that takes one request a second is a sentence', () => {
  const providers = { us: { type: 'account-service', baseUrl: 'https://us.example.com' } };
  const { settings } = describeSettings(loadValid({ ...sample(), providers }).settings);
  expect(settings['providers.us']).toContain('at most 1 request a second');
});

test('what validate prints hides the address of a shared database', () => {
  const url = 'postgresql://lowwater:s3cret-Password@db.example.com/lowwater?sslmode=verify-full';
  const config = {
    ...sample(),
    storage: { postgres: { url } },
    cluster: { advertise: 'http://10.0.0.1:8080' },
  };
  const { settings, secrets } = loadValid(config);
  expect(settings.storage).toMatchObject({
    postgres: { node: null, advertise: 'http://10.0.0.1:8080', leaseMs: 8000, aloneForMs: 3_600_000 },
  });
  expect(secrets).toContain('s3cret-Password');
  const described = describeSettings(settings).settings;
  expect(described).toMatchObject({ 'cluster.node': 'the name of the machine', 'cluster.lease': '8s' });
  expect(JSON.stringify(described)).not.toMatch(/s3cret|db\.example|storage\.path/);
});

test('warnings are part of what validate prints', () => {
  const { settings, warnings } = loadValid({ ...sample(), poll: { every: '10s' } });
  const described = describeSettings(settings, warnings).warnings.map(formatProblem);
  expect(described).toEqual([
    expect.stringMatching(/^poll\.every \(line \d+, column 5\): polling more often than every 30s /),
  ]);
});

test('each rule names the accounts that it watches', () => {
  const { settings } = loadValid(sample());
  expect(describeSettings(settings).rules[0]).toEqual({
    id: 'sms-low',
    type: 'below',
    severity: 'warning',
    builtIn: false,
    accounts: ['otp', 'marketing'],
    condition: 'SMS balance below 100.00 (warning)',
  });
});

test('the thresholds of an account stand with it, as its rules say them', () => {
  const config = sample();
  Object.assign(config.accounts[0] ?? {}, { thresholds: { sms: { info: 300, critical: '12.50' } } });
  const [otp, marketing] = describeSettings(loadValid(config).settings).accounts;
  expect(otp?.thresholds).toEqual({
    'sms-low': 'SMS balance below 12.50 (critical), 100.00 (warning), 300.00 (info)',
  });
  expect(marketing).not.toHaveProperty('thresholds');
});

test('thresholds by currency stand in the condition of the rule', () => {
  const config = sample();
  for (const account of config.accounts) Object.assign(account, { currency: 'RMB' });
  config.rules = [
    { id: 'low', type: 'below', thresholdsByCurrency: { rmb: { warning: 1500, critical: 500 } } },
    { id: 'spent', type: 'budget', per: 'day', amount: 70, thresholdsByCurrency: { CNY: { info: 5 } } },
  ];
  const [low, spent] = describeSettings(loadValid(config).settings).rules;
  expect(low).toMatchObject({
    severity: 'by currency',
    condition: 'SMS balance below in CNY 500.00 (critical), 1500.00 (warning)',
  });
  expect(spent?.condition).toContain('reaches 70.00 (warning); in CNY 5.00 (info)');
});

test('a problem is one line with path and line, as far as there are any', () => {
  expect(formatProblem({ path: 'poll.every', line: 3, message: 'no' })).toBe('poll.every (line 3): no');
  expect(formatProblem({ path: '', line: 3, message: 'no' })).toBe('line 3: no');
  expect(formatProblem({ path: '', line: null, message: 'no' })).toBe('no');
});

test('keys in a path are quoted where they are no plain names, cut, and shown without control characters', () => {
  expect(formatPath(['accounts', 0, 'poll', 'every'])).toBe('accounts[0].poll.every');
  expect(formatPath(['channels', 'my ops', 'type'])).toBe('channels["my ops"].type');
  expect(formatPath(['a\u202e\u0000\nb'])).toBe('["a\\u{202e}\\u0000\\nb"]');
  expect(quoteKey('x'.repeat(5000))).toHaveLength(62);
});

test.each(['null', '[]', '"text"', '7', 'true'])('a file that holds %s and no object is refused', (text) => {
  expect(load(text)).toMatchObject({
    problems: [{ path: '', line: 1, message: 'must be an object in braces' }],
  });
});
