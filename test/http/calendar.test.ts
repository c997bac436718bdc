import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { writeCalendar } from '../../src/http/calendar.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { english } from '../../src/wording/language.ts';
import { smsLow, units } from '../support/account-facts.ts';
import {
  buildAccountView,
  buildPayment,
  buildRunway,
  dayMs,
  micros,
  viewsNow,
} from '../support/built-views.ts';
import { anyCharacter } from '../support/hostile-text.ts';
import { showingAccounts } from '../support/showing-accounts.ts';
import { serveWorld } from '../support/web-server.ts';
import { read, startWorld } from '../support/world.ts';

const frame = { language: english, now: viewsNow, timezone: 'Asia/Shanghai' };

type Component = Readonly<Record<string, string>>;

/** Reads RFC 5545 as strictly as it is written, and throws where a reader might: line ends, folding, escapes, what must stand once. */
function parseStrictly(text: string): { readonly name: string; readonly properties: Component }[] {
  const components = readComponents(unfold(text));
  const calendar = components.at(-1);
  if (calendar?.name !== 'VCALENDAR' || components.length < 2)
    throw new Error('no calendar with a component');
  if (calendar.properties.VERSION !== '2.0' || !calendar.properties.PRODID) throw new Error('no version');
  const events = components.filter(({ name }) => name === 'VEVENT');
  for (const { properties } of events) {
    if (!/^\d{8}T\d{6}Z$/.test(properties.DTSTAMP ?? '')) throw new Error('no DTSTAMP');
    if (!/^\d{8}$/.test(properties.DTSTART ?? '')) throw new Error('no DTSTART');
  }
  const ids = events.map(({ properties }) => properties.UID);
  if (ids.includes(undefined) || new Set(ids).size !== ids.length) throw new Error('no UID of its own');
  return events;
}

