import { expect, test } from 'vitest';
import type { ProviderEntry } from '../../src/domain/provider-entry.ts';
import type { BalanceDefinition } from '../../src/domain/reading.ts';
import { renderMetrics } from '../../src/http/metrics.ts';
import { renderText } from '../../src/messages/render-text.ts';
import { pushedKind } from '../../src/providers/pushed/pushed-kind.ts';
import { accountJson, readingJson } from '../../src/views/account-json.ts';
import { historyHeader } from '../../src/views/csv.ts';
import { alertJson } from '../../src/views/public-json.ts';
import { reviewTime } from '../../src/views/review.ts';
import { belowRule, dayMs, hourMs, minuteMs, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { makeAccount, makeProvider } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const balances: readonly BalanceDefinition[] = [{ id: 'credits', label: 'Credits', alertsBelowZero: true }];
const own: ProviderEntry = { ...makeProvider(), name: 'own', type: pushedKind.type, polled: false, balances };
const parts = {
  providers: { own },
  accounts: [
    makeAccount('otp'),
    makeAccount('ai', { provider: 'own', baseUrl: null, credentials: {}, balances, currency: 'credits' }),
  ],
};

const single = belowRule({ id: 'low', balance: 'credits', thresholds: { warning: units(200) } });

function push(world: World, credits: number, at = world.now, currency = 'credits') {
  return world.views.pushReading({ account: 'ai', at, balances: { credits: credits * 1e6 }, currency });
}

test('a pushed reading is stored and judged as a polled one is', async () => {
  const world = await startWorld(parts);
  expect(await push(world, 40)).toEqual({ isNew: true });
  await world.pass(minuteMs);
  expect(await push(world, -3)).toEqual({ isNew: true });
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['ai/credits-negative firing critical']);
  expect(world.provider.asked.has('ai')).toBe(false);
  await push(world, 100);
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['ai/credits-negative resolved critical (topped-up)']);
  const stored = await world.views.readings('ai', 0, world.now + 1);
  expect(stored.map((reading) => reading.balances)).toEqual([
    { credits: 40e6 },
    { credits: -3e6 },
    { credits: 100e6 },
  ]);
});

test('what programs push is not listed among what people did', async () => {
  const world = await startWorld(parts);
  await push(world, 40);
  await world.pass(minuteMs);
  await push(world, 30);
  expect(await world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 })).toEqual([]);
});

test('the same reading again changes nothing, an older or a future one is refused', async () => {
  const world = await startWorld(parts);
  const at = world.now;
  await push(world, 40, at);
  expect(await push(world, 40, at)).toEqual({ isNew: false });
  expect(await push(world, 41, at)).toMatchObject({ refused: 'not-now' });
  expect(await push(world, 39, at - 1000)).toMatchObject({ refused: 'not-now' });
  expect(await push(world, 39, at + 2 * minuteMs)).toMatchObject({ refused: 'invalid' });
  await world.pass(1000);
  expect(await world.views.readings('ai', 0, at + 1)).toHaveLength(1);
});

test('a reading that was pushed while the clock was ahead keeps out none of the present, nor is it of now for longer', async () => {
  const world = await startWorld(parts);
  world.clock.jump(365 * dayMs);
  await world.pass(minuteMs);
  await push(world, 40);
  world.clock.jump(-365 * dayMs);
  await world.pass(30 * minuteMs);
  expect((await world.views.account('ai'))?.isRead).toBe(false);
  expect(await push(world, 30)).toEqual({ isNew: true });
  expect(await push(world, 35, world.now - 1000)).toMatchObject({ refused: 'not-now' });
  expect(await world.views.account('ai')).toMatchObject({
    isRead: true,
    reading: { balances: { credits: 30e6 } },
  });
});

