import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Forecast } from '../../src/domain/quantity.ts';
import { type Metric, renderExposition } from '../../src/http/exposition.ts';
import { renderMetrics } from '../../src/http/metrics.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import type { AccountView } from '../../src/views/views.ts';
import { buildAccountView, buildRunway, micros, viewsNow } from '../support/built-views.ts';
import { demoParts, startDemoWorld } from '../support/demo-world.ts';
import { promtool, testRules } from '../support/promtool.ts';
import { makeAccount } from '../support/settings.ts';
import { showingAccounts } from '../support/showing-accounts.ts';
import { startWorld } from '../support/world.ts';

const shippedRules = [join(import.meta.dirname, '../../deploy/prometheus-rules.yml')];

describe('metrics', () => {
  it('have the names and labels of the contract', async () => {
    const text = await textOf((await startDemoWorld()).views);
    for (const line of [
      'lowwater_balance{account="voice-alerts",balance="voip",currency="CNY"} -18.383',
      'lowwater_runway_seconds{account="voice-alerts",balance="voip"} 0',
      'lowwater_burn_per_day{account="otp",balance="sms"} 2188.96875',
      'lowwater_polls_total{account="otp",outcome="ok"} 1',
      'lowwater_poll_duration_seconds_bucket{le="0.1"} 5',
      'lowwater_poll_duration_seconds_bucket{le="+Inf"} 5',
      'lowwater_poll_duration_seconds_sum 0.025',
      'lowwater_last_success_timestamp_seconds{account="otp"} 1795200000',
      'lowwater_backoff_seconds{account="billing"} 2350.721',
      'lowwater_backoff_seconds{account="otp"} 0',
      'lowwater_alert_firing{account="otp",rule="sms-low",severity="critical"} 1',
      'lowwater_notifications_total{channel="ops",state="delivered"} 1',
      'lowwater_notifications_total{channel="ops",state="dead"} 0',
      'lowwater_outbox_pending{channel="finance"} 1',
      'lowwater_config_last_reload_successful 1',
      'lowwater_build_info{version="test"} 1',
      'lowwater_account_info{account="otp",name="OTP production",currency="CNY",team="identity",region="cn"} 1',
      'lowwater_alert_acknowledged{account="marketing-eu",rule="sms-runway"} 1',
      'lowwater_alert_info{account="otp",rule="sms-low",type="below",balance="sms"} 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  it('a balance that could not be read is absent, and so is what follows from it', async () => {
    const text = await textOf((await startDemoWorld()).views);
    expect(text).not.toMatch(/^lowwater_(balance|runway_seconds|burn_per_day)\{account="billing"/m);
    expect(text).toMatch(/^lowwater_last_success_timestamp_seconds\{account="billing"/m);
  });

  it('when a balance is empty has three bounds, each absent where it is not known or the account cannot be read', async () => {
    const world = await startWorld();
    const forecast = {
      emptyAt: viewsNow + 3000,
      earliest: viewsNow + 2000,
      latest: null,
      basis: 'hour-of-week',
    } as const;
    const boundsOf = async (over: Partial<AccountView>, forecasts: Forecast | null = forecast) => {
      const runways = { sms: buildRunway({ forecast: forecasts }), voip: null };
      const text = await textOf(showingAccounts(world.views, [buildAccountView({ runways, ...over })]));
      return text.match(/^lowwater_empty_timestamp_seconds.*$/gm);
    };
    const at = (bound: string, ms: number) =>
      `lowwater_empty_timestamp_seconds{account="otp",balance="sms",bound="${bound}"} ${(viewsNow + ms) / 1000}`;
    expect(await boundsOf({})).toEqual([at('median', 3000), at('earliest', 2000)]);
    expect(await boundsOf({}, { ...forecast, latest: viewsNow + 9000 })).toContain(at('latest', 9000));
    expect(await boundsOf({}, null)).toBeNull();
    expect(await boundsOf({ outcome: 'timeout' })).toBeNull();
  });

  it('a pending alert does not fire', async () => {
    expect(await textOf((await startDemoWorld()).views)).not.toContain('rule="spending"');
  });

  it('series of a removed account are gone', async () => {
    const world = await startDemoWorld();
    expect(await textOf(world.views)).toContain('account="support"');
    world.reload({ ...demoParts, accounts: demoParts.accounts.filter(({ id }) => id !== 'support') });
    expect(await textOf(world.views)).not.toContain('support');
  });

  it('a reload that failed shows', async () => {
    const world = await startWorld();
    world.daemon.reportInvalidConfiguration('x');
    expect(await textOf(world.views)).toContain('lowwater_config_last_reload_successful 0\n');
  });

  it('odd names are escaped, one line each', async () => {
    const text = await expositionOf({
      type: 'gauge',
      name: 'm',
      help: 'a\\b\nc',
      samples: [{ labels: { a: 'q"u\\o\nte\uD800' }, value: Number.POSITIVE_INFINITY }],
    });
    expect(text).toBe('# HELP m a\\\\b\\nc\n# TYPE m gauge\nm{a="q\\"u\\\\o\\nte\uFFFD"} +Inf\n');
  });

  it('labels of accounts keep to names that Prometheus allows, and take nobody else’s', async () => {
    const labels = { 'cost-centre': '7', name: 'x', '1st': 'y', le: 'z' };
    const world = await startWorld({ accounts: [makeAccount('otp', { name: 'OTP production', labels })] });
    expect(await textOf(world.views)).toContain(
      'lowwater_account_info{account="otp",name="OTP production",currency="CNY",cost_centre="7",label_name="x",label_1st="y",label_le="z"} 1\n',
    );
  });

  it('of labels that are one in Prometheus the one that is written so is shown, and none of those that are not', async () => {
    const accounts = [
      makeAccount('both', {
        labels: { 'cost-centre': 'wrong', cost_centre: 'right', 'cost.centre': 'wrong' },
      }),
      makeAccount('neither', { labels: { 'a-b': 'one', 'a.b': 'other', team: 'ops' } }),
      makeAccount('prefixed', { labels: { name: 'wrong', label_name: 'right' } }),
    ];
    const lines = (await textOf((await startWorld({ accounts })).views)).split('\n');
    expect(lines.filter((line) => line.startsWith('lowwater_account_info{'))).toEqual([
      'lowwater_account_info{account="both",name="both",currency="CNY",cost_centre="right"} 1',
      'lowwater_account_info{account="neither",name="neither",currency="CNY",team="ops"} 1',
      'lowwater_account_info{account="prefixed",name="prefixed",currency="CNY",label_name="right"} 1',
    ]);
  });

  it('a metric without a sample is left out', async () => {
    expect(await expositionOf({ type: 'gauge', name: 'm', help: 'h', samples: [] })).toBe('');
  });

  it.skipIf(promtool === null)('are clean by promtool check metrics', async () => {
    const { views } = await startDemoWorld();
    const odd = buildAccountView({
      id: 'odd',
      currency: '"\\\n',
      reading: { at: viewsNow, balances: { sms: micros(1), voip: 0 }, currency: '"\\\n<' },
    });
    const checked = spawnSync(promtool ?? '', ['check', 'metrics'], {
      input: await textOf(showingAccounts(views, [...(await views.accounts()), odd])),
      encoding: 'utf8',
    });
    expect(checked.stderr + checked.stdout).toBe('');
    expect(checked.status).toBe(0);
  });
});

describe('the rules for Prometheus that come along', () => {
  it.skipIf(promtool === null)('are clean by promtool check rules', () => {
    execFileSync(promtool ?? '', ['check', 'rules', 'deploy/prometheus-rules.yml']);
  });

  it.skipIf(promtool === null)('alarm once for one empty balance, with its amount and a link', () => {
    // Two daemons share a database.
    const series = (name: string, labels: string, value = '1') =>
      ['a', 'b'].map((instance) => ({
        series: `lowwater_${name}{${labels},instance="${instance}"}`,
        values: `${value}x30`,
      }));
    const kinds = { low: 'below', negative: 'negative', runway: 'runway' };
    const fires = (rule: keyof typeof kinds) => [
      series('alert_firing', `account="otp",rule="${rule}",severity="critical"`),
      series('alert_info', `account="otp",rule="${rule}",type="${kinds[rule]}",balance="sms"`),
    ];
    const short = (account: string) => series('runway_seconds', `account="${account}",balance="sms"`, '0');
    const input_series = [
      ...fires('low'),
      ...fires('negative'),
      ...fires('runway'),
      series('alert_inhibited', 'account="otp",rule="low"'),
      series('alert_inhibited', 'account="otp",rule="runway"'),
      series('balance', 'account="otp",balance="sms",currency="CNY"', '-18.383'),
      series('page_info', 'url="https://lowwater.example.com"'),
      short('otp'),
      short('unwatched'),
    ].flat();
    const of = (alertname: string, exp_alerts: readonly object[]) => ({
      alertname,
      eval_time: '20m',
      exp_alerts,
    });
    const alert_rule_test = [
      of('LowwaterAlertFiring', [
        {
          exp_labels: { account: 'otp', rule: 'negative', severity: 'critical', source: 'lowwater' },
          exp_annotations: {
            summary: 'otp: negative (critical)',
            description:
              'The rule negative fires for the account otp, sms -18.38 CNY. https://lowwater.example.com/alerts explains why.',
          },
        },
      ]),
      of('LowwaterRunwayShort', [
        {
          exp_labels: { account: 'unwatched', balance: 'sms', severity: 'warning' },
          exp_annotations: {
            summary: 'unwatched: the sms balance lasts less than three days',
            description: 'By the forecast the balance ends in 0s.',
          },
        },
      ]),
    ];
    testRules({ input_series, alert_rule_test }, shippedRules);
  });

  it.skipIf(promtool === null)('end no alarm about a balance while nobody is scraped who would know', () => {
    // From the tenth minute on it answers, and has not read the shared database yet.
    const isUp = [
      { series: 'lowwater_build_info', values: '1x4 stale _x4 1x20' },
      { series: 'lowwater_account_info{account="otp"}', values: '1x4 stale _x4 1x14 stale' },
      { series: 'lowwater_backoff_seconds{account="otp"}', values: '0x4 stale _x9 0x9 stale' },
    ];
    const alert = (name: string, rule: string, values: string) => ({
      series: `lowwater_alert_${name}{account="otp",rule="${rule}"${name === 'firing' ? ',severity="critical"' : ''}}`,
      values,
    });
    const input_series = [
      ...isUp,
      alert('firing', 'ends-meanwhile', '1x4 stale'),
      alert('firing', 'goes-on', '1x4 stale _x9 1x9 stale'),
      alert('firing', 'taken', '1x4 stale _x9 1x9 stale'),
      alert('acknowledged', 'taken', '1x4 stale _x9 1x9 stale'),
    ];
    const alarms = (eval_time: string, rules: readonly string[]) => ({
      expr: 'count by (rule) (ALERTS{alertname="LowwaterAlertFiring"})',
      eval_time,
      exp_samples: rules.map((rule) => ({ labels: `{rule="${rule}"}`, value: 1 })),
    });
    const both = ['ends-meanwhile', 'goes-on'];
    // At last it has no accounts any more, and knows that.
    const promql_expr_test = [
      alarms('3m', both),
      alarms('8m', both),
      alarms('12m', both),
      alarms('17m', ['goes-on']),
      alarms('27m', []),
    ];
    testRules({ input_series, promql_expr_test }, shippedRules);
  });

  it.skipIf(promtool === null)(
    'alarm about a short runway although a poll fails now and then, until a top-up',
    () => {
      const of = (instance: string, values: string) => ({
        series: `lowwater_runway_seconds{account="otp",balance="sms",instance="${instance}"}`,
        values,
      });
      // The second daemon is gone before the top-up.
      const input_series = [
        of('a', '60x9 stale 60x9 stale 60x9 stale 900000x60'),
        of('b', '60x9 stale'),
        {
          series: 'lowwater_balance{account="otp",balance="sms",instance="a"}',
          values: '9x9 stale 9x9 stale 9x9 stale 9000x60',
        },
      ];
      const alarms = (eval_time: string, count: number) => ({
        expr: 'count(ALERTS{alertname="LowwaterRunwayShort",alertstate="firing"}) or vector(0)',
        eval_time,
        exp_samples: [{ labels: '{}', value: count }],
      });
      testRules({ input_series, promql_expr_test: [alarms('21m', 1), alarms('36m', 0)] }, shippedRules);
    },
  );

  it.skipIf(promtool === null).each([
    ['the provider cannot be read', '60x59 stale', '1x300', 1],
    ['lowwater is away', '60x59 stale', '1x59 stale', 1],
    ['lowwater has the account no more', '60x59 stale', '1x59 stale', 0, 'other'],
    ['the balance was topped up, and lasts for good', '60x59 stale', '1x300', 0, 'otp', '9x300'],
  ])(
    'about a short runway, when %s, say so as long as it is so for all that is known',
    (_, runway, info, alarms, others = 'otp', balance = '9x59 stale') => {
      const of = (name: string, labels: string, values: string) => ({
        series: `lowwater_${name}{account=${labels}}`,
        values,
      });
      const input_series = [
        of('runway_seconds', '"otp",balance="sms"', runway),
        of('balance', '"otp",balance="sms",currency="CNY"', balance),
        of('account_info', '"otp"', info),
        ...(others === 'otp' ? [] : [of('account_info', `"${others}"`, '1x300')]),
      ];
      const firing = (eval_time: string, value: number) => ({
        expr: 'count(ALERTS{alertname="LowwaterRunwayShort",alertstate="firing"}) or vector(0)',
        eval_time,
        exp_samples: [{ labels: '{}', value }],
      });
      // It ends at once where somebody knows that it is over.
      const promql_expr_test = [firing('50m', 1), firing('65m', alarms), firing('240m', alarms)];
      testRules({ input_series, promql_expr_test }, shippedRules);
    },
  );

  it.skipIf(promtool === null)(
    'go on about messages that wait while nobody is scraped who knows the outbox',
    () => {
      const input_series = [
        { series: 'lowwater_outbox_pending{channel="ops"}', values: '2x29 stale _x29 1x9 0x9' },
        { series: 'lowwater_outbox_pending{channel="mail"}', values: '2x29 stale _x29 0x19' },
      ];
      const stuck = (eval_time: string, channels: readonly string[]) => ({
        expr: 'count by (channel) (ALERTS{alertname="LowwaterOutboxStuck",alertstate="firing"})',
        eval_time,
        exp_samples: channels.map((channel) => ({ labels: `{channel="${channel}"}`, value: 1 })),
      });
      const promql_expr_test = [
        stuck('20m', ['ops', 'mail']),
        stuck('55m', ['ops', 'mail']),
        stuck('65m', ['ops']),
        stuck('75m', []),
      ];
      testRules({ input_series, promql_expr_test }, shippedRules);
    },
  );

  it.skipIf(promtool === null)(
    'alarm where a message was refused before a new daemon was first scraped',
    () => {
      const target = '{instance="a",job="lowwater"}';
      const input_series = [
        {
          series: 'lowwater_notifications_total{channel="ops",instance="a",job="lowwater",state="dead"}',
          values: '1+0x2 1+0x30',
        },
        // Another start after three minutes, and the count of before at its first scrape.
        { series: `lowwater_start_timestamp_seconds${target}`, values: '0+0x2 170+0x30' },
      ];
      const alarms = (eval_time: string, value: number) => ({
        expr: 'count(ALERTS{alertname="LowwaterMessageRefused",alertstate="firing"}) or vector(0)',
        eval_time,
        exp_samples: [{ labels: '{}', value }],
      });
      const promql_expr_test = [alarms('1m', 1), alarms('4m', 1), alarms('16m', 1), alarms('19m', 0)];
      testRules({ input_series, promql_expr_test }, shippedRules);
    },
  );

  it.skipIf(promtool === null)('alarm where a poll is overdue, and not for a night without polls', () => {
    const due = (account: string, at: number) => [
      { series: `lowwater_next_poll_timestamp_seconds{account="${account}"}`, values: `${at}x120` },
      { series: `lowwater_last_success_timestamp_seconds{account="${account}"}`, values: '0x120' },
    ];
    const input_series = [...due('stuck', 300), ...due('nightly', 43_200)];
    const alert_rule_test = [
      {
        alertname: 'LowwaterNotReading',
        eval_time: '90m',
        exp_alerts: [
          {
            exp_labels: { account: 'stuck', severity: 'warning' },
            exp_annotations: {
              summary: 'stuck should have been polled 1h 25m 0s ago',
              description:
                'Its balance is unknown since then. lowwater has alerts of its own for polls that fail; this one says that none is made.',
            },
          },
        ],
      },
    ];
    testRules({ input_series, alert_rule_test }, shippedRules);
  });

  it.skipIf(promtool === null)('sum up spending by a label and a unit, each account once', () => {
    const series = (name: string, labels: string, value = 1) => ({
      series: `lowwater_${name}{${labels}}`,
      values: `${value}x5`,
    });
    const balances = [
      { account: 'otp', balance: 'sms', unit: 'CNY', burn: 12.5, runway: 7200 },
      { account: 'voice', balance: 'sms', unit: 'CNY', burn: 7.5, runway: 3600 },
      { account: 'voice', balance: 'voip', unit: 'minutes', burn: 500, runway: 9000 },
      { account: 'other', balance: 'sms', unit: 'CNY', burn: 1, runway: 60 },
    ];
    const teams = { otp: 'team="identity",', voice: 'team="identity",', other: '' };
    const input_series = ['a', 'b'].flatMap((instance) => [
      ...Object.entries(teams).map(([account, team]) =>
        // The other daemon has another configuration.
        series('account_info', `account="${account}",currency="${instance}",${team}instance="${instance}"`),
      ),
      ...balances.flatMap(({ account, balance, unit, burn, runway }) => {
        const of = `account="${account}",balance="${balance}",instance="${instance}"`;
        const figures = [series('burn_per_day', of, burn), series('runway_seconds', of, runway)];
        return [...figures, series('balance', `${of},currency="${unit}"`, burn * 10)];
      }),
    ]);
    const expected = (expr: string, labels: string, value: number) => ({
      expr,
      eval_time: '3m',
      exp_samples: [{ labels: `${expr}`.replace(/\{.*/, '') + labels, value }],
    });
    const sums = { burn_per_day: 1, balance: 10 };
    const promql_expr_test = [
      ...Object.entries(sums).flatMap(([name, times]) => {
        const sum = (team: string) => `team_currency:lowwater_${name}:sum{team="${team}"}`;
        return [
          expected(`${sum('identity')} < 500`, '{currency="CNY",team="identity"}', 20 * times),
          expected(`${sum('identity')} >= 500`, '{currency="minutes",team="identity"}', 500 * times),
          expected(sum(''), '{currency="CNY"}', times),
        ];
      }),
      expected('team:lowwater_runway_seconds:min{team="identity"}', '{team="identity"}', 3600),
    ];
    testRules({ input_series, promql_expr_test }, shippedRules);
  });
});

function expositionOf(metric: Metric): Promise<string> {
  return joined(renderExposition([[metric]]));
}

function textOf(views: LiveViews): Promise<string> {
  return joined(renderMetrics(views, { now: viewsNow, refusedTokens: 0 }));
}

async function joined(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}
