import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { eventually } from '../support/eventually.ts';
import { type RunningDaemon, withBed } from '../support/run-daemon.ts';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: object };
}

interface OpenApiOperation {
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

interface OpenApiResponse {
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

const account = (id: string) => ({
  id,
  authSecret: `secret-of-${id}`,
  sms: '120',
  voip: '4.5',
  currency: 'CNY',
});
const accounts = ['otp', 'revoked', 'broken'].map(account);
const config = {
  accounts: accounts.map(({ id, authSecret }) => ({ id, authSecret, labels: { team: '<b>"\\' } })),
  rules: [
    { id: 'sms-low', type: 'below', thresholds: { warning: 200, critical: 50 } },
    { id: 'runway', type: 'runway', within: '3d' },
    { id: 'drop', type: 'drop', by: '50%', window: '1h' },
    { id: 'idle', type: 'idle', window: '1h' },
    { id: 'top-up', type: 'top-up' },
    { id: 'waits', type: 'below', balance: 'voip', threshold: 100, for: '1h' },
  ],
  silences: [
    { match: { account: 'otp' }, cron: '0 2 * * 0', timezone: 'UTC', duration: '2h', comment: 'upkeep' },
  ],
};

describe.concurrent('the API and the metrics of the built program', () => {
  it('answer as the OpenAPI document says, for accounts that are read, refused and broken', () =>
    withBed({ config, scenario: { accounts } }, async (bed) => {
      const { control } = bed.provider;
      control.revokeKey('revoked');
      control.fail({ kind: 'http-error', status: 503 }, 'broken');
      const daemon = await bed.start();
      await eventually('all are polled', async () =>
        (await askAccounts(daemon)).every(({ outcome }) => outcome !== null),
      );
      control.topUp('otp', 'sms', '500');
      await eventually('the alert resolves', async () => !(await fires(daemon, 'otp', 'sms-low')));
      control.setBalance('otp', 'sms', '18.383');
      await eventually('it fires again', async () => fires(daemon, 'otp', 'sms-low'));
      const document = (await daemon.get('/api/v1/openapi.json')) as OpenApi;

      const exchanges = [
        ['post', '/api/v1/alerts/{account}/{rule}/ack', '/api/v1/alerts/otp/sms-low/ack', { by: 'Lin' }],
        ['delete', '/api/v1/alerts/{account}/{rule}/ack', '/api/v1/alerts/otp/sms-low/ack', undefined],
        ['post', '/api/v1/acks', '/api/v1/acks', { alerts: [{ account: 'otp', rule: 'sms-low' }] }],
        ['post', '/api/v1/silences', '/api/v1/silences', { match: { account: 'otp' }, for: '1h' }],
        ['post', '/api/v1/silences', '/api/v1/silences', { match: {}, for: '1h' }],
        [
          'post',
          '/api/v1/silences',
          '/api/v1/silences',
          {
            match: { severity: 'info' },
            startsAt: '2026-01-01T00:00:00+08:00',
            endsAt: '2027-01-01T00:00:00+08:00',
          },
        ],
        ['post', '/api/v1/silences', '/api/v1/silences', { match: {}, for: '1 fortnight' }],
        ['post', '/api/v1/accounts/{id}/poll', '/api/v1/accounts/otp/poll', undefined],
        ['post', '/api/v1/accounts/{id}/poll', '/api/v1/accounts/revoked/poll', undefined],
        [
          'post',
          '/api/v1/accounts/{id}/readings',
          '/api/v1/accounts/otp/readings',
          { at: '2026-01-01T00:00:00Z', balances: { sms: '1', voip: '1' }, currency: 'CNY' },
        ],
        ['delete', '/api/v1/silences/{id}', '/api/v1/silences/none', undefined],
        ['post', '/api/v1/reports/{id}', '/api/v1/reports/none', undefined],
        ['get', '/api/v1/expected-top-ups', '/api/v1/expected-top-ups', undefined],
        ['post', '/api/v1/expected-top-ups', '/api/v1/expected-top-ups', { account: 'otp', amount: '5' }],
        ['delete', '/api/v1/expected-top-ups/{id}', '/api/v1/expected-top-ups/none', undefined],
        ['get', '/api/v1/spending-forecast', '/api/v1/spending-forecast', undefined],
        ['get', '/api/v1/expected-spending', '/api/v1/expected-spending', undefined],
        ['post', '/api/v1/expected-spending', '/api/v1/expected-spending', { account: 'otp', amount: '5' }],
        ['delete', '/api/v1/expected-spending/{id}', '/api/v1/expected-spending/none', undefined],
        ['get', '/api/v1/views/{view}', '/api/v1/views/alerts', undefined],
        ['get', '/api/v1/views/{view}', '/api/v1/views/account?account=none', undefined],
        ['delete', '/api/v1/silences', '/api/v1/silences', { id: 'none' }],
        ['post', '/api/v1/test-alerts', '/api/v1/test-alerts', { account: 'otp', severity: 'loud' }],
        ['get', '/api/v1/alerts', '/api/v1/alerts?all=true', undefined],
        ...Object.entries(document.paths)
          .filter(([, operations]) => operations.get !== undefined)
          .flatMap(([path]) =>
            (path.includes('{id}') ? accounts.map(({ id }) => id) : ['']).map(
              (id) => ['get', path, path.replace('{id}', id), undefined] as const,
            ),
          ),
      ] as const;
      for (const [method, path, address, body] of exchanges) {
        const { status, answer } = await order(daemon, method.toUpperCase(), address, body);
        const { responses } = document.paths[path]?.[method] ?? { responses: {} };
        const response = responses[status] ?? responses[`${String(status)[0]}XX`];
        expect(findViolation(document, response, answer), `${method} ${address}: ${status}`).toBeNull();
      }
      const tried = new Set(exchanges.map(([method, path]) => `${method} ${path}`));
      const promised = Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method} ${path}`),
      );
      expect(promised.filter((operation) => !tried.has(operation))).toEqual([]);
      await daemon.stop();
    }));

  it('metrics hold every name that rules and dashboard ask for, and nothing of what is gone', () =>
    withBed({ config, scenario: { accounts } }, async (bed) => {
      bed.provider.control.fail({ kind: 'http-error', status: 503 }, 'broken');
      // The runway of a balance below zero is known at once.
      bed.provider.control.setBalance('otp', 'sms', '-18.383');
      const daemon = await bed.start();
      await eventually('all are polled', async () =>
        (await askAccounts(daemon)).every(({ id, outcome }) =>
          id === 'otp' ? outcome === 'ok' : outcome !== null,
        ),
      );
      const before = await scrape(daemon);
      const known = new Set([...before.matchAll(/^(lowwater_\w+)/gm)].map(([, name]) => name));
      for (const name of [
        ...askedFor('deploy/prometheus-rules.yml'),
        ...askedFor('deploy/grafana-dashboard.json'),
      ]) {
        expect(known.has(name) || derived.has(name), name).toBe(true);
      }
      expect(before).toContain('lowwater_notifications_total{channel="ops",state="dead"} 0\n');
      expect(before).not.toMatch(/lowwater_balance\{account="broken"/);
      expect(before).toMatch(/lowwater_polls_total\{account="broken",outcome="http_error"\} /);
      const promtool = spawnSync('promtool', ['check', 'metrics'], { input: before, encoding: 'utf8' });
      if (promtool.error === undefined) expect(promtool.stdout + promtool.stderr).toBe('');

      bed.configure({ accounts: config.accounts.filter(({ id }) => id === 'otp') });
      const after = await eventually('the account is gone', async () => {
        const text = await scrape(daemon);
        return text.includes('account="broken"') ? null : text;
      });
      const count = (text: string) => Number(/account="otp",outcome="ok"\} (\d+)/.exec(text)?.[1]);
      expect(count(after)).toBeGreaterThanOrEqual(count(before));
      await daemon.stop();
    }));
});

/**
 * Known only once there is enough history, which takes longer than a test; of alerts that somebody took or muted; and of daemons that
 * share a database (`cluster-start.test.ts`).
 */
const derived = new Set([
  'lowwater_burn_per_day',
  'lowwater_alert_acknowledged',
  'lowwater_alert_silenced',
  'lowwater_alert_inhibited',
  'lowwater_page_info',
  'lowwater_fleet_polling',
  'lowwater_same_configuration',
]);

function askedFor(file: string): ReadonlySet<string> {
  return new Set(readFileSync(file, 'utf8').match(/lowwater_\w+/g));
}

/** What is wrong with an answer by the schema of the document; null when nothing is. */
function findViolation(document: OpenApi, response: OpenApiResponse | undefined, answer: unknown): unknown {
  if (response === undefined) return 'the document knows no such answer';
  const schema = {
    ...Object.values(response.content)[0]?.schema,
    $defs: document.components.schemas,
  };
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
  const parsed = z.fromJSONSchema(JSON.parse(text)).safeParse(answer);
  return parsed.success ? null : JSON.stringify(parsed.error.issues).slice(0, 1_000);
}

async function order(
  { url }: RunningDaemon,
  method: string,
  path: string,
  body: object | undefined,
): Promise<{ readonly status: number; readonly answer: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const isText = response.headers.get('content-type')?.startsWith('text/') ?? false;
  return { status: response.status, answer: isText ? await response.text() : await response.json() };
}

async function askAccounts(daemon: RunningDaemon) {
  const { accounts: all } = (await daemon.get('/api/v1/accounts')) as {
    readonly accounts: readonly { readonly id: string; readonly outcome: string | null }[];
  };
  return all;
}

async function fires(daemon: RunningDaemon, wanted: string, rule: string): Promise<boolean> {
  const { alerts } = (await daemon.get('/api/v1/alerts')) as {
    readonly alerts: readonly { readonly account: string; readonly rule: string }[];
  };
  return alerts.some((alert) => alert.account === wanted && alert.rule === rule);
}

async function scrape({ url }: RunningDaemon): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}
