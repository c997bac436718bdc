import { test } from 'vitest';
import { account, expectProblem, type ProblemRow, rule } from './problem-rows.ts';

/** A day of the time that the files are read at. */
const today = '2026-11-01';
const ecb = {
  type: 'http-json',
  request: { url: 'https://rates.example.net/latest' },
  balances: [{ id: 'cny', amount: '$.rates.CNY' }],
  currency: { fixed: 'EUR' },
};
const duration = 'must be a duration such as "90s", "5m", "1h30m" or "2d"';
const finance: ProblemRow[] = [
  ['rates without a date', withMoney({ CNY: '0.121' }), 'money.rates', '"rates"', 'needs the "date"'],
  ['a rate of nothing', withMoney({ date: today, CNY: '0' }), 'money.rates.CNY', '"CNY"', 'above 0'],
  [
    'rates of 1990',
    withMoney({ date: '1990-01-01', CNY: '1' }),
    'money.rates.date',
    '1990',
    'before 2020-01-01',
  ],
  [
    'a rate of the currency of the sums, as in a table of another base',
    withMoney({ date: today, EUR: '1.08' }),
    'money.rates.EUR',
    '1.08',
    'must be 1',
  ],
  [
    'a rate of the currency of the sums by its other name',
    (c) => Object.assign(c, { money: { currency: 'CNY', rates: { date: today, RMB: '0.12' } } }),
    'money.rates.RMB',
    '"RMB"',
    'must be 1',
  ],
  [
    'two rates of one currency',
    withMoney({ date: today, CNY: '0.12', RMB: '0.13' }),
    'money.rates.RMB',
    '"RMB"',
    'is CNY, which stands here too',
  ],
  ['a rate that is null, once', withMoney({ date: today, CNY: null }), 'money.rates.CNY', '"CNY"', 'as text'],
  ['a rate of no currency', withMoney({ date: today, yuan: '1' }), 'money.rates.yuan', '"yuan"', 'capital'],
  [
    'a rate that is no decimal',
    withMoney({ date: today, CNY: '1e-3' }),
    'money.rates.CNY',
    '"CNY"',
    'as text',
  ],
  [
    'rates of a file and of a source',
    withMoney({ date: today, provider: ecb }),
    'money.rates.date',
    '"date"',
    'either, not both',
  ],
  [
    'how often rates are read that are not',
    withMoney({ date: today, every: '47h' }),
    'money.rates.every',
    '47h',
    'needs "provider"',
  ],
  [
    'rates of a provider of balances',
    withMoney({ provider: { type: 'twilio' } }),
    'money.rates.provider.type',
    '"twilio"',
    'must be "http-json"',
  ],
  [
    'rates read by the credentials of an account',
    withMoney({
      provider: { ...ecb, request: { url: 'https://rates.example.net/?key={{credentials.key}}' } },
    }),
    'money.rates.provider.request',
    '"request"',
    'by a placeholder',
  ],
  [
    'a rate read under another name',
    withMoney({ provider: { ...ecb, balances: [{ id: 'yuan', amount: '$.rates.CNY' }] } }),
    'money.rates.provider.balances[0].id',
    '"yuan"',
    'such as "cny"',
  ],
  [
    'a secret in place of the currency of rates that are read',
    withMoney({ provider: { ...ecb, currency: { fixed: 'hunter2' } } }),
    'money.rates.provider.currency.fixed',
    '"fixed"',
    'must be a currency code of three capital letters',
  ],
  [
    'rates read without the currency of sums',
    withMoney({ provider: { ...ecb, currency: { fixed: 'USD' } } }),
    'money.rates.provider.balances',
    '"balances"',
    'must have money.currency, EUR',
  ],
  [
    'a pay day that no month has',
    (c) => Object.assign(c, { payDays: '0 0 30 2 *' }),
    ...(['payDays', '"payDays"', 'never'] as const),
  ],
  [
    'pay days that are none',
    (c) => Object.assign(c, { payDays: 'payday' }),
    ...(['payDays', '"payDays"', 'such as "1,15"'] as const),
  ],
];

function withMoney(rates: object): (config: object) => void {
  return (config) => Object.assign(config, { money: { currency: 'EUR', rates } });
}

