import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/domain/reading.ts';
import { reviewTime, sumReview } from '../../../src/views/review.ts';
import { forecastSpending } from '../../../src/views/spending-forecast.ts';
import type { AccountView } from '../../../src/views/views.ts';
import { currencyRule, hourMs, minuteMs, smsLow, units } from '../../support/account-facts.ts';
import { buildAccountView, buildIncident, dayMs, viewsNow } from '../../support/built-views.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { give } from '../../support/orders.ts';
import { makeAccount } from '../../support/settings.ts';
import { showingAccounts } from '../../support/showing-accounts.ts';
import { runFakeServer, serveWorld } from '../../support/web-server.ts';
import { read, startWorld, type World } from '../../support/world.ts';

const everything = { timezone: 'UTC', groupBy: null, wantsAccount: () => true, wantsIncident: () => true };

/** Two teams. One ran low at noon, was acknowledged after ten minutes and topped up after fifty; it spent 90, the other 30. */
async function reviewedWorld(): Promise<World> {
  const world = await startWorld({
    accounts: [
      makeAccount('otp', { labels: { team: 'identity' } }),
      makeAccount('news', { labels: { team: 'growth' } }),
    ],
    rules: [smsLow({ warning: units(200) })],
  });
  world.provider.set('news', 1_000);
  await read(world, 240);
  world.provider.set('news', 970);
  await read(world, 150);
  await world.pass(10 * minuteMs);
  await give(world.views, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'Lin Chen');
  await world.pass(40 * minuteMs);
  await read(world, 5_000);
  return world;
}

/** One account with these readings. */
function reviewed(account: AccountView, readings: readonly Reading[]) {
  return {
    ...{ accountIds: () => [account.id], accounts: async () => [account] },
    ...{
      incidents: async () => [],
      record: () => null,
      damageEnd: () => Number.NEGATIVE_INFINITY,
      seriesSince: () => 0,
    },
    async *readingsInParts(_: string, from: number, to: number) {
      yield readings.filter(({ at }, place) => (readings[place + 1]?.at ?? at) >= from && at < to);
    },
  };
}

