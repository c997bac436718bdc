import { describe, expect, it, test } from 'vitest';
import { paymentOf } from '../../../src/engine/payments.ts';
import { planPayments } from '../../../src/views/payment-plan.ts';
import { minuteMs, smsLow, units } from '../../support/account-facts.ts';
import {
  buildAccountView,
  buildPayment,
  buildRunway,
  dayMs,
  hourMs,
  micros,
  viewsNow,
} from '../../support/built-views.ts';
import { makeAccount } from '../../support/settings.ts';
import { showingAccounts } from '../../support/showing-accounts.ts';
import { serveWorld } from '../../support/web-server.ts';
import { read, startWorld } from '../../support/world.ts';

const now = viewsNow;

describe('a payment', () => {
  const at = (over: Parameters<typeof buildRunway>[0], left: number, clearsAt: number | null = null) =>
    paymentOf(buildRunway(over), {
      left: micros(left),
      clearsAt: clearsAt === null ? null : micros(clearsAt),
      now,
      currency: 'CNY',
    });

  it.each([
    [
      'is what lasts another 30 days, rounded up as people pay',
      { restoreMicros: micros(332.9) },
      100,
      null,
      340,
    ],
    ['clears the alerts where that is more', { restoreMicros: micros(10) }, 20, 200, 180],
    ['clears the alerts where no rate is known', { restoreMicros: null }, -18.383, 0, 19],
  ])('%s', (_what, runway, left, clearsAt, paid) => {
    expect(at(runway, left, clearsAt)?.micros).toBe(micros(paid));
  });

  it.each([
    ['lasts long enough', { restoreMicros: 0 }, 900, null],
    ['is of an unknown rate and above its thresholds', { restoreMicros: null }, 900, 200],
  ])('is none where a balance %s', (_what, runway, left, clearsAt) => {
    expect(at(runway, left, clearsAt)).toBeNull();
  });

  it('is due so that it arrives in time, else before the balance may be empty, and now where it is used up', () => {
    const forecast = {
      emptyAt: now + 3 * dayMs,
      earliest: now + 2 * dayMs,
      latest: null,
      basis: 'hour-of-week',
    };
    const predicted = { forecast: { ...forecast, basis: 'hour-of-week' as const }, emptyAt: now + 3 * dayMs };
    expect(at({ ...predicted, payBy: now + dayMs }, 10)?.dueAt).toBe(now + dayMs);
    expect(at(predicted, 10)?.dueAt).toBe(now + 2 * dayMs);
    expect(at({ runwayMs: 0, emptyAt: null }, -5)?.dueAt).toBe(now);
  });
});

describe('the plan of payments', () => {
  it('adds up by currency what is due this week and in all, the most urgent first', async () => {
    const payment = (days: number | null, amount: number) =>
      buildPayment(amount, days === null ? null : now + days * dayMs);
    const accounts = [
      buildAccountView({ id: 'late', payments: [payment(20, 300)] }),
      buildAccountView({ id: 'soon', payments: [payment(3, 50)] }),
      buildAccountView({ id: 'unknown', currency: 'RMB', payments: [payment(null, 7)] }),
      buildAccountView({ id: 'eur', currency: 'EUR', payments: [payment(1, 5)] }),
    ];
    const views = {
      ...{ accountIds: () => accounts.map(({ id }) => id), accounts: async () => accounts },
      finance: () => ({ money: null }),
    };
    const { currencies } = await planPayments(views, now);
    expect(
      currencies.map(({ currency, payments, thisWeek, next30Days }) => ({
        currency,
        ids: payments.map(({ account }) => account.id),
        thisWeek,
        next30Days,
      })),
    ).toEqual([
      { currency: 'CNY', ids: ['unknown', 'soon', 'late'], thisWeek: micros(57), next30Days: micros(357) },
      { currency: 'EUR', ids: ['eur'], thisWeek: micros(5), next30Days: micros(5) },
    ]);
  });
});

