import { test } from 'vitest';
import { account, expectProblem, type ProblemRow, rule, silence } from './problem-rows.ts';

const rules: ProblemRow[] = [
  [
    'below without any threshold',
    rule({ id: 'a', type: 'below' }),
    'rules[0]',
    '"rules": [',
    'needs either threshold, or thresholds by severity',
  ],
  [
    'below with both',
    rule({ id: 'a', type: 'below', threshold: 1, thresholds: { info: 1 } }),
    'rules[0].threshold',
    '"threshold"',
    'either threshold or thresholds, not both',
  ],
  [
    'severity next to a ladder',
    rule({ id: 'a', type: 'below', thresholds: { info: 1 }, severity: 'info' }),
    'rules[0].severity',
    '"severity"',
    'goes with threshold',
  ],
  [
    'an empty ladder',
    rule({ id: 'a', type: 'below', thresholds: {} }),
    'rules[0].thresholds',
    '"thresholds"',
    'must name a threshold for info, warning or critical',
  ],
  [
    'a ladder in the wrong order',
    rule({ id: 'a', type: 'below', thresholds: { warning: 50, critical: 200 } }),
    'rules[0].thresholds.critical',
    '"critical"',
    'the threshold for critical must be lower than that for warning',
  ],
  [
    'a ladder of equal steps',
    rule({ id: 'a', type: 'below', thresholds: { info: '5.0', critical: 5 } }),
    'rules[0].thresholds.critical',
    '"critical"',
    'must be lower than that for info',
  ],
  [
    'a ladder for a currency in the wrong order',
    rule({
      id: 'a',
      type: 'below',
      thresholdsByCurrency: { EUR: { warning: 5, critical: 20 }, CNY: { warning: 50 } },
    }),
    'rules[0].thresholdsByCurrency.EUR.critical',
    '"critical"',
    'the threshold for critical must be lower than that for warning',
  ],
  [
    'ladders by currency that name no currency',
    rule({ id: 'a', type: 'below', thresholdsByCurrency: {} }),
    'rules[0].thresholdsByCurrency',
    '"thresholdsByCurrency"',
    'must be an object with thresholds for one currency or more',
  ],
  [
    'two ladders for one currency, however it is written',
    rule({ id: 'a', type: 'below', thresholdsByCurrency: { CNY: { warning: 50 }, rmb: { warning: 5 } } }),
    'rules[0].thresholdsByCurrency.rmb',
    '"rmb"',
    'is CNY, which stands here too',
  ],
  [
    'a severity next to thresholds by currency alone',
    rule({ id: 'a', type: 'below', thresholdsByCurrency: { CNY: { warning: 50 } }, severity: 'critical' }),
    'rules[0].severity',
    '"severity"',
    'goes with threshold',
  ],
  [
    'thresholds by currency of a rule about time',
    rule({ id: 'a', type: 'runway', within: '2d', thresholdsByCurrency: { CNY: { warning: 50 } } }),
    'rules[0].thresholdsByCurrency',
    '"thresholdsByCurrency"',
    'is not valid here; only for below and budget',
  ],
  [
    'thresholds of an account that are out of order with those of the rule',
    (c) => {
      rule({ id: 'a', type: 'below', thresholds: { warning: 200, critical: 50 } })(c);
      Object.assign(account(c), { thresholds: { sms: { warning: 20 } } });
    },
    'accounts[0].thresholds.sms',
    '"sms"',
    'the threshold for critical must be lower than that for warning, counting those of the rule a',
  ],
  [
    'thresholds of an account for a balance that it has not',
    (c) => Object.assign(account(c), { thresholds: { sns: { warning: 20 } } }),
    'accounts[0].thresholds.sns',
    '"sns"',
    'the account has no such balance; did you mean "sms"?',
  ],
  [
    'thresholds of an account where no rule says the rest',
    (c) => Object.assign(account(c), { thresholds: { voip: { warning: 20 } } }),
    'accounts[0].thresholds.voip',
    '"voip"',
    'no rule of type below watches this balance of the account',
  ],
  [
    'no threshold at all for a balance of an account',
    (c) => Object.assign(account(c), { thresholds: { sms: {} } }),
    'accounts[0].thresholds.sms',
    '"sms"',
    'must name a threshold for info, warning or critical',
  ],
  [
    'a runway ladder in the wrong order',
    rule({ id: 'a', type: 'runway', thresholds: { info: '1d', warning: '2d' } }),
    'rules[0].thresholds.warning',
    '"warning"',
    'must be lower than that for info',
  ],
  [
    'runway without within',
    rule({ id: 'a', type: 'runway' }),
    'rules[0]',
    '"rules": [',
    'needs either within, or thresholds by severity',
  ],
  [
    'more history than is looked at',
    rule({ id: 'a', type: 'runway', within: '2d', minimumHistory: '25h' }),
    'rules[0].minimumHistory',
    '"minimumHistory"',
    'must not be longer than lookback',
  ],
  [
    'a silence of nothing in particular',
    silence({ match: {} }),
    'silences[0].match',
    '"match"',
    'must name what it mutes',
  ],
  [
    'a silence by no label',
    silence({ match: { labels: {} } }),
    'silences[0].match',
    '"match"',
    'must name what it mutes',
  ],
  [
    'a silence without match',
    silence({ match: undefined }),
    'silences[0].match',
    '"silences": [',
    'is missing',
  ],
];

const schedules: ProblemRow[] = [
  [
    'an unknown time zone',
    silence({ timezone: 'Mars/Olympus' }),
    'silences[0].timezone',
    '"timezone"',
    'unknown time zone; use an IANA name such as "Europe/Berlin"',
  ],
  [
    'an unknown time zone for all',
    (c) => Object.assign(c, { timezone: 'Europe/Bern' }),
    'timezone',
    '"timezone"',
    'unknown time zone',
  ],
  [
    'a date that never comes',
    (c) => c.reports.push({ id: 'w', cron: '0 9 30 2 *', channels: ['ops'] }),
    'reports[0].cron',
    '"cron"',
    'must run some day',
  ],
  [
    'an hour that does not exist',
    (c) => Object.assign(account(c), { poll: { cron: '0 25 * * *' } }),
    'accounts[0].poll.cron',
    '"cron"',
    'must be a cron expression of five fields: minute hour day month weekday',
  ],
  [
    'a cron expression of six fields',
    silence({ cron: '0 0 2 * * 0' }),
    'silences[0].cron',
    '"cron"',
    'five fields',
  ],
  [
    'a cron expression with a long number, which is looked at in a moment',
    silence({ cron: `${'0'.repeat(60)}! * * * *` }),
    'silences[0].cron',
    '"cron"',
    /minute hour day month weekday$/,
  ],
  [
    'words for a cron expression',
    silence({ cron: 'every sunday' }),
    'silences[0].cron',
    '"cron"',
    /minute hour day month weekday$/,
  ],
  [
    'every and cron',
    (c) => Object.assign(c.poll, { cron: '* * * * *' }),
    'poll.cron',
    '"cron"',
    'either every or cron, not both',
  ],
  [
    'neither every nor cron',
    (c) => Object.assign(account(c), { poll: {} }),
    'accounts[0].poll',
    '"poll": {}',
    'needs either every or cron',
  ],
  [
    'a time zone without cron',
    (c) => Object.assign(c.poll, { timezone: 'UTC' }),
    'poll.timezone',
    '"timezone"',
    'goes with cron only',
  ],
];

const rows = [...rules, ...schedules];

test.each(rows)('%s is refused with path, line and what is allowed', (...row) => expectProblem(row));
