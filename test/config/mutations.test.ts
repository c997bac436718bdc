import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatProblem } from '../../src/config/config-problem.ts';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { atOnce } from '../../src/domain/parts.ts';
import { load, loadValid, placeholder, sample, sampleSecrets } from './sample.ts';

/** A file that uses most of what there is, with secrets written into it as well as put in by placeholders. */
const literalSecrets = {
  authSecret: 'literal-key-c0ffee11',
  hook: 'https://hooks.example.com/in/literal-token-77',
  clientSecret: 'literal-client-secret',
  refreshToken: 'literal-refresh-token',
  heartbeat: 'https://hc.example.com/ping/literal-uuid-1234',
};

function richConfig() {
  const config = sample();
  config.accounts.push({
    id: 'third',
    authSecret: literalSecrets.authSecret,
    poll: { cron: '*/5 8-20 * * *' },
  });
  config.rules.push(
    {
      id: 'ladder',
      type: 'below',
      thresholds: { info: 30, warning: 20, critical: '10.5' },
      hysteresis: '10%',
    },
    { id: 'runway', type: 'runway', within: '3d', match: { account: ['otp'], labels: { team: 'identity' } } },
    { id: 'drop', type: 'drop', by: '20%', window: '1h' },
  );
  config.channels.hook = {
    type: 'webhook',
    url: literalSecrets.hook,
    secret: placeholder('env:HOOK_SECRET'),
  };
  config.channels.oauth = {
    type: 'email',
    smtpUrl: 'smtp://user@mail.example.com:587',
    from: 'a@example.com',
    to: ['b@example.com'],
    oauth2: {
      user: 'user',
      clientId: 'app',
      clientSecret: literalSecrets.clientSecret,
      refreshToken: literalSecrets.refreshToken,
      accessUrl: 'https://login.example.com/token',
    },
  };
  config.routes.unshift({
    match: { severity: ['critical'], rule: 'sms-low' },
    channels: ['hook'],
    escalate: { after: '30m', channels: ['oauth'] },
  });
  config.silences.push({ match: { account: 'otp' }, cron: '0 2 * * 0', timezone: 'UTC', duration: '2h' });
  config.reports.push({ id: 'weekly', cron: '0 9 * * 1', channels: ['finance'] });
  return {
    ...config,
    heartbeat: { url: literalSecrets.heartbeat },
    storage: { path: 'x.db', retention: '30d' },
  };
}

/** What must never be seen: whole secrets and the telling parts of addresses. */
const forbidden = [
  ...Object.values(sampleSecrets),
  ...Object.values(literalSecrets),
  'marketing-key-77aa01',
  'slackcredential9',
  'mail%40word77',
  'mail@word77',
  'literal-token-77',
  'literal-uuid-1234',
];

/** Places of every value of the file. */
function listPaths(value: unknown, path: readonly string[] = []): string[][] {
  const own = path.length === 0 ? [] : [[...path]];
  if (typeof value !== 'object' || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([key, child]) => listPaths(child, [...path, key]))];
}

const paths = listPaths(richConfig());
const valueThere = fc.constantFrom(...paths).map((path) => path.reduce<unknown>(step, richConfig()));
const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '',
    ' ',
    '-1',
    '1e9',
    '100%',
    '5m',
    'UTC',
    'ops',
    'otp',
    '\u0000',
    placeholder('env:NONE'),
    placeholder('x'),
  ),
  // A value of another place, a secret among them.
  valueThere,
  fc.constantFrom(...Object.keys(sampleSecrets)).map((name) => placeholder(`env:${name}`)),
  fc.constantFrom(...Object.keys(sampleSecrets)).map((name) => `x${placeholder(`env:${name}`)}`),
);
const mutation = fc.record({
  path: fc.constantFrom(...paths),
  kind: fc.constantFrom('replace', 'delete', 'rename', 'repeat'),
  value: strange,
});

test('no mutation of a valid file throws, shows a secret, or speaks in words that are not ours', () => {
  expect(load(richConfig()).kind).toBe('loaded');
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const config = richConfig();
      for (const { path, kind, value } of mutations) mutate(config, path, kind, value);
      const result = load(config);
      const said =
        result.kind === 'loaded'
          ? JSON.stringify(describeSettings(result.settings, atOnce(result.warnings)))
          : result.problems.map(formatProblem).join('\n');
      for (const secret of shownNowhere(config)) expect(said).not.toContain(secret);
      expect(said).not.toMatch(/Invalid input|Too (?:small|big)|expected \w+, received|undefined|NaN/);
      if (result.kind === 'invalid') {
        expect(result.problems.length).toBeGreaterThan(0);
        for (const problem of result.problems) expect(problem.line).toBeGreaterThan(0);
      }
    }),
    { numRuns: 150 },
  );
});

test('no damage to the text of a file throws or shows a secret', () => {
  const text = JSON.stringify(richConfig(), null, 2);
  const damage = fc.record({
    at: fc.nat(text.length),
    remove: fc.nat(12),
    insert: fc.constantFrom('', '"', '{', '}', '[', ',', '\\', '\n', '\u0000', '//', placeholder('')),
  });
  fc.assert(
    fc.property(damage, ({ at, remove, insert }) => {
      const result = load(text.slice(0, at) + insert + text.slice(at + remove));
      if (result.kind === 'loaded') return;
      const said = result.problems.map(formatProblem).join('\n');
      for (const secret of forbidden) expect(said).not.toContain(secret);
    }),
    { numRuns: 400 },
  );
});

test('the description of a valid file shows no secret', () => {
  const { settings, warnings } = loadValid(richConfig());
  const description = JSON.stringify(describeSettings(settings, warnings));
  for (const secret of forbidden) expect(description).not.toContain(secret);
});

/**
 * A secret that a mutation moved to a place that is shown on purpose (a name, an id, a label) is no secret
 * any more once the file is valid; it must still not be shown where the place is wrong for it.
 */
function shownNowhere(config: unknown): readonly string[] {
  return load(config).kind === 'invalid' ? forbidden : [];
}

function mutate(config: unknown, path: readonly string[], kind: string, value: unknown): void {
  const parent = path.slice(0, -1).reduce<unknown>(step, config);
  const key = path.at(-1) ?? '';
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) return;
  if (kind === 'replace') Reflect.set(parent, key, structuredClone(value));
  else if (Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
  else if (kind === 'delete') Reflect.deleteProperty(parent, key);
  else Reflect.set(parent, `${key}x`, structuredClone(Reflect.get(parent, key)));
}

function step(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
