import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepUnchanged } from '../../src/config/load-config.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { loadValid, sample } from './sample.ts';

function kept(before: Settings, next: Settings): Settings {
  const parts = keepUnchanged(before, next);
  for (let part = parts.next(); ; part = parts.next()) if (part.done === true) return part.value;
}

function settingsOf(change: (config: ReturnType<typeof sample>) => unknown): Settings {
  const config = sample();
  change(config);
  return loadValid(config).settings;
}

const before = settingsOf(() => undefined);

test('what says the same as before remains the same', () => {
  const next = kept(
    before,
    settingsOf(() => undefined),
  );
  expect(next.accounts.map((account, index) => account === before.accounts[index])).toEqual([true, true]);
  expect(next.rules).toBe(before.rules);
});

test.each<readonly [string, (account: Record<string, unknown>) => unknown]>([
  ['name', (account) => Object.assign(account, { name: 'another' })],
  ['key', (account) => Object.assign(account, { authSecret: 'another-key-of-this-account' })],
  ['label', (account) => Object.assign(account, { labels: { team: 'another' } })],
  ['label more', (account) => Object.assign(account, { labels: { team: 'identity', more: 'x' } })],
  ['schedule', (account) => Object.assign(account, { poll: { every: '7m' } })],
  ['holiday', (account) => Object.assign(account, { holidays: ['2026-12-25'] })],
])('an account with another %s is another, the others remain', (_what, change) => {
  const changed = settingsOf(({ accounts: [first = {}] }) => change(first));
  const next = kept(before, changed);
  expect(next.accounts[0]).toBe(changed.accounts[0]);
  expect(next.accounts[1]).toBe(before.accounts[1]);
});

test('where a rule says something else, or stands elsewhere, all rules are others', () => {
  for (const change of [
    (config: ReturnType<typeof sample>) => Object.assign(config.rules[0] ?? {}, { threshold: 101 }),
    (config: ReturnType<typeof sample>) => config.rules.push({ id: 'idle', type: 'idle', window: '1d' }),
  ])
    expect(kept(before, settingsOf(change)).rules).not.toBe(before.rules);
});

test('whatever changes, what is kept says exactly what the file says', () => {
  const account = (keys: object) => (config: ReturnType<typeof sample>) =>
    Object.assign(config.accounts[0] ?? {}, keys);
  const top = (keys: object) => (config: ReturnType<typeof sample>) => Object.assign(config, keys);
  const changes = fc.subarray([
    account({ leadTime: '2d' }),
    account({ creditLimit: 5 }),
    account({ weekend: [] }),
    account({ poll: { every: '7m' } }),
    top({ holidays: ['2026-12-25'] }),
    top({ payDays: 'fri' }),
    top({ money: { currency: 'EUR', rates: { date: '2026-11-01', CNY: '0.1' } } }),
    top({ timezone: 'Asia/Shanghai' }),
    (config) => config.accounts.reverse(),
    (config) => config.rules.splice(0, 1),
  ]);
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const of = (list: typeof first) =>
        settingsOf((config) => list.forEach((change) => void change(config)));
      expect(kept(of(first), of(second))).toEqual(of(second));
    }),
    { numRuns: 40 },
  );
});