describe('a review', () => {
  it('counts incidents, how long people took, and what was spent by account and label', async () => {
    const world = await reviewedWorld();
    const review = await reviewTime(world.views, {
      ...everything,
      since: world.now - 2 * hourMs,
      until: world.now + 1,
    });
    expect(review.incidents.map(({ account, rule }) => [account, rule])).toEqual([['otp', 'sms-low']]);
    expect([review.open, review.acknowledged]).toEqual([0, 1]);
    expect((review.acknowledgeMs ?? 0) / minuteMs).toBeCloseTo(11, 0);
    expect((review.resolveMs ?? 0) / minuteMs).toBeCloseTo(55, 0);
    expect(review.groupBy).toBe('team');
    const amounts = review.spending?.groups.map(({ group, spent, buckets }) => [group, spent, buckets]);
    // What the worlds began with was more than what was set: that fall is spending too.
    expect(amounts?.map(([group]) => group).toSorted()).toEqual(['growth', 'identity']);
    for (const { spent, buckets } of review.spending?.groups ?? [])
      expect(buckets.reduce((sum, micros) => sum + micros, 0)).toBe(spent);
  });

  it.each(['__proto__', 'toString'])('groups by %s as by any label that no account has', async (groupBy) => {
    const world = await reviewedWorld();
    const order = { ...everything, since: world.now - hourMs, until: world.now, groupBy };
    const { spending } = await reviewTime(world.views, order);
    expect(spending?.groups.map(({ group }) => group)).toEqual(['']);
  });

  it('counts what went before the time as before, and time below zero as far as it was read', async () => {
    const world = await startWorld({ rules: [] });
    await read(world, 100);
    await read(world, 60);
    const middle = world.now;
    await read(world, -10);
    await read(world, -10);
    await read(world, 50);
    const review = await reviewTime(world.views, {
      ...everything,
      since: middle,
      until: middle + hourMs,
    });
    // Most of the time before was not watched: what it took is not known, and no 0.
    expect(review.spending?.accounts).toMatchObject([{ spent: units(70), before: null }]);
    const shorter = { ...everything, since: middle, until: middle + 5 * minuteMs };
    const { spending } = await reviewTime(world.views, shorter);
    expect(spending?.groups).toMatchObject([{ spent: units(70), before: units(40) }]);
    expect(review.spending?.belowZeroMs).toBe(10 * minuteMs);
  });

  it('adds up no more than it can, and says so by page, API and CSV', async () => {
    const world = await startWorld({}, { startAt: viewsNow - minuteMs });
    const { views } = world;
    const reading = { balances: { sms: 1, voip: 1 }, currency: 'CNY', at: viewsNow - dayMs };
    const parts = [[reading], Array.from({ length: 1_000_000 }, () => reading)];
    Object.assign(views, showingAccounts(views, [buildAccountView({ pollIntervalMs: 1_000 })]));
    views.readingsInParts = async function* () {
      yield* parts;
    };
    const review = reviewTime(views, { ...everything, since: viewsNow - 30 * dayMs, until: viewsNow });
    expect((await review).spending).toBeNull();
    const server = await serveWorld(world);
    const get = (path: string) => fetch(`${server.url}${path}`);
    expect(await (await get('/review?range=30d')).text()).toContain('too much history to add up');
    expect(await (await get('/api/v1/review?range=30d')).json()).toMatchObject({ complete: false });
    expect((await get('/api/v1/review.csv?range=30d&of=spending')).status).toBe(400);
    expect((await get('/api/v1/review?severity=bad')).status).toBe(400);
  });

  it('asks of an account once, however long before its first reading the time begins', async () => {
    const world = await startWorld({ rules: [] });
    await read(world, 10);
    const { views } = world;
    const { readingsInParts } = views;
    let asked = 0;
    views.readingsInParts = (...given) => {
      asked += 1;
      return readingsInParts(...given);
    };
    const since = Date.parse('0001-01-01T00:00:00Z');
    const review = await reviewTime(views, { ...everything, since, until: world.now + 1 });
    expect(asked).toBe(views.accountIds().length);
    expect(review.days[0]).toBe('0001-01-01');
    expect(review.days.length).toBeLessThanOrEqual(62);
  });

  it('counts what is below zero on to the end, from the last reading', async () => {
    const world = await startWorld({ rules: [] });
    await read(world, -10);
    const since = world.now;
    const order = { ...everything, since, until: since + 3 * hourMs };
    expect((await reviewTime(world.views, order)).spending?.belowZeroMs).toBe(3 * hourMs);
  });

  it('adds up by the calendar days of the zone, also where the clock changes', async () => {
    const world = await startWorld({ rules: [] });
    const since = Date.UTC(2026, 9, 22, 22);
    const order = { ...everything, timezone: 'Europe/Berlin', since, until: Date.UTC(2026, 9, 27, 23) };
    const { days } = await reviewTime(world.views, order);
    expect(days).toEqual(['2026-10-23', '2026-10-24', '2026-10-25', '2026-10-26', '2026-10-27']);
  });

  it('counts a fall as a whole to the time in which it ends, so that days add up and before a day is the day before', async () => {
    const account = buildAccountView({ timezone: 'UTC', pollIntervalMs: hourMs });
    const days = 5;
    const begin = Date.UTC(2026, 10, 2);
    const step = fc.record({
      at: fc.oneof(
        fc.integer({ min: -48, max: days * 24 }),
        fc.double({ min: -48, max: days * 24, noNaN: true }),
      ),
      sms: fc.integer({ min: 0, max: 1_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(step, { minLength: 2, selector: ({ at }) => Math.floor(at * hourMs) }),
        async (steps) => {
          const readings = steps
            .map(({ at, sms }) => ({
              at: begin + Math.floor(at * hourMs),
              currency: 'CNY',
              balances: { sms, voip: 0 },
            }))
            .sort((left, right) => left.at - right.at);
          const views = reviewed(account, readings);
          const review = async (from: number, to: number) => {
            const order = { ...everything, since: begin + from * dayMs, until: begin + to * dayMs };
            return (
              (await reviewTime(views, order)).spending?.groups[0] ?? { spent: 0, before: null, buckets: [] }
            );
          };
          const whole = await review(0, days);
          const each = await Promise.all(Array.from({ length: days }, (_, day) => review(day, day + 1)));
          expect(each.reduce((sum, { spent }) => sum + spent, 0)).toBe(whole.spent);
          each.forEach(({ spent, before }, day) => {
            if (whole.buckets.length > 0) expect(whole.buckets[day]).toBe(spent);
            if (day > 0 && before !== null) expect(before).toBe(each[day - 1]?.spent);
          });
        },
      ),
    );
  });

  it('counts the fall that ends with the last reading of a day, read once a day at midnight', async () => {
    const begin = Date.UTC(2026, 10, 1);
    const readings = Array.from({ length: 10 }, (_, day) => ({
      at: begin + day * dayMs,
      currency: 'CNY',
      balances: { sms: units(5_000 - 100 * day), voip: 0 },
    }));
    const views = reviewed(buildAccountView({ timezone: 'UTC', pollIntervalMs: dayMs }), readings);
    const day = { ...everything, since: Date.UTC(2026, 10, 5), until: Date.UTC(2026, 10, 6) };
    expect((await reviewTime(views, day)).spending?.groups).toMatchObject([
      { spent: units(100), before: units(100), buckets: [units(100)] },
    ]);
  });

  it('counts what a balance in another currency, or in minutes, took apart from the account’s money', async () => {
    const begin = Date.UTC(2026, 10, 1);
    const balances = [
      { id: 'main', label: 'Main', alertsBelowZero: true },
      { id: 'dollars', label: 'Dollars', alertsBelowZero: true, unit: 'USD' },
      { id: 'calls', label: 'Calls', alertsBelowZero: true, unit: 'minutes' },
    ];
    const readings = Array.from({ length: 6 }, (_, day) => ({
      at: begin + day * dayMs,
      balances: { main: units(100 - day), dollars: units(500 - 10 * day), calls: units(900 - 30 * day) },
      currency: 'EUR',
    }));
    const account = buildAccountView({ timezone: 'UTC', pollIntervalMs: dayMs, balances, currency: 'EUR' });
    const order = { ...everything, since: begin + 3 * dayMs, until: begin + 5 * dayMs };
    const review = await reviewTime(reviewed(account, readings), order);
    expect(review.spending?.accounts).toMatchObject([
      { currency: 'minutes', spent: units(60), before: units(60) },
      { currency: 'USD', spent: units(20), before: units(20) },
      { currency: 'EUR', spent: units(2), before: units(2) },
    ]);
    const rates = { date: '2026-11-01', base: 'EUR', amounts: { USD: '0.9' }, inverted: false };
    const total = sumReview(review, { currency: 'EUR', rates });
    expect(total?.spent).toMatchObject({ micros: units(20), missing: ['minutes'] });
    const world = await startWorld({ rules: [] });
    Object.assign(world.views, reviewed(account, readings));
    const page = await (
      await fetch(`${(await serveWorld(world)).url}/review?from=2026-11-04&to=2026-11-06`)
    ).text();
    expect(page).toContain('Spending in minutes');
  });

  it('says of which accounts what the month will cost is as of their last reading', async () => {
    const world = await startWorld({ accounts: ['otp', 'lost'] }, { sleepMs: hourMs });
    world.provider.fail('lost');
    const readAt = new Date(world.now - minuteMs).toISOString().slice(0, 16);
    await world.pass(dayMs);
    const { url } = await serveWorld(world);
    const page = await (await fetch(`${url}/review`)).text();
    expect(page).toContain('1 account could not be read: what it spent is as of its last reading.');
    const csv = await (await fetch(`${url}/api/v1/spending-forecast.csv`)).text();
    const [header, ...rows] = csv.split('\r\n').map((line) => line.split(','));
    expect(header?.at(-1)).toBe('readAt');
    expect(rows.find(([account]) => account === 'lost')?.at(-1)).toContain(readAt);
  });

  it('counts no difference between two accounts of a provider as spent', async () => {
    const world = await startWorld({ rules: [] });
    await read(world, 9_000);
    const since = world.now;
    await read(world, 8_990);
    world.provider.set('otp', 100);
    await world.reload({ rules: [], accounts: [makeAccount('otp', { baseUrl: 'https://other.example' })] });
    await world.pass(5 * minuteMs);
    await read(world, 95);
    const review = await reviewTime(world.views, { ...everything, since, until: world.now + 1 });
    expect(review.spending?.accounts).toMatchObject([{ spent: units(15) }]);
  });

  it('finds the weekday of what is spent just after midnight by the clocks of that day, once they were changed', async () => {
    const timezone = 'Europe/Berlin';
    const readings = [
      { at: Date.UTC(2026, 2, 16), balances: { sms: units(500), voip: 0 }, currency: 'CNY' },
      // Mon 30 March 0:30, the night after clocks went forward.
      { at: Date.UTC(2026, 2, 29, 22), balances: { sms: units(500), voip: 0 }, currency: 'CNY' },
      { at: Date.UTC(2026, 2, 29, 22, 30), balances: { sms: units(400), voip: 0 }, currency: 'CNY' },
    ];
    const account = buildAccountView({ timezone, pollIntervalMs: dayMs, currency: 'CNY' });
    const order = {
      ...everything,
      timezone,
      since: Date.UTC(2026, 2, 23, 23),
      until: Date.UTC(2026, 2, 30, 22),
    };
    const { spending } = await reviewTime(reviewed(account, readings), order);
    expect(spending?.accounts[0]?.weekdays).toEqual([0, units(100), 0, 0, 0, 0, 0]);
  });

  it('counts what was spent across readings in another currency, as budgets and reports do', async () => {
    const accounts = [makeAccount('otp', { currency: 'CNY' })];
    const reports = [{ id: 'all', cron: '30 12 * * *', timezone: 'UTC', channels: ['ops'] }];
    const world = await startWorld({ accounts, reports });
    const since = world.now + 1;
    for (const [sms, currency] of [
      [9_990, 'CNY'],
      [1_400, 'USD'],
      [1_390, 'USD'],
      [9_950, 'CNY'],
    ] as const) {
      world.provider.set('otp', sms, { currency });
      await world.pass(5 * minuteMs);
    }
    const review = await reviewTime(world.views, { ...everything, since, until: world.now + 1 });
    expect(review.spending?.accounts).toMatchObject([{ currency: 'CNY', spent: units(50) }]);
    expect(world.daemon.state.accounts.get('otp')?.spending.since('day')?.spent.sms).toBe(units(50));
    await world.pass(15 * minuteMs);
    const sent = world.channel('ops').delivered.findLast(({ message }) => message.kind === 'report');
    expect(sent?.message).toMatchObject({ accounts: [{ spent: { sms: units(50) } }] });
  });

  it('says what the month costs in the currency of the account, though it was just read in another one', async () => {
    const accounts = [makeAccount('otp', { currency: 'CNY' })];
    const reports = [{ id: 'all', cron: '0 13 * * *', timezone: 'UTC', channels: ['ops'] }];
    const world = await startWorld({ accounts, reports });
    await read(world, 9_950);
    world.provider.set('otp', 1_400, { currency: 'USD' });
    await world.pass(hourMs);
    const { rows } = await forecastSpending(world.views);
    expect(rows[0]).toMatchObject({ currency: 'CNY', month: { spent: units(50) } });
    const sent = world.channel('ops').delivered.findLast(({ message }) => message.kind === 'report');
    expect(sent?.message).toMatchObject({ months: [{ currency: 'CNY', month: { spent: units(50) } }] });
  });

  it('says of an account whose currency changed neither that all is known nor that nothing was spent before', async () => {
    const readings = Array.from({ length: 20 }, (_, day) => ({
      at: Date.UTC(2026, 10, 1) + day * dayMs,
      balances: { sms: units(5_000 - 100 * day), voip: 0 },
      currency: day < 16 ? 'CNY' : 'USD',
    }));
    const account = buildAccountView({ timezone: 'UTC', pollIntervalMs: dayMs, currency: 'USD' });
    const order = { ...everything, since: Date.UTC(2026, 10, 11), until: Date.UTC(2026, 10, 20) };
    const { spending, inPart } = await reviewTime(reviewed(account, readings), order);
    expect(spending?.accounts).toMatchObject([{ currency: 'USD', spent: units(300), before: null }]);
    expect(inPart).toEqual([account]);
  });

  it('says of an account that is not read any more neither that it spent less than before nor that it was never below zero', async () => {
    const world = await startWorld({ rules: [] }, { sleepMs: hourMs });
    for (let hour = 0; hour < 60; hour++) {
      if (hour < 42) world.provider.set('otp', 1000 - hour);
      else world.provider.fail('otp', 'timeout');
      await world.pass(hourMs);
    }
    const { url } = await serveWorld(world);
    const answer = await (await fetch(`${url}/api/v1/review?range=24h`)).json();
    expect(answer).toMatchObject({
      ...{ changes: [], unknown: [], inPart: ['otp'], totals: { belowZeroSeconds: null } },
      accounts: [{ account: 'otp', before: null }],
    });
    const page = await (await fetch(`${url}/review?range=24h`)).text();
    expect(page).toContain('1 account was not read in all of this time: not in the sums in full.');
    expect(page).not.toContain('less than before');
  });

  it('says of an account that was first read in the time that it was not read before, however seldom it is polled', async () => {
    const at = Date.UTC(2026, 10, 20, 12);
    const account = buildAccountView({ pollIntervalMs: dayMs, readAt: at });
    const order = { ...everything, since: at - 20 * hourMs, until: at + 4 * hourMs };
    const first = { at, currency: 'CNY', balances: { sms: 5, voip: 0 } };
    const daily = await reviewTime(reviewed(account, [first]), order);
    expect(daily).toMatchObject({ inPart: [], spending: { accounts: [{ before: null }] } });
    const often = { ...account, pollIntervalMs: hourMs };
    expect((await reviewTime(reviewed(often, [first]), order)).inPart).toEqual([often]);
  });

  it('names accounts that were not read in the time', async () => {
    const world = await startWorld({ rules: [] });
    const ahead = { ...everything, since: world.now + hourMs, until: world.now + 2 * hourMs };
    expect((await reviewTime(world.views, ahead)).unknown.map(({ id }) => id)).toEqual(['otp']);
  });
});

describe('the page of a review', () => {
  it('shows, filters and exports the same, by page, API and CSV', async () => {
    const world = await reviewedWorld();
    const { url } = await serveWorld(world);
    const page = async (query: string) => (await fetch(`${url}/review${query}`)).text();
    const whole = await page('');
    expect(whole).toContain('>1 incident<');
    expect(whole).toMatch(/Spending by team/);
    expect(whole).toContain('<bdi>Lin Chen</bdi>');
    expect(await page('?person=nobody')).toContain('>0 incidents<');
    expect(await page('?person=lin&label=team%3Didentity')).toContain('>1 incident<');
    const growth = await page('?label=team%3Dgrowth');
    expect(growth).toContain('>0 incidents<');
    expect(growth).not.toContain('<bdi>identity</bdi>');
    const api = await (await fetch(`${url}/api/v1/review?person=lin`)).json();
    expect(api).toMatchObject({
      totals: { incidents: 1, open: 0, acknowledged: 1 },
      groupedBy: 'team',
      complete: true,
    });
    const csv = await fetch(`${url}/api/v1/review.csv`);
    expect(csv.headers.get('content-disposition')).toMatch(/incidents-2026-11-13-2026-11-20\.csv/);
    expect(await csv.text()).toMatch(
      /^firedAt,.*\r\n2026-11-20T12:.*,otp,otp,sms-low,below,warning,.*Lin Chen/,
    );
    const spending = await (await fetch(`${url}/api/v1/review.csv?of=spending`)).text();
    expect(spending).toMatch(/^account,name,label,currency,spent,before\r\n/);
    expect(spending).toMatch(/news,news,growth,CNY,/);
  });

  it('draws no chart and says nothing of a most where nothing was spent', async () => {
    const world = await startWorld({ rules: [] }, { sleepMs: hourMs });
    for (let hour = 0; hour < 50; hour++) await world.pass(hourMs);
    const { url } = await serveWorld(world);
    const page = await (await fetch(`${url}/review`)).text();
    expect(page).toContain('0.00 CNY');
    expect(page).not.toContain('at most');
    expect(page).not.toContain('0.000001');
    world.provider.set('otp', 9_990);
    await world.pass(hourMs);
    expect(await (await fetch(`${url}/review`)).text()).toContain('Spending each day, at most 10.00 CNY.');
  });

  it('lets a value in words wrap as a figure does not', async () => {
    const world = await startWorld({
      accounts: [makeAccount('otp', { currency: 'EUR' })],
      rules: [currencyRule],
    });
    await read(world, 100);
    const { url } = await serveWorld(world);
    const page = await (await fetch(`${url}/review`)).text();
    expect(page).toContain('<td data-label="Value">CNY</td>');
  });

  it('joins the sentences that say why more was spent as their language does', async () => {
    const accounts = [
      makeAccount('otp', { labels: { team: 'a' } }),
      makeAccount('news', { labels: { team: 'b' } }),
    ];
    const world = await startWorld({ accounts, rules: [] }, { sleepMs: hourMs });
    for (let hour = 0; hour < 50; hour++) {
      world.provider.set('otp', 1000 - hour - Math.max(0, hour - 25) * 2);
      world.provider.set('news', 1000);
      await world.pass(hourMs);
    }
    const { url } = await serveWorld(world);
    const headers = { 'accept-language': 'zh-CN' };
    const page = await (await fetch(`${url}/review?range=24h`, { headers })).text();
    expect(page).toMatch(/otp \+48\.00。按/);
  });

  it('says by the API too why more was spent than before', async () => {
    const world = await startWorld({ rules: [] }, { sleepMs: hourMs });
    for (let hour = 0; hour < 50; hour++) {
      world.provider.set('otp', 1000 - hour - Math.max(0, hour - 25) * 2);
      await world.pass(hourMs);
    }
    const { url } = await serveWorld(world);
    const answer = await fetch(`${url}/api/v1/review?range=24h`);
    const more = '48';
    expect(await answer.json()).toMatchObject({
      changes: [{ currency: 'CNY', more, accounts: [{ account: 'otp', more }], weekday: null }],
    });
  });

  it.each([
    [
      'an end before its begin',
      '?from=2026-11-10&to=2026-11-01',
      'from: it must lie before to, and before now',
    ],
    ['a begin in the future', '?from=2027-11-10', 'from: it must lie before to, and before now'],
    ['no date', '?from=2026-11-10&to=yesterday', 'to: give an ISO 8601 time'],
  ])(
    'refuses %s next to the field, which keeps it, by the name that it has',
    async (_what, query, problem) => {
      const { url } = await serveWorld(await startWorld());
      const page = await (await fetch(`${url}/review${query}`)).text();
      expect(page).toContain(`role="alert">${problem}`);
      for (const [name, typed] of new URLSearchParams(query))
        expect(page).toContain(`name="${name}" value="${typed}"`);
      expect(page).toContain('href="/api/v1/review.csv?range=7d"');
      const answer = await fetch(`${url}/api/v1/review${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ detail: expect.stringContaining(problem) });
    },
  );

  it.each(['?done=zone&utm_source=mail', '?range=forever&severity=awful', '?from=2026-11-10&by=team&q=otp'])(
    'links to files that there are, whatever else its address says (%s)',
    async (query) => {
      const { url } = await serveWorld(await startWorld());
      const page = await (await fetch(`${url}/review${query}`)).text();
      const links = [...page.matchAll(/href="(\/api\/v1\/review\.csv[^"]*)"/g)];
      expect(links).toHaveLength(2);
      for (const [, link = ''] of links)
        expect((await fetch(url + link.replaceAll('&amp;', '&'))).status).toBe(200);
    },
  );

  it('says the value of an incident in the unit of its balance', async () => {
    const views = new FakeViews();
    const calls = { id: 'calls', label: 'Calls', alertsBelowZero: true, unit: 'minutes' };
    const reading = { at: viewsNow, balances: { calls: units(4_989) }, currency: 'EUR' };
    const pbx = buildAccountView({ id: 'pbx', balances: [calls], reading, currency: 'EUR' });
    views.accountList = [pbx];
    const value = { unit: 'money', micros: units(4_989) } as const;
    views.incidentList = [buildIncident({ account: 'pbx', balance: 'calls', value, resolvedAt: viewsNow })];
    const { url, close } = await runFakeServer({ views });
    for (const path of ['/review', '/alerts?state=past', '/accounts/pbx'])
      expect(await (await fetch(url + path)).text(), path).toContain('>4,989 minutes</td>');
    const chart = await fetch(`${url}/api/v1/accounts/pbx/chart`);
    expect(await chart.json()).toMatchObject({ balance: 'calls', currency: 'minutes' });
    await close();
  });

  it('tells apart what accounts of one name will cost', async () => {
    const twins = ['east', 'west'].map((id) => makeAccount(id, { name: 'Twin' }));
    const world = await startWorld({ accounts: twins, rules: [] }, { sleepMs: hourMs });
    await world.pass(hourMs);
    const { url } = await serveWorld(world);
    const page = await (await fetch(`${url}/review`)).text();
    const costs = page.slice(page.indexOf('cost-heading'), page.indexOf('incidents-heading'));
    for (const id of ['east', 'west'])
      expect(costs).toContain(`<th scope="row"><a href="/accounts/${id}"><bdi>Twin</bdi></a></th>`);
  });
});
