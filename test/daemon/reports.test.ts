import { describe, expect, test } from 'vitest';
import { wordReport } from '../../src/messages/report-wording.ts';
import { reviewTime, sumReview } from '../../src/views/review.ts';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import type { Received } from '../support/recording-channel.ts';
import { seedDatabase } from '../support/seed-database.ts';
import { makeAccount, makeChannel, makeSettings } from '../support/settings.ts';
import { startWorld, World } from '../support/world.ts';

const daily = { id: 'daily', cron: '30 2 * * *', timezone: 'Europe/Berlin', channels: ['ops'] };
const sleepMs = 10 * minuteMs;

function reports(world: World): Received[] {
  return world.channel('ops').delivered.filter(({ message }) => message.kind === 'report');
}

function localTimes(world: World): string[] {
  const local = new Intl.DateTimeFormat('sv', {
    timeZone: 'Europe/Berlin',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return reports(world).map(({ at }) => local.format(at));
}

describe('a daily report at 02:30 in Berlin', () => {
  test.each([
    [
      'in spring, when 02:30 does not exist, comes at 03:00',
      Date.UTC(2027, 2, 26, 12),
      ['2027-03-27 02:30', '2027-03-28 03:00', '2027-03-29 02:30'],
    ],
    [
      'in autumn, when 02:30 comes twice, comes once',
      Date.UTC(2027, 9, 29, 12),
      ['2027-10-30 02:30', '2027-10-31 02:30', '2027-11-01 02:30'],
    ],
  ])('%s', async (_, startAt, expected) => {
    const world = await startWorld({ reports: [daily] }, { startAt, sleepMs });
    await world.pass(3 * dayMs);
    expect(localTimes(world)).toEqual(expected);
  });

  test('comes once through any number of restarts around it', async () => {
    const world = await startWorld({ reports: [daily] }, { startAt: Date.UTC(2027, 9, 30, 12) });
    await world.pass(12 * hourMs - 3 * minuteMs);
    for (let round = 0; round < 30; round++) await world.restart({ downMs: 1000 * (round % 25) });
    await world.pass(2 * hourMs);
    expect(localTimes(world)).toEqual(['2027-10-31 02:30']);
  });

  test('three missed runs are one late report', async () => {
    const world = await startWorld({ reports: [daily] }, { sleepMs });
    await world.restart({ downMs: 3 * dayMs });
    await world.pass(minuteMs);
    expect(reports(world).length).toBe(1);
    await world.pass(dayMs);
    expect(reports(world).length).toBe(2);
  });

  test('one missed while the machine slept comes soon after it wakes, once', async () => {
    const world = await startWorld({ reports: [daily] });
    world.clock.jump(16 * hourMs);
    await world.pass(5000);
    expect(reports(world).length).toBe(1);
    await world.pass(hourMs);
    expect(reports(world).length).toBe(1);
  });

  test('a clock that is set back a day brings none again, one that was years ahead holds none back', async () => {
    const world = await startWorld({ reports: [daily] }, { sleepMs });
    await world.pass(dayMs);
    expect(reports(world).length).toBe(1);
    world.clock.jump(-dayMs);
    await world.pass(dayMs);
    expect(reports(world).length).toBe(1);
    world.clock.jump(2000 * dayMs);
    await world.pass(dayMs);
    const ahead = reports(world).length;
    world.clock.jump(-2000 * dayMs);
    await world.pass(2 * dayMs);
    expect(reports(world).length).toBeGreaterThan(ahead);
  });

  test('comes again under the same id from the process after one that could not store that it sent it', async () => {
    const world = await startWorld({ reports: [daily] }, { sleepMs, startAt: Date.UTC(2027, 9, 30, 23) });
    world.diskFull = true;
    await world.pass(2 * hourMs);
    world.crash();
    world.diskFull = false;
    world.start();
    await world.pass(dayMs + hourMs);
    const [first, again, next] = reports(world).map(({ message }) => message.id);
    expect(again).toBe(first);
    expect(next).not.toBe(first);
    expect(reports(world)).toHaveLength(3);
  });

  test('begins with the run after it was configured', async () => {
    const world = await startWorld();
    world.reload({ reports: [daily] });
    await world.pass(hourMs);
    expect(reports(world)).toEqual([]);
  });
});

test('a report covers the time since the run before: balances, spending, top-ups, incidents, shortest runway first', async () => {
  const world = await startWorld(
    { accounts: ['ads', 'otp'], reports: [{ ...daily, timezone: 'UTC' }] },
    { sleepMs },
  );
  await world.pass(15 * hourMs);
  let sms = 1000;
  for (let hour = 0; hour < 20; hour++) {
    sms = hour === 10 ? sms + 500 : sms - 10;
    world.provider.set('otp', sms);
    world.provider.set('ads', hour === 5 ? -1 : 10_000);
    await world.pass(hourMs);
  }
  await world.pass(5 * hourMs);
  const message = reports(world).at(-1)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  expect([message.since, message.until].map((at) => new Date(at).toISOString())).toEqual([
    '2026-11-21T02:30:00.000Z',
    '2026-11-22T02:30:00.000Z',
  ]);
  expect(message.accounts.map(({ id }) => id)).toEqual(['otp', 'ads']);
  const [otp, ads] = message.accounts;
  expect(otp?.toppedUp.sms).toBe(units(500));
  expect(otp?.topUps.map(({ micros }) => micros)).toEqual([units(500)]);
  expect(otp?.spent.sms).toBe(units(9000 + 19 * 10));
  expect(ads?.incidents.map(({ rule }) => rule)).toEqual(['sms-negative']);
});

test('a report and the review that it links say the same, also where a reading lies on the edge of their time', async () => {
  const parts = { accounts: ['otp'], rules: [], reports: [{ ...daily, timezone: 'UTC' }] };
  const startAt = Date.UTC(2026, 10, 21, 2);
  // Each hour at half past, more from hour to hour.
  const polls = Array.from({ length: 48 }, (_, hour) => ({
    account: 'otp',
    at: startAt + 30 * minuteMs - (48 - hour) * hourMs,
    answer: { sms: units(9_000 - hour ** 2), voip: 0 },
  }));
  const world = new World(parts, {
    startAt,
    sleepMs,
    leave: (path) => seedDatabase(path, makeSettings(parts), polls),
  });
  world.provider.set('otp', 9_000 - 47 ** 2);
  world.daemon.start();
  await world.pass(hourMs);
  const message = reports(world).at(0)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  expect(polls[24]?.at).toBe(message.since);
  const spent = units(47 ** 2 - 24 ** 2);
  expect(message.accounts).toMatchObject([{ spent: { sms: spent } }]);
  const order = { timezone: 'UTC', groupBy: null, wantsAccount: () => true, wantsIncident: () => true };
  const review = await reviewTime(world.views, { ...order, since: message.since, until: message.until });
  expect(review.spending?.accounts).toMatchObject([{ spent }]);
});

test('what was spent and topped up in another currency is no part of the sums next to the present balance', async () => {
  const world = await startWorld(
    { accounts: ['otp'], reports: [{ ...daily, timezone: 'UTC' }] },
    { sleepMs },
  );
  const startedAt = world.daemon.now();
  for (const [sms, currency] of [
    [100, 'EUR'],
    [40, 'EUR'],
    [90, 'EUR'],
    [80, 'USD'],
    [77, 'USD'],
  ] as const) {
    world.provider.set('otp', sms, { currency });
    await world.pass(hourMs);
  }
  await world.pass(dayMs);
  const message = reports(world).at(0)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  const [account] = message.accounts;
  expect(account).toMatchObject({ spent: { sms: units(3) }, toppedUp: { sms: 0 }, topUps: [] });
  // Three hours were read in the other one: no part of the days that what was spent is shared out over.
  expect((account?.spentSince ?? 0) - startedAt).toBeGreaterThanOrEqual(3 * hourMs);
});

test('a report on schedule is in the language of each channel, unless it names its own', async () => {
  const channels = [
    makeChannel('ops'),
    ...(['zh-CN', 'es'] as const).map((language) => ({ ...makeChannel(language), language })),
  ];
  const names = channels.map(({ name }) => name);
  const all = { ...daily, channels: names };
  const world = await startWorld({ channels, reports: [all, { ...all, id: 'own', language: 'es' }] });
  await world.pass(dayMs);
  const languages = (id: string) =>
    names.map((name) => {
      const own = world
        .channel(name)
        .delivered.find(({ message }) => message.kind === 'report' && message.reportId === id);
      return own?.message.language;
    });
  expect(languages('daily')).toEqual(['en', 'zh-CN', 'es']);
  expect(languages('own')).toEqual(['es', 'es', 'es']);
});

test('what is spent per day counts from when it was watched first', async () => {
  const world = await startWorld(
    { accounts: ['otp'], reports: [{ ...daily, timezone: 'UTC' }] },
    { sleepMs },
  );
  await world.pass(2 * dayMs);
  const message = reports(world).at(0)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  const [first] = message.accounts;
  expect(first?.spentSince).toBeGreaterThan(message.since);
  const second = reports(world).at(1)?.message;
  expect(second?.kind === 'report' && second.accounts[0]?.spentSince).toBeUndefined();
});

test('what is spent per day counts from when it was watched first though stored readings after that are damaged', async () => {
  const world = await startWorld(
    { accounts: ['otp'], reports: [{ ...daily, timezone: 'UTC' }] },
    { sleepMs },
  );
  for (let sms = 100; sms > 52; sms--) {
    world.provider.set('otp', sms);
    await world.pass(hourMs);
    const now = world.daemon.now();
    const damage = { account: 'otp', earliestAt: now - hourMs, latestAt: now, polls: 1, foundAt: now };
    if (sms === 70) world.daemon.state.damaged.set('otp', [damage]);
  }
  const message = reports(world).at(1)?.message;
  if (message?.kind !== 'report') throw new Error('no second report came');
  expect(message.accounts[0]?.spentSince).toBeGreaterThan(message.since + 12 * hourMs);
  expect(wordReport(message, 1).accounts[0]?.lines[0]?.perDay).toBe('24.00 CNY per day');
});

test('a late report about a time before the first reading knows nothing of that time', async () => {
  const world = await startWorld({ accounts: [], reports: [{ ...daily, timezone: 'UTC' }] }, { sleepMs });
  world.clock.jump(16 * hourMs);
  world.reload({ accounts: ['otp'], reports: [{ ...daily, timezone: 'UTC' }] });
  await world.pass(sleepMs);
  const message = reports(world).at(0)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  const [first] = message.accounts;
  expect(first?.reading?.at).toBeGreaterThan(message.until);
  expect(first?.spentSince).toBeGreaterThan(message.until);
});

test('a report about a time that was not read to its end knows what was spent only until its last reading', async () => {
  const world = await startWorld(
    { accounts: ['otp'], reports: [{ ...daily, timezone: 'UTC' }] },
    { sleepMs },
  );
  await world.pass(2 * dayMs);
  world.provider.fail('otp');
  await world.pass(3 * dayMs);
  world.provider.set('otp', 900);
  await world.pass(dayMs);
  const all = reports(world).map(({ message }) => (message.kind === 'report' ? message : null));
  const until = all.map((message) => message?.accounts[0]?.spentUntil ?? null);
  const lastReading = all[2]?.accounts[0]?.reading?.at;
  // Two days were read, then came a part of one, two in which nothing was read, and one at whose end it was again.
  expect(until).toEqual([null, null, lastReading, lastReading, lastReading, null]);
  expect(lastReading).toBeLessThan(all[2]?.until ?? 0);
});

test('a weekly report says what the month comes to, its budget, and what the next pay runs must hold', async () => {
  const rates = { date: '2026-11-19', base: 'EUR', amounts: { CNY: '0.125' }, inverted: false };
  const monthly = {
    ...smsLow({ warning: units(2000) }),
    id: 'monthly',
    type: 'budget',
    per: 'month',
    by: 'spent',
  };
  const world = new World(
    {
      accounts: [makeAccount('otp', { leadTimeMs: 2 * dayMs })],
      rules: [monthly],
      payDays: '0 9 * * 5',
      money: { currency: 'EUR', rates, source: null },
      reports: [{ ...daily, cron: '0 9 * * 1' }],
    },
    { startAt: Date.UTC(2026, 10, 2), sleepMs },
  );
  world.provider.set('otp', 1400);
  world.daemon.start();
  for (let hour = 0; hour < 15 * 24; hour++) {
    world.provider.set('otp', 1400 - 3 * hour);
    await world.pass(hourMs);
  }
  const message = reports(world).at(-1)?.message;
  if (message?.kind !== 'report') throw new Error('no report came');
  const [month] = message.months;
  expect(month).toMatchObject({ currency: 'CNY', budget: units(2000), unknown: 0, balances: 2 });
  // Watched since the second day of November: 28.5 days of 72 a day are left at most.
  expect(month?.month.isWhole).toBe(false);
  expect((month?.month.total.micros ?? 0) / units(29 * 72)).toBeCloseTo(1, 1);
  expect(message.payRuns[0]?.sums[0]?.currency).toBe('CNY');
  // 371 yuan were left.
  expect(message.inOne?.left.micros).toBe(units(371) / 8);
});

test('report and review say no sum in one currency where no account was ever read', async () => {
  const rates = { date: '2026-11-19', base: 'EUR', amounts: { CNY: '0.125' }, inverted: false };
  const money = { currency: 'EUR', rates, source: null };
  const world = new World({ money, reports: [daily] }, { sleepMs });
  world.provider.fail('otp');
  world.daemon.start();
  await world.pass(dayMs);
  const message = reports(world).at(-1)?.message;
  expect(message).toMatchObject({ inOne: null, accounts: [{ reading: null }] });
  const all = { groupBy: null, timezone: 'UTC', wantsAccount: () => true, wantsIncident: () => true };
  const order = { ...all, since: world.now - dayMs, until: world.now };
  expect(sumReview(await reviewTime(world.views, order), money)).toBeNull();
});

test('a report says its times in its own zone: a month begins at its midnight', async () => {
  const monthly = { ...daily, cron: '0 0 1 * *', timezone: 'Asia/Shanghai' };
  const startAt = Date.UTC(2026, 10, 30, 15);
  const world = await startWorld({ reports: [monthly] }, { startAt, sleepMs });
  await world.pass(2 * hourMs);
  const message = reports(world).at(-1)?.message;
  expect(message?.kind === 'report' && wordReport(message, 1).period).toBe(
    'Sun 1 Nov 00:00 UTC+8 to Tue 1 Dec 00:00 UTC+8',
  );
});

test('a report on the first of a month does not add what accounts took in the month that goes on in zones behind', async () => {
  const accounts = ['Asia/Shanghai', 'America/Los_Angeles'].map((timezone, place) =>
    makeAccount(`a${place}`, { timezone }),
  );
  const monthly = { ...daily, cron: '0 9 1 * *', timezone: 'Asia/Shanghai' };
  const world = await startWorld(
    { accounts, reports: [monthly] },
    { startAt: Date.UTC(2026, 10, 30, 20), sleepMs },
  );
  await world.pass(6 * hourMs);
  const message = reports(world).at(-1)?.message;
  const months = message?.kind === 'report' ? message.months : [];
  expect(months.map(({ startsAt }) => new Date(startsAt).toISOString())).toEqual([
    '2026-11-30T16:00:00.000Z',
    '2026-11-01T07:00:00.000Z',
  ]);
});