it('what is due at once is due now, also by a clock that was read before', async () => {
  const accounts = [buildAccountView({ payments: [buildPayment(5, now)] })];
  const views = {
    ...{ accountIds: () => accounts.map(({ id }) => id), accounts: async () => accounts },
    finance: () => ({ money: null, runBefore: () => undefined }),
  };
  const { payments } = await planPayments(views, now - minuteMs);
  expect(payments.map(({ due }) => due)).toEqual(['now']);
});

describe('who pays', () => {
  it('is shown what, by when and where, on a page, as CSV and by the API', async () => {
    const world = await startWorld({}, { startAt: viewsNow - minuteMs });
    const accounts = [
      buildAccountView({
        name: '=cmd|calc',
        topUpUrl: 'https://pay.example/otp',
        payments: [buildPayment(9_300, viewsNow + 40 * hourMs)],
      }),
      buildAccountView({ id: 'fine', name: 'Fine' }),
    ];
    Object.assign(world.views, showingAccounts(world.views, accounts));
    const server = await serveWorld(world);
    const page = await (await fetch(`${server.url}/pay`)).text();
    for (const words of ['9,300.00 CNY', 'Sun 10:41', 'href="https://pay.example/otp"', 'This week'])
      expect(page).toContain(words);
    expect(page).not.toContain('>Fine</bdi>');
    const csv = await (await fetch(`${server.url}/api/v1/pay.csv`)).text();
    expect(csv.split('\r\n')).toEqual([
      'account,name,balance,currency,amount,by,topUpUrl,due',
      "otp,'=cmd|calc,sms,CNY,9300,2026-11-22T10:41:00.000Z,https://pay.example/otp,this week",
      '',
    ]);
    const answer = await fetch(`${server.url}/api/v1/pay?limit=1`);
    expect(await answer.json()).toMatchObject({
      payments: [{ account: 'otp', balance: 'sms', amount: '9300', by: '2026-11-22T10:41:00.000Z' }],
      totals: [{ currency: 'CNY', thisWeek: '9300', next30Days: '9300' }],
      nextCursor: null,
    });
  });
});

test('page and CSV say the pay run of each payment where pay days are set', async () => {
  const world = await startWorld({}, { startAt: viewsNow - minuteMs });
  const payment = buildPayment(9_300, viewsNow + 40 * hourMs);
  const payments = [
    { ...payment, runAt: viewsNow + hourMs },
    { ...payment, balance: 'voip', runAt: null },
  ];
  Object.assign(world.views, showingAccounts(world.views, [buildAccountView({ payments })]));
  const { url } = await serveWorld(world);
  const csv = await (await fetch(`${url}/api/v1/pay.csv`)).text();
  const cells = csv.split('\r\n').map((line) => line.split(',').at(-1));
  expect(cells).toEqual(['run', new Date(viewsNow + hourMs).toISOString(), '', '']);
  const page = await (await fetch(`${url}/pay`)).text();
  expect(page.match(/in the run of <time[^>]*>Fri 19:41<\/time>/g)).toHaveLength(1);
});

describe('an alert of a real daemon', () => {
  it('begins with what to pay, where, and what the operators wrote; it says who was notified', async () => {
    const account = makeAccount('otp', {
      topUpUrl: 'https://pay.example/otp',
      runbookUrl: 'https://run.example/otp',
      note: 'Ask Wei <b>first</b>',
    });
    const world = await startWorld({
      accounts: [account],
      rules: [smsLow({ warning: units(200), critical: units(50) })],
    });
    await read(world, 20);
    const { url } = await serveWorld(world);
    for (const path of ['/', '/alerts', '/accounts/otp']) {
      const page = await (await fetch(url + path)).text();
      for (const words of [
        /Pay 180\.00 CNY now/,
        />Top up</,
        />Ordered</,
        />Runbook</,
        /Ask Wei &lt;b&gt;first/,
      ])
        expect(page).toMatch(words);
    }
    expect(await (await fetch(`${url}/alerts`)).text()).toMatch(/<bdi>ops<\/bdi> notified <time/);
  });
});

