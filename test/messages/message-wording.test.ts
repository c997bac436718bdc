import { describe, expect, it } from 'vitest';
import { renderEmailHtml } from '../../src/channels/email/render-email.ts';
import { renderSlack } from '../../src/channels/slack/render-slack.ts';
import { describeSlackPayload } from '../../src/channels/slack/slack-blocks.ts';
import type { Message, MessageItem, ReportAccount } from '../../src/domain/message.ts';
import type { ForecastRecord } from '../../src/domain/quantity.ts';
import {
  messageSubject,
  threadSubject,
  wordCard,
  wordIncidents,
} from '../../src/messages/message-wording.ts';
import { renderFitting } from '../../src/messages/render-fitting.ts';
import { renderText } from '../../src/messages/render-text.ts';
import { wordReport } from '../../src/messages/report-wording.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildReport,
  buildReportAccount,
  buildRunway,
  buildTestMessage,
  everyMessage,
  messageNow,
  money,
} from '../support/messages.ts';

describe('what to pay', () => {
  const adviceAt = (usual: number | null, recent: number): string =>
    wordIncidents(
      buildMessage([
        buildItem({
          account: buildAccount({
            clearsAt: null,
            runway: buildRunway({
              usualPerDay: usual === null ? null : money(usual),
              burnPerDay: money(recent),
              restoreMicros: money((usual ?? recent) * 30),
            }),
          }),
        }),
      ]),
      1,
    ).items.flatMap(({ advice }) => advice)[0] ?? '';

  it('is at the usual rate, which the message names', () => {
    expect(adviceAt(19, 20)).toBe('Top up 570.00 CNY for another 30 days at the usual rate.');
  });

  it.each([
    [
      'a burst',
      19,
      100,
      'Top up 570.00 CNY for another 30 days at the usual rate, 3,000.00 CNY at that of the last 24 hours.',
    ],
    [
      'a lull',
      100,
      19,
      'Top up 3,000.00 CNY for another 30 days at the usual rate, 570.00 CNY at that of the last 24 hours.',
    ],
  ])('is said at both rates after %s that differs twofold', (_, usual, recent, words) => {
    expect(adviceAt(usual, recent)).toBe(words);
  });

  it('is at the rate of the last day where nothing is known of the usual one', () => {
    expect(adviceAt(null, 19)).toBe(
      'Top up 570.00 CNY for another 30 days at the rate of the last 24 hours.',
    );
  });
});

describe('a message about many incidents', () => {
  const many = buildMessage([
    buildItem(),
    buildItem({ severity: 'warning' }),
    buildItem({ kinds: ['resolved'], resolvedAt: messageNow }),
  ]);

  it('counts them and names the most urgent', () => {
    expect(wordIncidents(many, 10).headline).toBe(
      '1 CRITICAL, 1 WARNING, 1 RESOLVED · OTP production: pay 1,400 CNY, empty about Sat 23:44; and 2 more alerts',
    );
  });

  it('is cut with the number of those left out', () => {
    const words = wordIncidents(buildMessage(new Array<MessageItem>(10_000).fill(buildItem())), 8);
    expect(words.items).toHaveLength(8);
    expect(words.more).toBe(9992);
  });

  it('says of each how long it lasts and how old that is', () => {
    for (const { figures } of wordCard(many, 3).parts.slice(0, 2))
      expect(figures.map(({ label }) => label)).toEqual(expect.arrayContaining(['Lasts', 'As of']));
  });

  it('looks like the worst that is still open', () => {
    expect(wordIncidents(many, 1).tone).toBe('critical');
    expect(
      wordIncidents(buildMessage([buildItem({ kinds: ['resolved'], resolvedAt: messageNow })]), 1).tone,
    ).toBe('good');
  });
});

