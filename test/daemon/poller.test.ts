import { expect, test } from 'vitest';
import { createHistoryLoader } from '../../src/daemon/history-loader.ts';
import { Poller } from '../../src/daemon/poller.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader, nothingStored } from '../../src/views/empty-reader.ts';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeProvider, makeSettings } from '../support/settings.ts';
import { startWorld } from '../support/world.ts';

test('many polls that are due together are begun in parts, each once, and nothing is overdue meanwhile', () => {
  let now = Date.UTC(2026, 0, 1);
  const accounts = Array.from({ length: 120 }, (_, index) => makeAccount(`a-${index}`));
  const settings = makeSettings({ accounts });
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: seededRandom(),
    stored: nothingStored,
    now,
  });
  const asked: string[] = [];
  const poller = new Poller({
    state,
    readBalance: ({ id }) => {
      asked.push(id);
      return new Promise(() => undefined);
    },
    historyLoader: createHistoryLoader(state, emptyReader, () => now),
    now: () => now,
    ended: () => undefined,
    planned: () => undefined,
  });
  poller.adopt(new Set());
  now += 10 * minuteMs;
  const begun: number[] = [];
  while (poller.nextAt <= now) {
    poller.start(now);
    begun.push(asked.length);
    void poller.pollNow('a-119');
    expect(poller.nextAt === Number.POSITIVE_INFINITY || poller.nextAt === now).toBe(true);
  }
  expect(begun).toEqual([50, 100, 120]);
  expect(new Set(asked).size).toBe(120);
});

test('an answer that was asked for before a balance was added to the account is asked for again, and no rule takes it', async () => {
  const account = makeAccount('otp');
  const world = await startWorld({ accounts: [account] });
  await world.pass(minuteMs);
  const [old, present] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.provider.hold = old.promise;
  await world.pass(5 * minuteMs);
  const balances = [...account.balances, { id: 'minutes', label: 'Minutes', alertsBelowZero: true }];
  const few = belowRule({ id: 'few', balance: 'minutes', thresholds: { critical: units(10) } });
  await world.reload({ accounts: [{ ...account, balances }], rules: [few] });
  world.provider.hold = present.promise;
  old.resolve();
  await world.pass(2000);
  expect((await world.views.account('otp'))?.reading).toBeNull();
  world.provider.answer('otp', { balances: { sms: units(9), voip: 0, minutes: units(5) }, currency: 'CNY' });
  present.resolve();
  await world.pass(10_000);
  expect(world.news()).toEqual(['otp/few firing critical']);
});

test('a refusal counts, and its Retry-After is waited for, also where a balance was added while the account was asked', async () => {
  const account = makeAccount('otp');
  const world = await startWorld({ accounts: [account] });
  await world.pass(minuteMs);
  const old = Promise.withResolvers<void>();
  world.provider.hold = old.promise;
  await world.pass(5 * minuteMs);
  const asked = world.provider.asked.get('otp')?.length;
  const balances = [...account.balances, { id: 'minutes', label: 'Minutes', alertsBelowZero: true }];
  await world.reload({ accounts: [{ ...account, balances }] });
  world.provider.fail('otp', 'rate_limited', { retryAfterMs: 60 * minuteMs });
  old.resolve();
  await world.pass(50 * minuteMs);
  expect(world.provider.asked.get('otp')?.length).toBe(asked);
});

test('an account that gains a balance is polled at once, and does not wait for the hour of its cron expression', async () => {
  const poll = { kind: 'cron', cron: '0 8 * * *', timezone: 'UTC' } as const;
  const account = makeAccount('otp', { poll, baseUrl: null });
  const provider = makeProvider();
  const world = await startWorld({ accounts: [account], provider });
  await world.pass(minuteMs);
  const balances = [...account.balances, { id: 'minutes', label: 'Minutes', alertsBelowZero: true }];
  world.provider.answer('otp', { balances: { sms: units(9), voip: 0, minutes: units(5) }, currency: 'CNY' });
  await world.reload({
    accounts: [{ ...account, balances }],
    provider: { ...provider, balances, written: { edited: true } },
  });
  await world.pass(minuteMs);
  expect((await world.views.account('otp'))?.reading?.balances).toMatchObject({ minutes: units(5) });
});

test('an account whose readings are pushed since it was asked last is polled no more', async () => {
  const account = makeAccount('otp');
  const own = makeProvider({ name: 'own', polled: false });
  const world = await startWorld({ accounts: [account], providers: { own } });
  await world.pass(minuteMs);
  const old = Promise.withResolvers<void>();
  world.provider.hold = old.promise;
  await world.pass(5 * minuteMs);
  const asked = world.provider.asked.get('otp')?.length;
  await world.reload({ accounts: [{ ...account, provider: 'own', baseUrl: null }], providers: { own } });
  old.resolve();
  await world.pass(30 * minuteMs);
  expect(world.provider.asked.get('otp')?.length).toBe(asked);
});
