import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { promtool, testRules } from '../support/promtool.ts';

const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal(`$\{DS_PROMETHEUS}`) });

const target = z.object({
  refId: z.string().regex(/^[A-Z]$/),
  datasource,
  expr: z.string().min(1),
  legendFormat: z.string().optional(),
  instant: z.boolean().optional(),
});

/** The part of Grafana's dashboard model (schema version 39) that a dashboard of ours is made of. */
const dashboard = z.object({
  __inputs: z.array(z.object({ name: z.string(), type: z.literal('datasource'), pluginId: z.string() })),
  uid: z.string().regex(/^[a-zA-Z0-9_-]{1,40}$/),
  title: z.string().min(1),
  schemaVersion: z.literal(39),
  version: z.int().positive(),
  refresh: z.string(),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.enum(['datasource', 'query']) })),
  }),
  panels: z.array(
    z.object({
      id: z.int().positive(),
      type: z.enum(['stat', 'timeseries', 'table']),
      title: z.string().min(1),
      datasource,
      gridPos: z.object({
        x: z.int().min(0).max(23),
        y: z.int().min(0),
        w: z.int().min(1).max(24),
        h: z.int().min(1),
      }),
      targets: z.array(target).min(1),
      fieldConfig: z.object({ defaults: z.object({}).loose(), overrides: z.array(z.unknown()) }),
      options: z.object({}).loose().optional(),
    }),
  ),
});

const { panels, templating } = dashboard.parse(
  JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8')),
);
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

it('every panel of the dashboard has a number and a place of its own', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.get(`${x} ${y}`), `${title} lies over it`).toBeUndefined();
        taken.set(`${x} ${y}`, title);
      }
  }
});

it('the dashboard knows every variable that its queries name', () => {
  const known = new Set([...templating.list.map(({ name }) => name), '__rate_interval']);
  const named = queries.flatMap(({ expr }) =>
    [...expr.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name ?? ''),
  );
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('the dashboard shows what is acknowledged, silenced and said by another alert, what each is about, and sums by currency', () => {
  const all = queries.map(({ expr }) => expr).join('\n');
  const metrics = ['alert_acknowledged', 'alert_silenced', 'alert_inhibited', 'alert_info', 'account_info'];
  for (const metric of metrics) expect(all).toContain(`lowwater_${metric}`);
  expect(all).toContain('sum by (currency, balance) (');
});

it.skipIf(promtool === null)('Prometheus reads every query of the dashboard', () => {
  const rules = queries.map(({ expr }, index) => ({
    record: `dashboard:query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$account', '.*'),
  }));
  const file = join(mkdtempSync(join(tmpdir(), 'lowwater-dashboard-')), 'rules.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const notified = execFileSync(promtool ?? '', ['check', 'rules', file], { encoding: 'utf8' });
  rmSync(dirname(file), { recursive: true });
  expect(notified).toContain(`${rules.length} rules found`);
});

it.skipIf(promtool === null)(
  'the dashboard shows each account and alert once where two daemons share a database',
  () => {
    const instances = ['a', 'b'];
    const series = (name: string, labels: string, value: number) =>
      instances.map((instance) => ({
        series: `lowwater_${name}{${labels},instance="${instance}"}`,
        values: `${value}x5`,
      }));
    const alert = 'account="otp",rule="low"';
    const input_series = [
      ...series('account_info', 'account="otp",name="OTP",currency="CNY"', 1),
      ...series('balance', 'account="otp",balance="sms",currency="CNY"', 40),
      ...series('burn_per_day', 'account="otp",balance="sms"', 5),
      ...series('runway_seconds', 'account="otp",balance="sms"', 60),
      ...series('alert_firing', `${alert},severity="critical"`, 1),
      ...series('alert_info', `${alert},type="below",balance="sms"`, 1),
      ...series('alert_firing', 'account="@lowwater",rule="storage-failed",severity="critical"', 1),
      ...series('alert_acknowledged', alert, 1),
      ...series('outbox_pending', 'channel="ops"', 3),
      ...series('config_last_reload_successful', 'job="lowwater"', 1),
      ...series('last_success_timestamp_seconds', 'account="otp"', 0),
      ...series('backoff_seconds', 'account="otp"', 7),
    ];
    const shown: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
      'Alerts that need somebody': [['{}', 1]],
      Acknowledged: [['{}', 1]],
      'Messages waiting': [['{}', 3]],
      'Configuration in force': [['{}', 1]],
      'Balances by currency': [['{balance="sms",currency="CNY"}', 40]],
      'Burn per day by currency': [['{balance="sms",currency="CNY"}', 5]],
      Balances: [['{account="otp",balance="sms",currency="CNY"}', 40]],
      Runway: [['{account="otp",balance="sms"}', 60]],
      'Burn per day': [['{account="otp",balance="sms"}', 5]],
      'Firing alerts': [
        [
          '{account="otp",balance="sms",currency="CNY",name="OTP",rule="low",severity="critical",type="below"}',
          1,
        ],
        ['{account="@lowwater",rule="storage-failed",severity="critical"}', 1],
      ],
      'Age of the last reading': [['{account="otp"}', 180]],
      'Waiting after failures': [['{account="otp"}', 7]],
    };
    const promql_expr_test = Object.entries(shown).map(([title, samples]) => ({
      expr: queries.find((query) => query.title === title)?.expr.replaceAll('$account', '.*'),
      eval_time: '3m',
      exp_samples: samples.map(([labels, value]) => ({ labels, value })),
    }));
    testRules({ input_series, promql_expr_test });
  },
);

it('a figure on the dashboard is of now: the last one of a week is none', () => {
  const figures = panels.filter(({ type }) => type === 'stat').flatMap(({ targets }) => targets);
  expect(figures.filter(({ instant }) => instant !== true)).toEqual([]);
});

it.skipIf(promtool === null)(
  'the dashboard says nothing where lowwater is not scraped, how many accounts are not read where it is, and counts no alerts where none of the daemons has read them',
  () => {
    const figures = panels.filter(({ type }) => type === 'stat').flatMap(({ targets }) => targets);
    const counts = queries.filter(({ expr }) => expr.includes(' or 0 * '));
    const said = (expr: string, ...values: readonly number[]) => ({
      expr: expr.replaceAll('$account', '.*'),
      eval_time: '3m',
      exp_samples: values.map((value) => ({ labels: '{}', value })),
    });
    testRules({ input_series: [], promql_expr_test: figures.map(({ expr }) => said(expr)) });
    const series = (name: string) => ({ series: `lowwater_${name}`, values: '1x5' });
    const input_series = ['build_info', 'account_info{account="lost"}', 'account_info{account="otp"}'];
    testRules({
      input_series: [...input_series, 'backoff_seconds', 'balance{account="otp",balance="sms"}'].map(series),
      promql_expr_test: counts.map(({ title, expr }) => said(expr, title === 'Accounts not read' ? 1 : 0)),
    });
    testRules({
      input_series: input_series.map(series),
      promql_expr_test: counts.map(({ title, expr }) =>
        said(expr, ...(title === 'Accounts not read' ? [2] : [])),
      ),
    });
    testRules({
      input_series: [series('build_info')],
      promql_expr_test: counts.map(({ expr }) => said(expr, 0)),
    });
  },
);