describe('the subject of a mail', () => {
  it('says how bad it is first, and goes on the same for every message of an incident', () => {
    const subjects = (['firing', 'worse', 'reminder', 'resolved'] as const).map((kind) =>
      messageSubject(
        buildMessage([buildItem({ kinds: [kind], severity: kind === 'worse' ? 'critical' : 'warning' })]),
      ),
    );
    const rest = 'OTP production: SMS balance low since 21 Nov 02:22';
    expect(subjects).toEqual([`WARNING ${rest}`, `CRITICAL ${rest}`, `WARNING ${rest}`, `RESOLVED ${rest}`]);
  });

  it('follows the thread where there is one', () => {
    const thread = {
      firstMessage: 'first',
      subject: 'Marketing: [x] no readings since 1 Jan 00:00',
      references: [],
      othersFiring: null,
    };
    expect(messageSubject(buildMessage(undefined, { thread }))).toBe(
      'CRITICAL Marketing: (x) no readings since 1 Jan 00:00',
    );
  });

  it('holds no brackets, not even from a name', () => {
    expect(threadSubject(buildMessage([buildItem({ incident: { accountName: '[OTP] [FIRING:1]' } })]))).toBe(
      '(OTP) (FIRING:1): SMS balance low since 21 Nov 02:22',
    );
  });

  it.each(Object.entries(everyMessage()))('is one short line: %s', (_, message) => {
    expect(messageSubject(message)).toMatch(/^[^[\]\n\r]{10,120}$/);
  });
});

it('has the links of every alert among several, but for those to the page that all share', () => {
  const links = { topUpUrl: 'https://pay.example/otp', runbookUrl: 'https://run.example/otp' };
  const item = buildItem({ account: buildAccount(links) });
  const card = wordCard(buildMessage([item, item]), 2);
  const own = ['Top up', 'Acknowledge', 'Runbook'];
  expect(card.parts.map((part) => part.links.map(({ label }) => label))).toEqual([own, own]);
  expect(card.links).toMatchObject([{ label: 'Open lowwater' }]);
});

it('says of every alert among several that its balance is old, and all that there is to do', () => {
  const account = buildAccount({ consecutiveFailures: 3, failure: 'no complete answer within 10s.' });
  const blind = buildItem({ account });
  const many = everyMessage()['auth-failed'];
  if (many?.kind !== 'incidents') throw new Error('there is a message about a refused key');
  const { parts } = wordCard(buildMessage([blind, ...many.items]), 2);
  const [alone] = wordCard(many, 1).parts;
  expect(parts[0]?.lines.join(' ')).toContain('The last 3 polls failed');
  expect(alone?.advice.length).toBeGreaterThan(1);
  expect(parts[1]?.advice).toEqual(alone?.advice);
});

describe('a message that its receiver takes in part', () => {
  const write = (message: Message, limit: number) =>
    renderFitting(message, { render: (card) => card, fits: (card) => JSON.stringify(card).length <= limit });

  it('of a report still says what runs out and the first sums, each whole, and how many accounts there are', () => {
    const report = buildReport();
    const [whole] = wordCard(report, 8).parts;
    const { parts, more } = write(report, 900);
    expect(parts).toHaveLength(1);
    expect(parts[0]?.lines.length).toBeGreaterThan(1);
    expect(parts[0]?.lines).toEqual(whole?.lines.slice(0, parts[0]?.lines.length));
    expect(more).toBe('and 3 more accounts');
  });

  it('loses the small print first, then the note, and figures from the last on', () => {
    const account = buildAccount({ note: 'Ask Ana first.' });
    const message = buildMessage([buildItem({ account })]);
    const [whole] = wordCard(message, 1).parts;
    const length = JSON.stringify(wordCard(message, 1)).length;
    const [withoutPrint] = write(message, length - 1).parts;
    expect(withoutPrint).toEqual({ ...whole, origin: null });
    const [withoutNote] = write(message, length - 60).parts;
    expect(withoutNote).toEqual({ ...whole, origin: null, note: null, noteLine: null });
    const [shorter] = write(message, length - 110).parts;
    expect(shorter?.figures).toEqual(whole?.figures.slice(0, shorter?.figures.length));
    expect(shorter?.figures.length).toBeLessThan(whole?.figures.length ?? 0);
    expect(shorter?.lines).toEqual(whole?.lines);
  });
});

