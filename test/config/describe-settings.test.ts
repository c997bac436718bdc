import { expect, test } from 'vitest';
import { formatPath, formatProblem, quoteKey } from '../../src/config/config-problem.ts';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { formatSettings } from '../../src/config/format-settings.ts';
import { load, loadValid, sample } from './sample.ts';

test('validate shows accounts, rules, routes, channels and defaults as understood', () => {
  const config = sample();
  config.rules.push({ id: 'late', type: 'stale', after: '1h', for: '5m', match: { account: 'otp' } });
  config.routes = [
    { match: { severity: 'critical' }, channels: ['ops'], escalate: { after: '30m', channels: ['finance'] } },
    { channels: ['ops'], repeatEvery: '1h' },
  ];
  const { settings, warnings } = loadValid(config);
  const lines = formatSettings(describeSettings(settings, warnings))
    .split('\n')
    .map((line) => line.replace(/ +/g, ' '));
  expect(lines).toEqual(
    expect.arrayContaining([
      ' otp every 5m https://api.example.com team=identity',
      ' sms-low below warning all accounts SMS balance below 100 (warning)',
      ' late stale warning otp not read for 1h; for 5m',
      ' stale stale (built in) warning marketing not read for 3 poll intervals (at least 2m)',
      ' ops slack https://hooks.slack.com',
      ' finance email finance@example.com from Lowwater <lowwater@example.com> by smtps://mail.example.com:465',
      ' 1. severity critical to ops, again every 4h, grouped for 5s, to finance after 30m unacknowledged',
      ' 2. everything to ops, again every 1h, grouped for 5s',
      ' server 127.0.0.1 port 8080, with token',
      ' storage.path /etc/lowwater/lowwater.db',
    ]),
  );
});

test('warnings stand at the end', () => {
  const { settings, warnings } = loadValid({ ...sample(), poll: { every: '10s' } });
  expect(formatSettings(describeSettings(settings, warnings))).toMatch(
    /\n\nWarnings\n {2}poll\.every \(line \d+\): polling more often than every 30s [^\n]+$/,
  );
});

test('as data each rule names the accounts that it watches', () => {
  const { settings } = loadValid(sample());
  expect(describeSettings(settings).rules[0]).toEqual({
    id: 'sms-low',
    type: 'below',
    severity: 'warning',
    builtIn: false,
    accounts: ['otp', 'marketing'],
    condition: 'SMS balance below 100 (warning)',
  });
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