test('a balance that is added to the configuration is not known until it is read, and no rule, page or figure takes a reading without it', async () => {
  const world = await startWorld({ ...parts, rules: [single] });
  await world.pass(hourMs);
  await push(world, 40);
  await world.pass(minuteMs);
  world.news();
  const added = [...balances, { id: 'minutes', label: 'Minutes', alertsBelowZero: true }];
  const rule = belowRule({ id: 'few', balance: 'minutes', thresholds: { critical: units(10) } });
  const { accounts } = parts;
  await world.reload({
    providers: { own: { ...own, balances: added } },
    accounts: accounts.map((each) => (each.id === 'ai' ? { ...each, balances: added } : each)),
    rules: [single, rule],
  });
  await world.pass(minuteMs);
  const account = await world.views.account('ai');
  expect(account).toMatchObject({ isRead: false, reading: null, worst: 'warning' });
  expect(world.news()).toEqual([]);
  expect((await world.views.explain('ai')).find((each) => each.rule.id === 'few')).toMatchObject({
    evaluation: { kind: 'unknown' },
  });
  let metrics = '';
  const given = { now: world.now, refusedTokens: 0 };
  for await (const part of renderMetrics(world.views, given)) metrics += part;
  expect(metrics).not.toContain('lowwater_balance{account="ai"');
  const order = { since: world.now - dayMs, until: world.now, timezone: 'UTC', groupBy: null };
  await reviewTime(world.views, { ...order, wantsIncident: () => true, wantsAccount: () => true });
  const amounts = { credits: 40e6, minutes: 5e6 };
  await world.views.pushReading({ account: 'ai', at: world.now, balances: amounts, currency: 'credits' });
  await world.pass(minuteMs);
  expect((await world.views.account('ai'))?.worst).toBe('critical');
});

test('readings of other balances, and of polled accounts, are refused with what is allowed', async () => {
  const world = await startWorld(parts);
  const reading = { at: world.now, balances: { sms: 1 }, currency: 'CNY' };
  expect(await world.views.pushReading({ ...reading, account: 'ai' })).toMatchObject({
    refused: 'invalid',
    why: expect.stringContaining('credits'),
  });
  expect(await world.views.pushReading({ ...reading, account: 'otp' })).toMatchObject({ refused: 'not-now' });
  expect(await world.views.pushReading({ ...reading, account: 'nobody' })).toMatchObject({
    refused: 'not-found',
  });
  expect(await give(world.views, { kind: 'poll', account: 'ai' })).toMatchObject({ refused: 'not-now' });
});

test('an account to which nothing is pushed any more goes stale', async () => {
  const world = await startWorld(parts);
  await push(world, 40);
  await world.pass(16 * minuteMs);
  expect(world.news()).toContain('ai/stale firing warning');
});

test('where nothing is pushed to most accounts of an entry, the message says to look at what pushes them', async () => {
  const ids = ['one', 'two', 'three'];
  const pushed = { provider: 'own', baseUrl: null, credentials: {}, balances, currency: 'credits' };
  const world = await startWorld({ ...parts, accounts: ids.map((id) => makeAccount(id, pushed)) });
  for (const account of ids)
    await world.views.pushReading({
      account,
      at: world.now,
      balances: { credits: units(40) },
      currency: 'credits',
    });
  await world.pass(hourMs);
  const [told, ...more] = world.channel('ops').attempts;
  expect(told && renderText(told.message, 10_000)).toContain(
    'Check that what pushes the readings of these accounts runs',
  );
  expect(more).toEqual([]);
});

test('the metrics of an account have no balance while nothing is pushed to it', async () => {
  const world = await startWorld(parts);
  const samples = async () => {
    const given = { now: world.now, refusedTokens: 0 };
    let text = '';
    for await (const part of renderMetrics(world.views, given)) text += part;
    return text;
  };
  await push(world, 40);
  expect(await samples()).toContain('lowwater_balance{account="ai"');
  await world.pass(16 * minuteMs);
  expect(await samples()).not.toContain('lowwater_balance{account="ai"');
});

