import { expect, test } from 'vitest';
import { formatProblem } from '../../src/config/config-problem.ts';
import { account, expectProblem, type ProblemRow, route, rule, silence } from './problem-rows.ts';
import { load, sample } from './sample.ts';

const names: ProblemRow[] = [
  [
    'an account id in capitals',
    (c) => Object.assign(account(c), { id: 'OTP' }),
    'accounts[0].id',
    '"id": "OTP"',
    'lower-case letters, digits and hyphens',
  ],
  [
    'an account id that begins with a hyphen',
    (c) => Object.assign(account(c), { id: '-otp' }),
    'accounts[0].id',
    '"id": "-otp"',
    'no hyphen at the start',
  ],
  [
    'an account id of 64 characters',
    (c) => Object.assign(account(c), { id: 'a'.repeat(64) }),
    'accounts[0].id',
    '"id": "aaa',
    '1 to 63',
  ],
  [
    'an account id with a line break after it',
    (c) => Object.assign(account(c), { id: 'otp\n' }),
    'accounts[0].id',
    '"id": "otp',
    '1 to 63',
  ],
  [
    'two accounts of one id',
    (c) => Object.assign(account(c, 1), { id: 'otp' }),
    'accounts[1].id',
    '2:"id": "otp"',
    'another account has this id already, in line 10',
  ],
  [
    'two rules of one id',
    (c) => c.rules.push({ id: 'sms-low', type: 'currency' }),
    'rules[1].id',
    '2:"id": "sms-low"',
    'another rule has this id already',
  ],
  [
    'two reports of one id',
    (c) =>
      Object.assign(c, { reports: [0, 1].map(() => ({ id: 'w', cron: '0 9 * * 1', channels: ['ops'] })) }),
    'reports[1].id',
    '2:"id": "w"',
    'another report has this id already',
  ],
  [
    'a channel name with blanks',
    (c) => Object.assign(c.channels, { 'my ops': c.channels.ops }),
    'channels["my ops"]',
    '"my ops"',
    '1 to 63 lower-case letters',
  ],
  [
    'a label name with a blank',
    (c) => Object.assign(account(c), { labels: { 'my team': 'x' } }),
    'accounts[0].labels["my team"]',
    '"my team"',
    'must be a name of 1 to 63 letters',
  ],
  [
    'a label that is a number',
    (c) => Object.assign(account(c), { labels: { tier: 1 } }),
    'accounts[0].labels.tier',
    '"tier"',
    'must be a string',
  ],
  [
    'a name of two lines',
    (c) => Object.assign(account(c), { name: 'a\nb' }),
    'accounts[0].name',
    '"name"',
    'must be a string on one line',
  ],
];

const references: ProblemRow[] = [
  [
    'a route to an unknown channel near a known one',
    route({ channels: ['opps'] }),
    'routes[0].channels[0]',
    '"opps"',
    'no channel has this name ("opps"); did you mean "ops"?',
  ],
  [
    'a route to a channel like none',
    route({ channels: ['ops', 'pagerduty'] }),
    'routes[0].channels[1]',
    '"pagerduty"',
    'no channel has this name ("pagerduty"); there is "ops" and "finance"',
  ],
  [
    'a route without channels',
    route({ channels: [] }),
    'routes[0].channels',
    '"channels": []',
    'must be a list with at least one channel',
  ],
  [
    'an escalation to an unknown channel',
    route({ escalate: { after: '30m', channels: ['finanse'] } }),
    'routes[0].escalate.channels[0]',
    '"finanse"',
    'did you mean "finance"?',
  ],
  [
    'a report to an unknown channel',
    (c) => c.reports.push({ id: 'w', cron: '0 9 * * 1', channels: ['op'] }),
    'reports[0].channels[0]',
    '"op"',
    'did you mean "ops"?',
  ],
  [
    'a route for an unknown account',
    route({ match: { account: 'otpp' } }),
    'routes[0].match.account',
    '"otpp"',
    'no account has this id ("otpp"); did you mean "otp"?',
  ],
  [
    'a rule for an unknown account in a list',
    rule({ id: 'a', type: 'stale', match: { account: ['otp', 'marketting'] } }),
    'rules[0].match.account[1]',
    '"marketting"',
    'did you mean "marketing"?',
  ],
  [
    'a rule for an alert account',
    rule({ id: 'a', type: 'stale', match: { account: '@lowwater' } }),
    'rules[0].match.account',
    '"@lowwater"',
    'no account has this id',
  ],
  [
    'a silence of an unknown rule',
    silence({ match: { rule: 'sms-lo' } }),
    'silences[0].match.rule',
    '"sms-lo"',
    'no rule has this id ("sms-lo"); did you mean "sms-low"?',
  ],
  [
    'a silence of a misspelled built-in rule',
    silence({ match: { rule: 'auth-faild' } }),
    'silences[0].match.rule',
    '"auth-faild"',
    'did you mean "auth-failed"?',
  ],
  [
    'an empty list in a match',
    route({ match: { account: [] } }),
    'routes[0].match.account',
    '"account": []',
    'must be a string, or a list of at least one',
  ],
  [
    'a route for an unknown provider entry',
    route({ match: { provider: 'twillio' } }),
    'routes[0].match.provider',
    '"twillio"',
    'no provider entry has this name ("twillio"); there is "provider"',
  ],
  [
    'an unknown account that is left out',
    silence({ match: { not: { account: 'otpp' } } }),
    'silences[0].match.not.account',
    '"otpp"',
    'did you mean "otp"?',
  ],
  [
    'nothing that is left out',
    rule({ id: 'a', type: 'stale', match: { not: {} } }),
    'rules[0].match.not',
    '"not"',
    'must name what is left out',
  ],
  [
    'a severity that a rule leaves out',
    rule({ id: 'a', type: 'stale', match: { not: { severity: 'info' } } }),
    'rules[0].match.not.severity',
    '"severity"',
    'a rule matches accounts: by account, provider, currency and labels only',
  ],
  [
    'a severity in a match that does not exist',
    route({ match: { severity: ['critical', 'bad'] } }),
    'routes[0].match.severity',
    '"severity"',
    'must be "info", "warning" or "critical", or a list of them',
  ],
];

const rows = [...names, ...references];

test.each(rows)('%s is refused with path, line and what is allowed', (...row) => expectProblem(row));

test('what was pasted over an id and has not the form of one is not shown among the ids that there are', () => {
  const config = sample();
  Object.assign(account(config), { id: 'https://hooks.example.com/in/hunter2' });
  silence({ match: { account: 'nobody-of-these' } })(config);
  const result = load(config);
  const problems = result.kind === 'invalid' ? result.problems.map(formatProblem) : [];
  expect(problems).toContainEqual(expect.stringContaining('no account has this id'));
  expect(problems.join()).not.toContain('hunter2');
});
