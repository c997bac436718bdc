import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { exampleKeys } from '../../src/channels/post-kind.ts';
import { channelKinds, presets } from '../../src/channels/registry.ts';
import { configJsonSchema, editorJsonSchema } from '../../src/config/json-schema.ts';
import { describeProvider } from '../../src/providers/describe-provider.ts';
import { providerKindOf } from '../../src/providers/registry.ts';
import { ruleKinds } from '../../src/rules/registry.ts';
import { exampleEnv as env, exampleConfig as example } from '../support/example-channels.ts';
import { load, loadValid, placeholder, sample } from './sample.ts';

const root = join(import.meta.dirname, '..', '..');

/** The example of the public contract, word for word. */
const contractExample = {
  $schema: './config.schema.json',
  provider: {
    baseUrl: 'https://api.example.com',
    timeout: '10s',
    maxRequestsPerSecond: 1,
    backoff: { initial: '30s', max: '1h' },
  },
  poll: { every: '5m' },
  accounts: [
    {
      id: 'otp',
      name: 'OTP production',
      authSecret: placeholder('env:OTP_AUTH_SECRET'),
      currency: 'CNY',
      labels: { team: 'identity' },
    },
    {
      id: 'marketing',
      authSecret: placeholder('file:/run/secrets/marketing'),
      baseUrl: 'https://eu.example.com',
      poll: { cron: '*/15 8-20 * * 1-5', timezone: 'Asia/Shanghai' },
    },
  ],
  rules: [
    {
      id: 'sms-low',
      type: 'below',
      balance: 'sms',
      thresholds: { info: 500, warning: 200, critical: 50 },
      hysteresis: '10%',
      for: '0s',
      recoverFor: '0s',
    },
    { id: 'sms-negative', type: 'negative', balance: 'sms', severity: 'critical' },
  ],
  channels: {
    ops: { type: 'slack', webhookUrl: placeholder('env:SLACK_WEBHOOK_URL') },
    finance: {
      type: 'email',
      smtpUrl: placeholder('env:SMTP_URL'),
      from: 'Lowwater <lowwater@example.com>',
      to: ['finance@example.com'],
    },
  },
  routes: [
    {
      match: { severity: 'critical' },
      channels: ['ops', 'finance'],
      repeatEvery: '1h',
      escalate: { after: '30m', channels: ['finance'] },
    },
    { channels: ['ops'], repeatEvery: '4h' },
  ],
  silences: [
    {
      match: { account: 'marketing' },
      cron: '0 2 * * 0',
      timezone: 'UTC',
      duration: '2h',
      comment: 'weekly provider maintenance',
    },
  ],
  reports: [{ id: 'weekly', cron: '0 9 * * 1', timezone: 'Asia/Shanghai', channels: ['finance'] }],
  server: {
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'https://lowwater.example.com',
    token: placeholder('env:LOWWATER_TOKEN:-'),
  },
  heartbeat: { url: 'https://hc.example.com/ping/…', every: '1m' },
  storage: { path: 'lowwater.db', retention: '400d' },
  log: { level: 'info' },
};

test('the example of the contract loads without a warning', () => {
  const files = { '/run/secrets/marketing': { kind: 'text', text: 'marketing-key-1\n' } } as const;
  expect(loadValid(contractExample, { env, files }).warnings).toEqual([]);
});

test('config.example.json loads without a warning and shows every section but that of several daemons, which its file excludes', () => {
  const { warnings } = loadValid(example, { env });
  expect(warnings).toEqual([]);
  const { cluster, ...rest } = JSON.parse(JSON.stringify(configJsonSchema())).properties;
  expect(cluster).toBeDefined();
  const sections = Object.keys(rest);
  expect(Object.keys(JSON.parse(example)).toSorted()).toEqual(sections.toSorted());
});

test('config.example.json shows every rule type, and every channel type that is no preset', () => {
  const { settings } = loadValid(example, { env });
  const types = (list: readonly { type: string }[]) => new Set(list.map(({ type }) => type));
  expect(types(settings.rules)).toEqual(types(ruleKinds));
  const ownKinds = channelKinds.filter((kind) => !presets.some(({ type }) => type === kind.type));
  expect(types(settings.channels)).toEqual(types(ownKinds));
});

test.each(presets)('a channel as docs/channels.md writes it is valid: $type', (preset) => {
  const { type } = preset;
  const channels = { ops: { type, ...exampleKeys(preset) } };
  const { settings } = loadValid({ ...sample(), channels, routes: [] });
  expect(settings.channels.map((channel) => channel.type)).toEqual([type]);
});

