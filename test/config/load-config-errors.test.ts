import { expect, test } from 'vitest';
import { channelKinds } from '../../src/channels/registry.ts';
import { ruleKinds } from '../../src/rules/registry.ts';
import { listWords } from '../../src/wording/lists.ts';
import { account, channel, expectProblem, type ProblemRow, rule } from './problem-rows.ts';
import { load, placeholder, sample } from './sample.ts';

const keysAndTypes: ProblemRow[] = [
  [
    'an unknown key near a known one',
    (c) => Object.assign(c, { acounts: 1 }),
    'acounts',
    '"acounts"',
    'unknown key; did you mean "accounts"?',
  ],
  [
    'an unknown key in another notation',
    (c) => Object.assign(account(c), { auth_secret: 'x' }),
    'accounts[0].auth_secret',
    '"auth_secret"',
    'did you mean "authSecret"?',
  ],
  [
    'an unknown key that is like none',
    (c) => Object.assign(c.poll, { zzz: 1 }),
    'poll.zzz',
    '"zzz"',
    'unknown key; known here: every, cron, timezone',
  ],
  [
    'a key of another rule type',
    rule({ id: 'a', type: 'idle', window: '1h', hysteresis: 1 }),
    'rules[0].hysteresis',
    '"hysteresis"',
    'is not valid here; only for below and negative',
  ],
  [
    'a balance on a rule without one',
    rule({ id: 'a', type: 'stale', balance: 'sms' }),
    'rules[0].balance',
    '"balance"',
    'is not valid here; only for',
  ],
  [
    'severity in the match of a rule',
    rule({ id: 'a', type: 'stale', match: { severity: 'info' } }),
    'rules[0].match.severity',
    '"severity"',
    'a rule matches accounts: by account, provider, currency and labels only',
  ],
  [
    'a missing secret',
    (c) => delete account(c).authSecret,
    'accounts[0].authSecret',
    '"accounts": [',
    'is missing; must be a string, not empty',
  ],
  [
    'no accounts',
    (c) => Object.assign(c, { accounts: [] }),
    'accounts',
    '"accounts"',
    'must be a list with at least one account',
  ],
  [
    'accounts missing altogether',
    (c) => Object.assign(c, { accounts: undefined }),
    'accounts',
    '{',
    'is missing; must be a list with at least one account',
  ],
  [
    'accounts of a wrong type',
    (c) => Object.assign(c, { accounts: { otp: {} } }),
    'accounts',
    '"accounts"',
    'must be a list with at least one account',
  ],
  [
    'no channels',
    (c) => Object.assign(c, { channels: {}, routes: [] }),
    'channels',
    '"channels"',
    'must hold at least one channel',
  ],
  [
    'channels missing altogether',
    (c) => Object.assign(c, { channels: undefined, routes: [] }),
    'channels',
    '{',
    'is missing; must be an object of channels',
  ],
  [
    'a number where a text is asked for',
    (c) => Object.assign(account(c), { name: 7 }),
    'accounts[0].name',
    '"name"',
    'must be a string on one line, not empty',
  ],
  [
    'a text where a number is asked for',
    (c) => Object.assign(c.server, { port: '8080' }),
    'server.port',
    '"port"',
    'must be a whole number from 0 to 65535',
  ],
  [
    'a port that is none',
    (c) => Object.assign(c.server, { port: 70000 }),
    'server.port',
    '"port"',
    'must be a whole number from 0 to 65535',
  ],
  [
    'a text where true or false is asked for',
    (c) => Object.assign(c.provider, { allowInsecureHttp: 'true' }),
    'provider.allowInsecureHttp',
    '"allowInsecureHttp"',
    'must be true or false',
  ],
  [
    'a section that is no object',
    (c) => Object.assign(c, { poll: '5m' }),
    'poll',
    '"poll"',
    'must be an object in braces',
  ],
  [
    'a rule type that does not exist',
    rule({ id: 'a', type: 'under' }),
    'rules[0].type',
    '"type": "under"',
    `must be ${listWords(ruleKinds.map(({ type }) => type))}`,
  ],
  [
    'a rule without type',
    rule({ id: 'a' }),
    'rules[0].type',
    '"rules": [',
    'is missing; must be "below", "negative"',
  ],
  [
    'a rule that is no object',
    (c) => Object.assign(c, { rules: ['below'] }),
    'rules[0]',
    '"below"',
    'must be an object in braces',
  ],
  [
    'a channel type that does not exist',
    channel({ type: 'pigeon' }),
    'channels.ops.type',
    '"pigeon"',
    `must be ${listWords(channelKinds.map(({ type }) => type))}`,
  ],
  [
    'a severity that does not exist',
    rule({ id: 'a', type: 'below', threshold: 1, severity: 'fatal' }),
    'rules[0].severity',
    '"severity"',
    'must be "info", "warning" or "critical"',
  ],
  [
    'a log level that does not exist',
    (c) => Object.assign(c, { log: { level: 'loud' } }),
    'log.level',
    '"level"',
    'must be "trace", "debug"',
  ],
];