const durationsAndAmounts: ProblemRow[] = [
  [
    'a duration without unit',
    (c) => Object.assign(c.poll, { every: '300' }),
    'poll.every',
    '"every"',
    duration,
  ],
  [
    'a duration as a number',
    (c) => Object.assign(c.poll, { every: 300 }),
    'poll.every',
    '"every"',
    `${duration}; write "300s" for seconds`,
  ],
  [
    'a type of rule with a typo',
    (c) => Object.assign(c.rules[0] ?? {}, { type: 'runaway' }),
    'rules[0].type',
    '"type"',
    'did you mean "runway"?',
  ],
  [
    'a severity with a typo',
    (c) => Object.assign(c.rules[0] ?? {}, { severity: 'critcal' }),
    'rules[0].severity',
    '"severity"',
    'did you mean "critical"?',
  ],
  [
    'a type of channel that there is not',
    (c) => Object.assign(c.channels, { chat: { type: 'carrier-pigeon' } }),
    'channels.chat.type',
    '"carrier-pigeon"',
    'docs/recipes.md shows how to reach others',
  ],
  [
    'a variable with a typo',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as the file has it.
    (c) => Object.assign(account(c), { authSecret: '${env:OTP_AUTH_SECRETT}' }),
    'accounts[0].authSecret',
    '"authSecret"',
    'OTP_AUTH_SECRETT is not set (OTP_AUTH_SECRET is)',
  ],
  [
    'a severity of a match with a typo',
    (c) => Object.assign(c.routes[0] ?? {}, { match: { severity: ['critical', 'warnning'] } }),
    'routes[0].match.severity',
    '"severity"',
    'or a list of them; did you mean "warning"?',
  ],
  [
    'a number where a text belongs',
    (c) => Object.assign(account(c), { authSecret: 4711 }),
    'accounts[0].authSecret',
    '"authSecret"',
    'must be a string, not empty; write it in double quotes',
  ],
  [
    'a number of so many digits that it is no whole number any more, once',
    (c) => Object.assign(c.server, { port: 2 ** 64 }),
    'server.port',
    '"port"',
    'must be a whole number from 0 to 65535',
  ],
  [
    'a text where a number belongs',
    (c) => Object.assign(c.server, { port: '8081' }),
    'server.port',
    '"port"',
    'must be a whole number from 0 to 65535; write it without quotes',
  ],
  [
    'a text where a flag belongs',
    (c) => Object.assign(c.server, { openMetrics: 'true' }),
    'server.openMetrics',
    '"openMetrics"',
    'must be true or false; write it without quotes',
  ],
  [
    'a pause of an entry that is longer than its longest',
    (c) => Object.assign(c, { providers: { us: { type: 'twilio', backoff: { initial: '2h' } } } }),
    'providers.us.backoff.initial',
    '"initial"',
    'must not be longer than max',
  ],
  [
    'a currency of one invisible character',
    (c) => Object.assign(account(c), { currency: '\u200b' }),
    'accounts[0].currency',
    '"currency"',
    'must be a string on one line, not empty',
  ],
  ['an empty duration', (c) => Object.assign(c.poll, { every: '' }), 'poll.every', '"every"', duration],
  [
    'a duration with units out of order',
    (c) => Object.assign(c.poll, { every: '5m1h' }),
    'poll.every',
    '"every"',
    duration,
  ],
  [
    'a poll interval below a second',
    (c) => Object.assign(c.poll, { every: '999ms' }),
    'poll.every',
    '"every"',
    'must be at least "1s"',
  ],
  [
    'an account polled too often',
    (c) => Object.assign(account(c), { poll: { every: '0s' } }),
    'accounts[0].poll.every',
    '"0s"',
    'must be at least "1s"',
  ],
  [
    'history kept for less than a day',
    (c) => Object.assign(c, { storage: { retention: '1h' } }),
    'storage.retention',
    '"retention"',
    'must be at least "1d"',
  ],
  [
    'a window longer than history is kept',
    (c) =>
      Object.assign(c, { storage: { retention: '1d' }, rules: [{ id: 'a', type: 'idle', window: '2d' }] }),
    'rules[0].window',
    '"window"',
    'must not be longer than storage.retention',
  ],
  [
    'a database at an address without a database',
    (c) => Object.assign(c, { storage: { postgres: { url: 'postgres://user:pass@db.example.com' } } }),
    'storage.postgres.url',
    '"url"',
    'must be postgres://user:password@host:5432/database',
  ],
  [
    'a password that is not percent-encoded',
    (c) =>
      Object.assign(c, { storage: { postgres: { url: 'postgres://user:pa/ss@db.example.com/lowwater' } } }),
    'storage.postgres.url',
    '"url"',
    'percent-encoded',
  ],
  [
    'two databases',
    (c) => Object.assign(c, { storage: { path: 'a.db', postgres: { url: 'postgres://u:p@h/d' } } }),
    'storage.path',
    '"path"',
    'either storage.path or storage.postgres, not both',
  ],
  [
    'a cluster around a file',
    (c) => Object.assign(c, { cluster: { node: 'north' } }),
    'cluster',
    '"cluster"',
    'needs storage.postgres.url',
  ],
  [
    'a lease too short to be renewed in',
    (c) =>
      Object.assign(c, { storage: { postgres: { url: 'postgres://u:p@h/d' } }, cluster: { lease: '2s' } }),
    'cluster.lease',
    '"lease"',
    'must be at least "3s"',
  ],
  [
    'an amount that is no number',
    rule({ id: 'a', type: 'below', threshold: 'ten' }),
    'rules[0].threshold',
    '"threshold"',
    'must be an amount',
  ],
  [
    'an amount out of range',
    rule({ id: 'a', type: 'below', threshold: 9007199255 }),
    'rules[0].threshold',
    '"threshold"',
    'at most 9007199254 either way',
  ],
  ...[1e-7, '0.0000001', '12.5000001'].map(
    (threshold): ProblemRow => [
      `an amount finer than a millionth (${threshold})`,
      rule({ id: 'a', type: 'below', threshold }),
      'rules[0].threshold',
      '"threshold"',
      'must have at most six decimals',
    ],
  ),
  [
    'an amount that is true',
    rule({ id: 'a', type: 'below', threshold: true }),
    'rules[0].threshold',
    '"threshold"',
    'must be an amount',
  ],
  [
    'a negative hysteresis',
    rule({ id: 'a', type: 'below', threshold: 1, hysteresis: -1 }),
    'rules[0].hysteresis',
    '"hysteresis"',
    'must not be negative',
  ],
  [
    'a percentage with a blank',
    rule({ id: 'a', type: 'below', threshold: 1, hysteresis: '10 %' }),
    'rules[0].hysteresis',
    '"hysteresis"',
    'a percentage such as "10%"',
  ],
  [
    'a percentage where only an amount makes sense',
    rule({ id: 'a', type: 'negative', hysteresis: '10%' }),
    'rules[0].hysteresis',
    '"hysteresis"',
    'must be an amount',
  ],
  [
    'a drop of nothing',
    rule({ id: 'a', type: 'drop', by: '0%', window: '1h' }),
    'rules[0].by',
    '"by"',
    'must be more than 0',
  ],
  [
    'a drop of more than everything',
    rule({ id: 'a', type: 'drop', by: '101%', window: '1h' }),
    'rules[0].by',
    '"by"',
    'must be at most 100 %',
  ],
  [
    'a drop without window',
    rule({ id: 'a', type: 'drop', by: 5 }),
    'rules[0].window',
    '"rules": [',
    'is missing; must be a duration',
  ],
  [
    'an account that is a bare name',
    (c) => Object.assign(c.accounts, { 1: 'marketing' }),
    'accounts[1]',
    '"marketing"',
    'must be an object in braces',
  ],
  [
    'no requests per second',
    (c) => Object.assign(c.provider, { maxRequestsPerSecond: 0 }),
    'provider.maxRequestsPerSecond',
    '"maxRequestsPerSecond"',
    'must be above 0',
  ],
  [
    'a trusted proxy without its header',
    (c) => Object.assign(c, { server: { trustedProxy: { addresses: ['127.0.0.1'] } } }),
    'server.trustedProxy.header',
    '"trustedProxy"',
    'is missing; give the name of a header',
  ],
  [
    'a header that holds a key as the one that names people, who would be stored and told by it',
    (c) =>
      Object.assign(c, { server: { trustedProxy: { addresses: ['127.0.0.1'], header: 'AUTHORIZATION' } } }),
    'server.trustedProxy.header',
    '"AUTHORIZATION"',
    'a header that holds a name, and no key',
  ],
  [
    'too many requests per second',
    (c) => Object.assign(c.provider, { maxRequestsPerSecond: 21 }),
    'provider.maxRequestsPerSecond',
    '"maxRequestsPerSecond"',
    'must be at most 20',
  ],
  [
    'a first pause longer than the longest',
    (c) => Object.assign(c.provider, { backoff: { initial: '2h' } }),
    'provider.backoff.initial',
    '"initial"',
    'must not be longer than max',
  ],
  [
    'a longest pause shorter than the first',
    (c) => Object.assign(c.provider, { backoff: { max: '10s' } }),
    'provider.backoff.max',
    '"max"',
    'must not be shorter than initial',
  ],
];

const rows = [...durationsAndAmounts, ...finance];

test.each(rows)('%s is refused with path, line and what is allowed', (...row) => expectProblem(row));