const spenders = presets.filter(({ spendsBalance }) => spendsBalance);

test.each(spenders)('$type never sends by the account that its messages are about', (preset) => {
  const { type } = preset;
  const keys = exampleKeys(preset);
  const secret = Object.keys(preset.keys).find((key) => preset.keys[key]?.kind === 'secret') ?? '';
  const accounts = [{ id: 'otp', authSecret: 'shared-secret-0123456789' }];
  const channels = { ops: { type, ...keys, [secret]: 'shared-secret-0123456789' } };
  const loaded = load({ ...sample(), accounts, channels, routes: [] });
  expect(loaded).toMatchObject({
    kind: 'invalid',
    problems: [
      { path: `channels.ops.${secret}`, message: expect.stringContaining('nothing pays for the alert') },
    ],
  });
});

test('config.schema.json is what scripts/write-schema.ts writes', () => {
  const file = readFileSync(join(root, 'config.schema.json'), 'utf8');
  expect(file).toBe(`${JSON.stringify(editorJsonSchema(), null, 1)}\n`);
});

test('editors complete the credentials of an account whose entry has the name of its type', () => {
  const text = JSON.stringify(editorJsonSchema());
  const { credentials } = describeProvider(providerKindOf({ type: 'twilio' }));
  const properties = Object.fromEntries(credentials.map(({ name, label }) => [name, { description: label }]));
  expect(text).toContain(
    `"if":{"properties":{"provider":{"const":"twilio"}},"required":["provider"]},"then":{"properties":{"credentials":{"properties":${JSON.stringify(properties)}}}}`,
  );
});

test.each([
  ['the whole JSON Schema', configJsonSchema],
  ['that for editors, in which parts stand once,', editorJsonSchema],
])('%s accepts the examples and refuses what the program refuses', (_, make) => {
  // The conditions complete credentials and refuse nothing; zod reads none.
  const text = JSON.stringify(make(), (key, value) => (key === 'allOf' ? undefined : value));
  const schema = z.fromJSONSchema(JSON.parse(text));
  const accepts = (config: unknown) => schema.safeParse(config).success;
  expect(accepts(JSON.parse(example))).toBe(true);
  expect(accepts(contractExample)).toBe(true);
  expect(accepts({ ...sample(), server: null })).toBe(true);
  const channels = {
    ops: { type: 'email', smtpUrl: 'SMTPS://mail.example.com:465', from: 'a@b', to: ['a@b'] },
  };
  const inCapitals = { ...sample(), provider: { baseUrl: 'HTTPS://API.example.com' }, channels, routes: [] };
  expect([load(inCapitals).kind, accepts(inCapitals)]).toEqual(['loaded', true]);
  const headers = { Authorization: 'Bearer token', 'x-TENANT': '7' };
  const hook = { type: 'webhook', url: 'https://hooks.example.com', headers };
  expect(accepts({ ...sample(), channels: { hook }, routes: [] })).toBe(true);
  expect(accepts({ ...sample(), server: { port: placeholder('env:PORT') } })).toBe(true);
  const word = placeholder('env:SEVERITY');
  const match = { severity: word, not: { severity: [word] } };
  expect(accepts({ ...sample(), routes: [{ match, channels: ['ops'] }] })).toBe(true);
  const trustedProxy = { addresses: ['::1'], header: placeholder('env:HEADER') };
  expect(accepts({ ...sample(), server: { trustedProxy } })).toBe(true);
  expect(accepts({ ...sample(), acounts: [] })).toBe(false);
  expect(accepts({ ...sample(), poll: { every: '5 minutes' } })).toBe(false);
  expect(accepts({ ...sample(), server: { port: 70_000 } })).toBe(false);
  expect(accepts({ ...sample(), rules: [{ id: 'a', type: 'idle', window: '1h', threshold: 1 }] })).toBe(
    false,
  );
});

test('every key of the JSON Schema has a hover text', () => {
  const bare: string[] = [];
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const properties = Reflect.get(node, 'properties');
    if (typeof properties === 'object' && properties !== null) {
      for (const [key, value] of Object.entries(properties)) {
        if (!Object.hasOwn(Object(value), 'description')) bare.push(`${path}.${key}`);
      }
    }
    for (const [key, value] of Object.entries(node)) visit(value, `${path}.${key}`);
  };
  visit(configJsonSchema(), '');
  expect(bare).toEqual([]);
});