const placeholders: ProblemRow[] = [
  [
    'an unset variable',
    (c) => Object.assign(account(c), { authSecret: placeholder('env:NOPE') }),
    'accounts[0].authSecret',
    'NOPE',
    'the environment variable NOPE is not set; set it, or give a default',
  ],
  [
    'a missing file',
    (c) => Object.assign(account(c), { authSecret: placeholder('file:nope') }),
    'accounts[0].authSecret',
    'file:nope',
    'the file "nope" cannot be read: no such file',
  ],
  [
    'an empty default where a secret must be',
    (c) => Object.assign(account(c), { authSecret: placeholder('env:NOPE:-') }),
    'accounts[0].authSecret',
    'NOPE',
    'must not be empty',
  ],
  [
    'a token of blanks, which everybody guesses,',
    (c) => Object.assign(c.server, { token: placeholder('env:NOPE:- ') }),
    'server.token',
    'NOPE',
    'must not be empty',
  ],
  [
    'a placeholder that gives no number',
    (c) => Object.assign(c.server, { port: placeholder('env:OTP_AUTH_SECRET') }),
    'server.port',
    '"port"',
    'must be a whole number',
  ],
  [
    'a number made of a placeholder and more',
    (c) => Object.assign(c.server, { port: `80${placeholder('env:NONE:-80')}` }),
    'server.port',
    '"port"',
    'must be a whole number',
  ],
];

const rows = [...keysAndTypes, ...placeholders];

test.each(rows)('%s is refused with path, line and what is allowed', (...row) => expectProblem(row));

test('all errors are reported at once, in the order of the file', () => {
  const config = sample();
  Object.assign(config, { storage: { retention: '1h' } });
  Object.assign(config.poll, { every: 'often' });
  Object.assign(account(config), { authSecret: placeholder('env:NOPE'), poll: { cron: '99 * * * *' } });
  Object.assign(config.rules[0] ?? {}, { severty: 'info', hysteresis: 'x' });
  Object.assign(config.routes[0] ?? {}, { channels: ['opps'] });
  const result = load(config);
  expect(result.kind === 'invalid' ? result.problems.map(({ path }) => path) : []).toEqual([
    'poll.every',
    'accounts[0].authSecret',
    'accounts[0].poll.cron',
    'rules[0].severty',
    'rules[0].hysteresis',
    'routes[0].channels[0]',
    'storage.retention',
  ]);
});

test('a mistake in a name is not reported again where the name is used', () => {
  const config = sample();
  Object.assign(account(config), { id: placeholder('env:NOPE') });
  config.routes = [{ match: { account: 'otp' }, channels: ['ops', 'finance'] }, { channels: ['ops'] }];
  const result = load(config);
  expect(result.kind === 'invalid' ? result.problems.map(({ path }) => path) : []).toEqual([
    'accounts[0].id',
  ]);
});

test('a value from the environment is never quoted, even where its neighbours would be', () => {
  const env = { NEAR: 'opss', CRON: '0 25 * * *', ZONE: 'Europe/Bern', OTP_AUTH_SECRET: 'x' };
  const config = sample();
  config.routes = [{ channels: [placeholder('env:NEAR')] }];
  config.silences = [
    {
      match: { account: 'otp' },
      cron: placeholder('env:CRON'),
      timezone: placeholder('env:ZONE'),
      duration: '1h',
    },
  ];
  const result = load(config, { env });
  const text = JSON.stringify(result.kind === 'invalid' ? result.problems : []);
  expect(text).toContain('silences[0].cron');
  expect(text).not.toMatch(/opss|25|Bern"|did you mean/);
});

test('thousands of accounts are all read, and what is wrong in any of them is reported with its place', () => {
  const config = sample();
  config.accounts = Array.from({ length: 4500 }, (_, index) => ({
    id: `a-${index}`,
    authSecret: `key-${index}`,
  }));
  const loaded = load(config);
  expect(loaded.kind === 'loaded' && loaded.settings.accounts.at(-1)?.id).toBe('a-4499');
  Object.assign(config.accounts[7] ?? {}, { name: 7 });
  Object.assign(config.accounts[2000] ?? {}, { auth_secret: 'x' });
  Object.assign(config.accounts[4499] ?? {}, { leadTime: 'soon' });
  const refused = load(config);
  expect(refused.kind === 'invalid' && refused.problems.map(({ path }) => path)).toEqual([
    'accounts[7].name',
    'accounts[2000].auth_secret',
    'accounts[4499].leadTime',
  ]);
});