describe('a report in words', () => {
  it('names the account that ends first, and sums by currency', () => {
    const words = wordReport(buildReport(), 10);
    expect(words.headline).toBe('REPORT · weekly: 3 accounts, OTP production ends first, in 21 hours');
    expect(words.totals).toEqual([
      '1,034.50 CNY left in all; 336.00 CNY spent (48.00 CNY per day), 200.00 CNY topped up',
      '1,840.25 EUR left in all; 386.40 EUR spent (55.20 EUR per day), nothing topped up',
    ]);
  });

  it('makes no day of what was watched for less than an hour', () => {
    const watched = (ms: number) =>
      wordReport(buildReport({ accounts: [buildReportAccount({ spentSince: messageNow - ms })] }), 10);
    const young = watched(30_000);
    expect(young.accounts[0]?.lines[0]?.perDay).toBe('an unknown amount per day');
    expect(young.totals[0]).toMatch(/ CNY left in all; [\d.]+ CNY spent, /);
    expect(watched(12 * 3_600_000).accounts[0]?.lines[0]?.perDay).toMatch(/^\d.* CNY per day$/);
  });

  it('says since when it knows an account that was not watched all the time, and the sums that it is part of', () => {
    const since = messageNow - 10_000;
    const empty = { spent: { sms: 0, voip: 0 }, toppedUp: { sms: 0, voip: 0 }, topUps: [], incidents: [] };
    const accounts = [
      buildReportAccount({ ...empty, spentSince: since }),
      buildReportAccount({ spentSince: since - 86_400_000 }),
      buildReportAccount({ reading: { at: messageNow, balances: { sms: 1, voip: 0 }, currency: 'EUR' } }),
      buildReportAccount({ reading: null }),
    ];
    const report = buildReport({ accounts });
    const words = wordReport(report, 10);
    expect(words.accounts.map(({ status }) => status)).toEqual([
      'no incidents, read Sat 21 Nov 02:37 UTC+8; known since Sat 21 Nov 02:40 UTC+8 only',
      expect.stringMatching(/; known since Fri 20 Nov 02:40 UTC\+8 only$/),
      expect.not.stringContaining('only'),
      expect.stringMatching(/, never read$/),
    ]);
    expect(words.totals).toEqual([
      expect.stringMatching(/ CNY left in all; 336\.00 CNY spent, 200\.00 CNY topped up$/),
      'Spending and top-ups in CNY are known in full since Sat 21 Nov 02:40 UTC+8 only.',
      expect.stringMatching(/ EUR left in all; /),
      '1 account without a reading: not in the sums.',
    ]);
    for (const text of [
      renderText(report, 500),
      describeSlackPayload(renderSlack(report)).join('\n'),
      renderEmailHtml(report, []),
      JSON.stringify(wordCard(report, 4)),
    ]) {
      expect(text).toContain('in CNY are known in full since Sat 21 Nov 02:40 UTC+8 only.');
      expect(text).toContain('known since Fri 20 Nov 02:40 UTC+8 only');
    }
  });

  it('says until when an account that was not read to the end is known, and never calls it fine nor its spending a day 0', () => {
    const blind = { incidents: [], spent: { sms: 0, voip: 0 }, toppedUp: { sms: 0, voip: 0 }, topUps: [] };
    const readAt = messageNow - 9 * 86_400_000;
    const reading = { at: readAt, balances: { sms: 100_000_000, voip: 0 }, currency: 'CNY' };
    const unread = { ...blind, reading, runways: { sms: null, voip: null }, spentUntil: readAt };
    const words = wordReport(buildReport({ accounts: [buildReportAccount(unread)] }), 10);
    expect(words.accounts).toMatchObject([
      {
        status: 'no incidents, read Thu 12 Nov 02:41 UTC+8; known until Thu 12 Nov 02:41 UTC+8 only',
        state: { word: 'NOT READ', tone: 'warning' },
        lines: [{ perDay: 'an unknown amount per day' }],
      },
    ]);
    expect(words.totals).toEqual([
      '100.00 CNY left in all; 0.00 CNY spent, nothing topped up',
      'Spending and top-ups in CNY are known in full until Thu 12 Nov 02:41 UTC+8 only.',
    ]);
    // One that is known since later only: there is no time at which both were.
    const late = { ...unread, id: 'late', spentSince: readAt + 1, spentUntil: messageNow };
    const both = wordReport(buildReport({ accounts: [unread, late].map(buildReportAccount) }), 10);
    expect(both.totals.slice(1)).toEqual(['At no time were spending and top-ups in CNY known in full.']);
    // It was read again since: what is missing is only what it spent meanwhile.
    const again = { ...unread, reading: { ...reading, at: messageNow } };
    expect(wordReport(buildReport({ accounts: [buildReportAccount(again)] }), 10).accounts).toMatchObject([
      { state: { word: 'FINE' } },
    ]);
  });

  it('says in its head what is to be paid within 7 days and in all, as the page Pay does, also where an alert asks for what is due later', () => {
    const due = (days: number, amount: number) => ({
      ...{ balance: 'sms', micros: amount * 1_000_000, dueAt: messageNow + days * 86_400_000 },
      ...{ isEmpty: false, isDue: days <= 0, covers: 'thirty-days' as const },
    });
    const payments = [due(-1, 300), due(6, 40), due(29, 1_000), due(45, 9_000)];
    const { totals } = wordReport(buildReport({ accounts: [buildReportAccount({ payments })] }), 10);
    expect(totals).toEqual([
      expect.stringMatching(/; to pay 340\.00 CNY within 7 days, 10,340\.00 CNY within 30$/),
    ]);
  });

  it('says how good the forecasts of each balance were, and where nobody knows that', () => {
    const forecasts = (sms: ForecastRecord | null) =>
      wordReport(
        buildReport({ accounts: [buildReportAccount({ records: { sms, voip: null } })] }),
        1,
      ).accounts[0]?.lines.map((line) => line.forecasts);
    const record = { aheadMs: 3 * 86_400_000, count: 44, medianError: 0.041, tooLow: 0.5 };
    const unknown = 'how good forecasts are is not known yet';
    expect(forecasts(record)).toEqual([
      'in the last two weeks forecasts for 3 days ahead were usually off by 4 %',
      unknown,
    ]);
    expect(forecasts({ ...record, tooLow: 0.9 })?.[0]).toContain('usually off by 4 %, mostly too low');
    expect(forecasts({ ...record, tooLow: 0.1 })?.[0]).toContain('usually off by 4 %, mostly too high');
    expect(forecasts(null)).toEqual([unknown, unknown]);
    const report = buildReport();
    for (const text of [
      renderText(report, 500),
      describeSlackPayload(renderSlack(report)).join('\n'),
      renderEmailHtml(report, []),
    ])
      expect(text).toContain('off by 4 %, mostly too low');
  });

  it('names the accounts of which nobody knows when they run out', () => {
    const never = buildReportAccount({ name: 'Never', reading: null, runways: { sms: null, voip: null } });
    const young = buildReportAccount({
      name: 'Young',
      runways: { sms: buildRunway({ runwayMs: null, emptyAt: null, burnPerDay: null }), voip: null },
    });
    const still = buildReportAccount({
      name: 'Still',
      reading: { at: messageNow, balances: { sms: 1, voip: 0 }, currency: 'CNY' },
      runways: { sms: buildRunway({ runwayMs: null, emptyAt: null, burnPerDay: 0 }), voip: null },
    });
    expect(wordReport(buildReport({ accounts: [never, young, still] }), 10).runsOut).toMatch(
      /^No account is predicted .* Not known: Never, Young\.$/,
    );
  });

  it('says which accounts may run out before the next one, by the early end of a forecast', () => {
    const emptyAt = messageNow + 9 * 86_400_000;
    const forecast = { emptyAt, latest: null, basis: 'hour-of-week' } as const;
    const ending = (name: string, earliest: number | null) =>
      buildReportAccount({
        name,
        runways: { sms: buildRunway({ emptyAt, forecast: { ...forecast, earliest } }), voip: null },
      });
    const late = ending('Late', messageNow + 8 * 86_400_000);
    const early = ending('Early', messageNow + 6 * 86_400_000);
    const used = buildReportAccount({
      name: 'Used',
      runways: { sms: buildRunway({ runwayMs: 0, emptyAt: null }), voip: null },
    });
    const report = buildReport({ accounts: [used, early, late] });
    expect(wordReport(report, 10).runsOut).toMatch(
      /^May run out before the next report \(.* UTC\+8\): Used \(used up\), Early \(\d+ Nov \d\d:\d\d\)\.$/,
    );
    expect(wordReport({ ...report, accounts: [late] }, 10).runsOut).toMatch(
      /^No account is predicted to run out before the next report \(.*\)\.$/,
    );
    expect(wordReport({ ...report, nextAt: null }, 10).runsOut).toBeNull();
    for (const text of [
      renderText(report, 500),
      describeSlackPayload(renderSlack(report)).join('\n'),
      renderEmailHtml(report, []),
    ])
      expect(text).toMatch(/May run out.*14 Nov/s);
  });

  it.each([
    [300, '300 days'],
    [400, 'over a year'],
    [4000, 'over a year'],
  ])(
    'tells a balance that lasts %s days as %s, without the day of an end that nobody plans by',
    (days, words) => {
      const [runwayMs, emptyAt] = [days * 86_400_000, messageNow + days * 86_400_000];
      const runways = { sms: buildRunway({ runwayMs, emptyAt }), voip: null };
      const { headline, accounts } = wordReport(
        buildReport({ accounts: [buildReportAccount({ runways })] }),
        1,
      );
      expect(headline).toContain(`ends first, in ${words}`);
      expect(accounts[0]?.lines[0]?.lasts).toBe(words);
      if (days > 365) expect(accounts[0]?.lines[0]?.runway).toBe(words);
    },
  );

  it('counts the accounts it cuts and still sums them', () => {
    const words = wordReport(buildReport(), 1);
    expect(words.more).toBe(2);
    expect(words.totals).toHaveLength(2);
  });
});