describe('an alert whose message its channel does not take yet', () => {
  it('says that it is not delivered, and who was notified once it is', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
    world.channel('ops').mood = 'down';
    await read(world, 20);
    const { url } = await serveWorld(world);
    const page = async () => (await fetch(`${url}/alerts`)).text();
    expect(await page()).toMatch(/not delivered yet to <bdi>ops<\/bdi>/);
    expect(await page()).not.toContain('<bdi>ops</bdi> notified');
    world.channel('ops').mood = 'up';
    await world.pass(minuteMs);
    expect(await page()).toMatch(/<bdi>ops<\/bdi> notified <time/);
  });
});

describe('a payment that was ordered', () => {
  const rules = [smsLow({ warning: units(200), critical: units(50) })];
  const order = (url: string, over: Record<string, string> = {}) =>
    fetch(`${url}/pay/ordered`, {
      method: 'POST',
      body: new URLSearchParams({
        account: 'otp',
        balance: 'sms',
        'seen-worst': 'critical',
        amount: '9,300.00',
        arrives: '2026-11-23',
        comment: 'PO-4711',
        by: 'Lin',
        ...over,
      }),
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });

  it('takes the alerts of the balance, and is expected until it comes', async () => {
    const world = await startWorld({ rules });
    await read(world, 20);
    const { url } = await serveWorld(world);
    expect(await (await fetch(`${url}/pay`)).text()).toContain('>Ordered<');
    expect((await order(url)).headers.get('location')).toBe('/pay?done=ordered');
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toMatchObject({
      by: 'Lin',
      comment: 'ordered, PO-4711',
    });
    const page = await (await fetch(`${url}/pay`)).text();
    expect(page).toMatch(/9,300\.00 CNY expected by .*Mon 23 Nov 23:59.*PO-4711/);
    expect(page).not.toContain('Payments in CNY');
    await read(world, 9_300);
    const later = await (await fetch(`${url}/pay`)).text();
    expect(later).not.toContain('expected by');
    // One jump tells nothing of the rate: that is no all-clear.
    expect(later).toContain('Nothing is known to be due within 30 days.');
    expect(later).toMatch(
      /Not read, or not enough history yet: <a href="\/accounts\/otp"><bdi>otp<\/bdi><\/a>\./,
    );
    const api = await (await fetch(`${url}/api/v1/pay`)).json();
    expect(api).toMatchObject({ payments: [], unknown: ['otp'] });
    expect(await (await fetch(`${url}/api/v1/pay.csv`)).text()).toContain('\r\notp,otp,,CNY,,,,\r\n');
  });

  it.each([
    [null, 'Arrives by <input type="date" name="arrives" value="" required>'],
    [dayMs, 'Arrives by (empty: after the lead time) <input type="date" name="arrives" value="">'],
  ])('asks for the day of arrival where no lead time says it: %s', async (leadTimeMs, field) => {
    const world = await startWorld({ rules, accounts: [makeAccount('otp', { leadTimeMs })] });
    await read(world, 20);
    const { url } = await serveWorld(world);
    expect(await (await fetch(`${url}/pay`)).text()).toContain(`<label>${field}`);
  });

  it.each([
    ['the alerts are other ones than the page showed', { 'seen-worst': 'warning' }, 409],
    ['the amount is none', { amount: 'much' }, 400],
    ['a comma may stand before decimals: 12,50 is not 1,250', { amount: '12,50' }, 400],
    ['a point may stand between thousands: 9.300 is not 9.30', { amount: '9.300' }, 400],
    ['nobody says when it arrives', { arrives: '' }, 400],
    ['there is no such account', { account: 'nobody' }, 404],
  ])('is refused where %s', async (_what, over, status) => {
    const world = await startWorld({ rules });
    await read(world, 20);
    const { url } = await serveWorld(world);
    expect((await order(url, over)).status).toBe(status);
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
  });

  it('is asked about where somebody has ordered since the page was opened, and keeps what was typed', async () => {
    const world = await startWorld({ rules });
    await read(world, 20);
    const { url } = await serveWorld(world);
    await order(url, { by: 'Ada' });
    await world.pass(2 * 60_000);
    const asked = await order(url, { amount: '2700', 'seen-worst': 'critical' });
    expect(asked.status).toBe(409);
    const page = await asked.text();
    expect(page).toMatch(/role="alert">Ada has ordered 9,300\.00 CNY 2 minutes ago/);
    expect(page).toMatch(/name="amount"[^>]* value="2700"[\s\S]*name="arrives" value="2026-11-23"/);
    // Once: above the form.
    expect(page.match(/Ada(?:<\/bdi>)? (?:has )?ordered/g)).toHaveLength(1);
    const seen = /name="seen-expected" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const unread = await (await order(url, { amount: 'much', 'seen-expected': seen })).text();
    expect(unread).toContain('<p class="problem">Ada ordered 9,300.00 CNY');
    expect((await order(url, { 'seen-expected': seen })).status).toBe(303);
    expect(world.views.expected().map(({ orderedBy }) => orderedBy)).toEqual(['Ada', 'Lin']);
  });

  interface Answer {
    readonly expected: readonly { readonly id: string }[];
    readonly audit: readonly { readonly action: string; readonly by: string }[];
  }

  it('is ordered and cancelled by the API too, under the name of who did it, and cancelled by the page', async () => {
    const world = await startWorld({ rules });
    const { url } = await serveWorld(world);
    const api = `${url}/api/v1/expected-top-ups`;
    const send = async (path: string, method: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : null });
      return { status: answer.status, body: (await answer.json()) as Answer };
    };
    const wanted = { account: 'otp', amount: '5000', arrivesBy: '2026-11-26T17:00:00Z', by: 'Wei' };
    const ordered = await send(api, 'POST', { ...wanted, comment: 'PO-1' });
    const topUp = {
      account: 'otp',
      balance: 'sms',
      amount: '5000',
      received: '0',
      orderedBy: 'Wei',
      comment: 'PO-1',
    };
    expect(ordered).toMatchObject({ status: 201, body: { expected: topUp } });
    expect(await send(api, 'POST', wanted)).toMatchObject({
      status: 409,
      body: { detail: 'Wei has ordered 5,000.00 CNY less than a second ago' },
    });
    const seen = (await send(api, 'GET')).body.expected.map(({ id }) => id);
    expect(await send(api, 'POST', { ...wanted, seen })).toMatchObject({ status: 201 });
    const listed = await send(api, 'GET');
    expect(listed.body.expected).toMatchObject([topUp, { comment: '' }]);
    const [first, second] = listed.body.expected.map(({ id }) => id);
    expect(await send(`${api}/${first}`, 'DELETE')).toMatchObject({ status: 200 });
    expect(await send(`${api}/${first}`, 'DELETE')).toMatchObject({ status: 404 });
    const cancelled = await fetch(`${url}/pay/cancel`, {
      method: 'POST',
      body: new URLSearchParams({ account: 'otp', id: String(second) }),
      redirect: 'manual',
    });
    expect(cancelled.headers.get('location')).toBe('/pay?done=cancelled');
    expect((await send(api, 'GET')).body.expected).toEqual([]);
    const { audit } = (await send(`${url}/api/v1/audit`, 'GET')).body;
    expect(audit.map(({ action, by }) => [action, by])).toEqual([
      ['cancel-expected', 'page'],
      ['cancel-expected', 'api'],
      ['expect-top-up', 'Wei'],
      ['expect-top-up', 'Wei'],
    ]);
  });

  it.each([
    ['an account that there is not', { account: 'nobody', amount: '5' }, 404],
    ['an amount that is no number', { account: 'otp', amount: 'much' }, 400],
    ['an amount of nothing', { account: 'otp', amount: '0' }, 400],
    ['no date where no lead time is known', { account: 'otp', amount: '5' }, 400],
    ['a balance that the account has not', { account: 'otp', amount: '5', balance: 'data' }, 400],
  ])('is refused by the API of %s', async (_what, body, status) => {
    const { url } = await serveWorld(await startWorld({ rules }));
    const answer = await fetch(`${url}/api/v1/expected-top-ups`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(status);
  });
});