function unfold(text: string): readonly string[] {
  if (!text.endsWith('\r\n')) throw new Error('no CRLF at the end');
  for (const line of text.slice(0, -2).split('\r\n')) {
    if (Buffer.byteLength(line) > 75) throw new Error(`more than 75 octets: ${line}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not stand there.
    if (/[\u0000-\u0008\u000a-\u001f\u007f\ufffd]/.test(line))
      throw new Error(`a control character: ${line}`);
    if (!line.isWellFormed()) throw new Error('a torn character');
  }
  return text.slice(0, -2).replaceAll('\r\n ', '').split('\r\n');
}

/** As they end: an outer one after what it holds. */
function readComponents(lines: readonly string[]): readonly { name: string; properties: Component }[] {
  const open: { name: string; properties: Record<string, string> }[] = [];
  const components: { name: string; properties: Component }[] = [];
  for (const line of lines) {
    const found = /^([A-Z-]+)((?:;[A-Z-]+=(?:"[^"]*"|[^";:,]*))*):(.*)$/.exec(line);
    if (found === null) throw new Error(`no content line: ${line}`);
    const [, name = '', , value = ''] = found;
    const current = open.at(-1);
    if (name === 'BEGIN') open.push({ name: value, properties: {} });
    else if (name === 'END') {
      const ended = open.pop();
      if (ended?.name !== value) throw new Error(`END:${value} ends ${ended?.name}`);
      components.push(ended);
    } else if (current === undefined) throw new Error('a property outside');
    else if (current.properties[name] !== undefined) throw new Error(`${name} twice`);
    else current.properties[name] = value;
    if (/^(?:SUMMARY|DESCRIPTION|UID)$/.test(name) && !/^(?:[^\\;,]|\\[\\;,nN])*$/.test(value))
      throw new Error(`not escaped: ${line}`);
  }
  if (open.length > 0) throw new Error(`${open[0]?.name} has no end`);
  return components;
}

function summaries(text: string): readonly (string | undefined)[] {
  return parseStrictly(text).map(({ properties }) => `${properties.DTSTART} ${properties.SUMMARY}`);
}

describe('the calendar of payments', () => {
  it('says when to pay, when a balance is empty, what is expected, and of whom nothing is known', async () => {
    const accounts = [
      buildAccountView({
        payments: [buildPayment(9_300, viewsNow + 3 * dayMs)],
        topUpUrl: 'https://pay.example/a?b=c,d;e',
        runways: { sms: buildRunway({ emptyAt: viewsNow + 4 * dayMs }), voip: null },
      }),
      buildAccountView({
        id: 'late',
        name: 'Late',
        payments: [buildPayment(5, viewsNow - dayMs)],
      }),
      buildAccountView({
        id: 'dark',
        name: 'Dark',
        reading: null,
        readAt: null,
        runways: { sms: null, voip: null },
      }),
    ];
    const expected = [
      {
        id: 'x-1',
        account: 'otp',
        balance: 'sms',
        amountMicros: micros(5_000),
        by: viewsNow + 2 * dayMs,
        orderedAt: viewsNow,
        orderedBy: 'Lin',
        comment: 'PO-1; urgent',
        receivedMicros: 0,
      },
    ];
    const views = { ...showingAccounts((await startWorld()).views, accounts), expected: () => expected };
    const text = await writeCalendar({ views, ...frame }, 'd1');
    expect(summaries(text)).toEqual([
      // 18:41 in UTC is the next day in Shanghai; what is due already stands on the present day.
      '20261121 Pay now 5.00 CNY: Late',
      '20261124 Pay 9\\,300.00 CNY: OTP production',
      '20261125 OTP production: SMS empty',
      '20261130 Late: SMS empty',
      '20261123 Expected 5\\,000.00 CNY: OTP production',
      '20261121 Not known what to pay: 1 account',
    ]);
    expect(text).toContain('URL:https://pay.example/a?b=c,d;e');
    expect(text).toContain('UID:pay-otp-sms@d1.lowwater');
    // An account with SMS and VoIP: which of them was paid.
    expect(text).toContain('DESCRIPTION:SMS balance: PO-1\\; urgent');
    expect(await writeCalendar({ views, ...frame, now: viewsNow + 60_000 }, 'd1')).toBe(text);
  });

  it('has a payment on the day of its pay run, not on a day after it on which nobody pays', async () => {
    const payment = { ...buildPayment(9_300, viewsNow + 9 * dayMs), runAt: viewsNow + 3 * dayMs };
    const accounts = [buildAccountView({ payments: [payment] })];
    const views = showingAccounts((await startWorld()).views, accounts);
    const text = await writeCalendar({ views, ...frame }, 'd1');
    expect(summaries(text)[0]).toBe('20261124 Pay 9\\,300.00 CNY: OTP production');
  });

  it('says that a balance is used up, and by the forecast where no reading says so', async () => {
    const spent = { runwayMs: 0, emptyAt: null, forecast: null } as const;
    const accounts = [
      buildAccountView({ id: 'read', name: 'Read', runways: { sms: buildRunway(spent), voip: null } }),
      buildAccountView({
        id: 'dark',
        name: 'Dark',
        runways: { sms: buildRunway({ ...spent, isEndPredicted: true }), voip: null },
      }),
    ];
    const views = showingAccounts((await startWorld()).views, accounts);
    const said = summaries(await writeCalendar({ views, ...frame }, 'd1'));
    expect(said).toContain('20261121 Read: SMS used up');
    expect(said).toContain('20261121 Dark: SMS used up by the forecast');
  });

  it('moves the day on which a balance is empty where an expected top-up puts it off', async () => {
    const soon = viewsNow + 3 * dayMs;
    const late = viewsNow + 20 * dayMs;
    const forecast = (emptyAt: number) =>
      ({ emptyAt, earliest: emptyAt - dayMs, latest: emptyAt + dayMs, basis: 'hour-of-week' }) as const;
    const ending = (id: string, later: number | null) => {
      const expected = { amountMicros: 1, by: viewsNow + dayMs, comment: '', inTimeMicros: 1 };
      const given = { ...expected, forecast: later === null ? null : forecast(later) };
      const runway = buildRunway({ emptyAt: soon, forecast: forecast(soon), expected: given });
      return buildAccountView({ id, name: id, payments: [], runways: { sms: runway, voip: null } });
    };
    const accounts = [ending('in time', late), ending('too late', null)];
    const views = showingAccounts((await startWorld()).views, accounts);
    const said = await writeCalendar({ views, ...frame }, 'd1');
    expect(summaries(said)).toEqual(['20261211 in time: SMS empty', '20261124 too late: SMS empty']);
    expect(said).toContain('By the forecast\\; from Thu 10 Dec');
  });

  it('promises 30 days only where it is known how much they cost, and no forecast of what was read', async () => {
    const unknown = buildRunway({ runwayMs: null, emptyAt: null, restoreMicros: null, forecast: null });
    const spent = buildRunway({ runwayMs: 0, emptyAt: null, forecast: null });
    const accounts = [
      buildAccountView({ payments: [buildPayment(5, null)], runways: { sms: unknown, voip: null } }),
      buildAccountView({ id: 'read', name: 'Read', payments: [], runways: { sms: spent, voip: null } }),
    ];
    const views = showingAccounts((await startWorld()).views, accounts);
    const said = await writeCalendar({ views, ...frame }, 'd1');
    expect(said.replaceAll('\r\n ', '')).toContain('to clear its alerts: not enough history yet');
    expect(said).not.toMatch(/another 30 days|By the forecast/);
  });

  it('says since when an account is not read, and names one that cannot be read though nothing was due when it was', async () => {
    const long = { sms: buildRunway({ runwayMs: 90 * dayMs }), voip: null };
    const lost = { isRead: false, runways: long };
    const accounts = [
      buildAccountView({ ...lost, payments: [buildPayment(5)] }),
      buildAccountView({ ...lost, id: 'lost', name: 'Lost', payments: [] }),
    ];
    const views = showingAccounts((await startWorld()).views, accounts);
    const said = (await writeCalendar({ views, ...frame }, 'd1')).replaceAll('\r\n ', '');
    expect(said).toMatch(/DESCRIPTION:SMS balance\\, for another 30 days\. Not read since \w+ 21 Nov/);
    expect(said).toMatch(/DESCRIPTION:By the forecast.*\. Not read since/);
    expect(said).toContain('DESCRIPTION:Not read\\, or not enough history: Lost\r\n');
  });

  it('shows an announced run on each of its days, the past ones of one that goes on too', async () => {
    const details = { account: 'otp', balance: 'sms', amountMicros: micros(10), comment: '' };
    const run = { ...details, announcedAt: 0, announcedBy: 'Lin', spentMicros: 0, usualMicros: 0 };
    const runs = [
      { ...run, id: 'r-on', startsAt: viewsNow - 2 * dayMs, endsAt: viewsNow + dayMs },
      // Clocks go forward on the day after its last.
      { ...run, id: 'r-spring', startsAt: Date.UTC(2027, 2, 26, 23), endsAt: Date.UTC(2027, 2, 27, 23) },
    ];
    const views = {
      ...showingAccounts((await startWorld()).views, [buildAccountView()]),
      announced: () => runs,
    };
    const text = await writeCalendar({ views, ...frame, timezone: 'Europe/Berlin' }, 'd1');
    const days = parseStrictly(text).flatMap(({ properties: { UID = '', DTSTART, DTEND } }) =>
      UID.startsWith('run-') ? [[DTSTART, DTEND]] : [],
    );
    expect(days).toEqual([
      ['20261118', '20261122'],
      ['20270327', '20270328'],
    ]);
  });

  it('joins its sentences as its language does', async () => {
    const accounts = [buildAccountView({ isRead: false, payments: [buildPayment(5)] })];
    const run = { id: 'r-1', account: 'otp', balance: 'sms', amountMicros: 1, comment: 'PO-1' };
    const when = { startsAt: viewsNow, endsAt: viewsNow + dayMs, announcedAt: 0, announcedBy: 'Lin' };
    const views = {
      ...showingAccounts((await startWorld()).views, accounts),
      announced: () => [{ ...run, ...when, spentMicros: 0, usualMicros: 0 }],
    };
    const chinese = { ...frame, language: await loadLanguage('zh-CN') };
    const said = (await writeCalendar({ views, ...chinese }, 'd1')).replaceAll('\r\n ', '');
    expect(said).toMatch(/可再用 30 天。自 .* 起未读取\r\n/);
    expect(said).toContain('DESCRIPTION:短信余额：PO-1\r\n');
  });

  it('tells the balance of one account from that of another whose id begins alike', async () => {
    const named = (id: string, balance: string) => {
      const balances = [{ id: balance, label: balance, alertsBelowZero: false }];
      const runways = { [balance]: buildRunway({ emptyAt: viewsNow + 4 * dayMs }) };
      return buildAccountView({ id, balances, runways, payments: [{ ...buildPayment(5), balance }] });
    };
    const accounts = [named('otp', 'sms-credits'), named('otp-sms', 'credits')];
    const views = showingAccounts((await startWorld()).views, accounts);
    const uids = parseStrictly(await writeCalendar({ views, ...frame }, 'd1')).map(
      ({ properties }) => properties.UID,
    );
    expect(uids.slice(0, 2)).toEqual(['pay-otp-sms.credits@d1.lowwater', 'pay-otp-sms-credits@d1.lowwater']);
  });

  it('is one even where there is nothing to say', async () => {
    const { views } = await startWorld({ accounts: [] });
    expect(parseStrictly(await writeCalendar({ views, ...frame }, 'd1'))).toEqual([]);
  });

  it('is read strictly for any name of an account', async () => {
    const { views } = await startWorld();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: anyCharacter, maxLength: 120 }), { maxLength: 3 }),
        async (names) => {
          const accounts = names.map((name, index) =>
            buildAccountView({
              id: `a-${index}`,
              name: `${name}\r\nBEGIN:VEVENT;,\\`,
              payments: [buildPayment(1)],
            }),
          );
          const shown = showingAccounts(views, accounts);
          expect(parseStrictly(await writeCalendar({ views: shown, ...frame }, 'd1'))).toHaveLength(
            2 * names.length,
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the address of the calendar', () => {
  it('has a key of its own, which opens nothing else, and another one ends it', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
    await read(world, 20);
    const { url } = await serveWorld(world, { settings: { token: new Secret('the token') } });
    const authorization = 'Bearer the token';
    const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
    const renew = async (): Promise<string> => {
      const post = { method: 'POST', body: new URLSearchParams(), redirect: 'manual' } as const;
      await fetch(`${url}/pay/calendar`, { ...post, headers: { authorization } });
      return /pay\.ics\?key=([\w-]+)/.exec(await (await get('/pay', { authorization })).text())?.[1] ?? '';
    };
    expect((await get('/pay.ics')).status).toBe(403);
    expect((await get('/pay.ics?key=')).status).toBe(403);
    const key = await renew();
    const answer = await get(`/pay.ics?key=${key}`);
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
    expect(summaries(await answer.text())[0]).toContain('Pay now 180.00 CNY: otp');
    expect((await get('/api/v1/pay', { authorization: `Bearer ${key}` })).status).toBe(401);
    const next = await renew();
    expect(next).not.toBe(key);
    expect((await get(`/pay.ics?key=${key}`)).status).toBe(403);
    expect((await get(`/pay.ics?key=${next}`)).status).toBe(200);
    const other = await serveWorld(world, { settings: { token: new Secret('another') } });
    expect((await fetch(`${other.url}/pay.ics?key=${next}`)).status).toBe(403);
    const signedIn = { authorization: 'Bearer another' };
    expect(await (await fetch(`${other.url}/pay`, { headers: signedIn })).text()).toContain(
      'It has no address yet',
    );
    await world.restart({ downMs: 1_000 });
    expect(world.views.calendarKey()).toBe(next);
    expect(world.views.audit({ since: 0, before: world.now + 1, limit: 1 })[0]?.action).toBe(
      'renew-calendar-key',
    );
  });
});