test('next to an account of the default kind it shows its own balance and nothing of the others', async () => {
  const world = await startWorld(parts);
  await push(world, -1250);
  await world.pass(minuteMs);
  const [otp, ai] = await world.views.accounts();
  const alerts = await world.views.alerts({ all: true });
  if (otp === undefined || ai === undefined) return expect.fail('an account is missing');
  const [message] = world.channel('ops').attempts.map((attempt) => attempt.message);
  if (message === undefined) return expect.fail('nothing was sent');
  const texts = [
    JSON.stringify(accountJson(ai)),
    JSON.stringify(alerts.filter(({ account }) => account === 'ai').map(alertJson)),
    JSON.stringify((await world.views.readings('ai', 0, world.now + 1)).map(readingJson)),
    historyHeader(ai.balances),
    renderText(message, 10_000),
  ];
  expect(texts.join('\n')).not.toMatch(/sms|voip/i);
  expect(renderText(message, 10_000)).toMatch(/Credits balance +-1,250 credits/);
  expect(accountJson(ai).balances).toEqual({ credits: '-1250' });
  expect(historyHeader(ai.balances)).toBe('at,credits,currency\r\n');
  expect(Object.keys(accountJson(otp).balances)).toEqual(['sms', 'voip']);
  expect(historyHeader(otp.balances)).toBe('at,sms,voip,currency\r\n');
});

test('a reading of before the retention is refused: Go’s zero time, 1970, a clock that was never set', async () => {
  const world = await startWorld(parts);
  for (const at of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2025-10-16T00:00:00Z'].map(Date.parse))
    expect(await push(world, 40, at)).toMatchObject({ refused: 'invalid' });
  expect(await push(world, 40, world.now - 399 * dayMs)).toEqual({ isNew: true });
});

test('a pusher whose clock is ahead stores a reading once, however often it repeats it', async () => {
  const world = await startWorld(parts);
  const at = world.now + 40_000;
  expect(await push(world, 40, at)).toEqual({ isNew: true });
  for (let time = 0; time < 4; time += 1) {
    await world.pass(10_000);
    expect(await push(world, 40, at)).toEqual({ isNew: false });
    expect(await push(world, 41, at)).toMatchObject({ refused: 'not-now' });
  }
  expect(await push(world, 39, at + 30_000)).toEqual({ isNew: true });
  await world.pass(1000);
  expect(await world.views.readings('ai', 0, world.now + minuteMs)).toHaveLength(2);
});

test('hundreds that are pushed one after the other are stored in a few batches', async () => {
  const world = await startWorld(parts);
  let commits = 0;
  world.daemon.subscribe(() => {
    commits += 1;
  });
  for (let nth = 1; nth <= 300; nth += 1)
    expect(await push(world, 400 - nth / 10, world.now - 300 + nth)).toEqual({ isNew: true });
  await world.pass(2000);
  expect(commits).toBeLessThan(10);
  expect(await world.views.readings('ai', 0, world.now + 1)).toHaveLength(300);
});

test('burn and runway outlive a restart of an account that is read more seldom than configured, also hours after its newest reading', async () => {
  const world = await startWorld(parts);
  let credits = 1000;
  for (const hours of [3, 6, 3, 10, 3, 3, 6, 10, 3, 6, 3, 10, 6, 3, 6, 3, 10]) {
    await world.pass(hours * 60 * minuteMs);
    credits -= hours;
    await push(world, credits);
  }
  await world.pass(20 * 60 * minuteMs);
  const lived = (await world.views.account('ai'))?.runways;
  expect(lived?.credits?.burnPerDay).toBe(24e6);
  await world.restart({ downMs: 0 });
  expect((await world.views.account('ai'))?.runways).toEqual(lived);
});

test('time neither fires nor resolves an alert to whose account nothing is pushed any more', async () => {
  const low = { ...single, recoverForMs: hourMs };
  const world = await startWorld({ ...parts, rules: [low] });
  await push(world, 40);
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['ai/low firing warning']);
  await push(world, 400);
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual(['ai/stale firing warning']);
  await push(world, 400);
  await world.pass(minuteMs);
  expect(world.news().join()).toContain('ai/low resolved warning');
});