it('a report leads to the review of its time wherever it is read', () => {
  const report = buildReport({ publicUrl: 'https://lowwater.example.com' });
  const [from, to] = [report.since, report.until].map((at) => new Date(at).toISOString());
  const address = `https://lowwater.example.com/review?from=${from}&to=${to}`;
  expect(renderText(report, 500)).toContain(`Review: ${address}`);
  expect(JSON.stringify(renderSlack(report))).toContain(address);
  expect(renderEmailHtml(report, [])).toContain(address.replace('&', '&amp;'));
});

describe('an account in a report', () => {
  const wordOne = (over: Partial<ReportAccount>) => {
    const account = buildReportAccount({ incidents: [], ...over });
    const report = buildReport({ accounts: [account] });
    return { report, words: wordReport(report, 1).accounts[0] };
  };
  const runwayClause = (runwayMs: number | null) => ({ sms: buildRunway({ runwayMs }), voip: null });
  const open = buildItem({ incident: { resolvedAt: null, severity: 'info' } }).incident;

  it.each<[string, Partial<ReportAccount>, string, string]>([
    ['that is empty', { runways: runwayClause(0) }, 'USED UP', 'critical'],
    ['that ends within a week', { runways: runwayClause(86_400_000) }, 'ENDS SOON', 'warning'],
    ['that nobody ever read', { reading: null, runways: runwayClause(null) }, 'NEVER READ', 'warning'],
    ['with an alert that fires', { runways: runwayClause(null), incidents: [open] }, 'OPEN INCIDENT', 'info'],
    ['without any of it', { runways: runwayClause(null) }, 'FINE', 'good'],
  ])('%s is called so', (_, over, word, tone) => {
    expect(wordOne(over).words?.state).toEqual({ word, tone });
  });

  it('that was never read is given no spending', () => {
    const { report, words } = wordOne({ reading: null, runways: { sms: null, voip: null } });
    expect(words?.lines).toEqual([]);
    const texts = [
      renderText(report, 80),
      describeSlackPayload(renderSlack(report)).join('\n'),
      renderEmailHtml(report, []),
    ];
    for (const text of texts) {
      expect(text).toContain('never read');
      expect(text).not.toContain('per day');
    }
  });

  it('says of a balance that is used up or unknown only that', () => {
    const said = (runways: ReportAccount['runways']) => renderText(wordOne({ runways }).report, 200);
    expect(said(runwayClause(0))).toMatch(/; used up$/m);
    expect(said({ sms: null, voip: null })).toMatch(/; how long it lasts is unknown$/m);
  });
});

describe('a message on a terminal', () => {
  it('keeps to the width and uses no escape sequence without colour', () => {
    for (const message of Object.values(everyMessage())) {
      const text = renderText({ ...message, publicUrl: null }, 60);
      expect(text).not.toContain('\u001b');
      for (const line of text.split('\n'))
        if (!line.includes('Acknowledge: ')) expect(line.length).toBeLessThanOrEqual(60);
    }
  });

  it('begins with the headline', () => {
    const [headline] = renderText(buildTestMessage(), 80).split('\n');
    expect(headline).toBe('TEST · lowwater can reach channel ops');
  });
});

it('lines of text are as wide as a reader sees them: characters of Chinese, Japanese and Korean take two columns', () => {
  const message = buildMessage([
    buildItem({ accountName: '验证码 生产环境 营销短信 国际线路 테스트 계정 かんじ' }),
  ]);
  const columns = (line: string) =>
    [...line].reduce((sum, char) => sum + (/[\u2e80-\uffef]/.test(char) ? 2 : 1), 0);
  for (const line of renderText(message, 40)
    .split('\n')
    .filter((line) => !line.includes('://')))
    expect(columns(line), line).toBeLessThanOrEqual(40);
});
