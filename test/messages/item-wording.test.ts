import { describe, expect, it } from 'vitest';
import type { IncidentMessage, MessageItem } from '../../src/domain/message.ts';
import type { NotificationReason } from '../../src/domain/outbox.ts';
import { type ItemWording, wordItem } from '../../src/messages/item-wording.ts';
import { httpJsonKind, httpJsonSchema } from '../../src/providers/http-json/http-json-kind.ts';
import { hostileNames } from '../support/hostile-text.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildRunway,
  everyMessage,
  messageNow,
  money,
} from '../support/messages.ts';
import { makeProvider } from '../support/settings.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('the headline of a notice stands alone', () => {
  it.each([
    ['firing', 'CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44'],
    ['worse', 'WORSENED TO CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44'],
    ['reminder', 'STILL CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44'],
    ['escalated', 'ESCALATED CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44'],
    ['flapping', 'FLAPPING CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44'],
    ['resolved', 'RESOLVED · OTP production: SMS balance 541.60 CNY, no longer below 50.00'],
    ['top-up', 'INFO · OTP production: SMS balance topped up by 500.00 CNY, now 541.60 CNY'],
    ['negative', 'CRITICAL · OTP production: pay 1,500 CNY now, SMS balance is used up'],
    ['runway', 'WARNING · OTP production: pay 1,400 CNY by Sat 15:41, empty Sat 17:41 to Sun 09:41'],
    ['drop', 'WARNING · OTP production: SMS spending 120.00 CNY, more than 100.00 within 1 hour'],
    ['idle', 'INFO · OTP production: nothing spent from the SMS balance for 6 hours 15 minutes'],
    ['auth-failed', 'CRITICAL · OTP production: the provider refuses the key'],
    ['stale', 'WARNING · OTP production: no reading for 42 minutes'],
    ['currency', 'CRITICAL · OTP production: currency is EUR, expected CNY'],
    ['provider-down', 'CRITICAL · Provider api.example.com: no readings of 12 of 14 accounts'],
    ['storage-failed', 'CRITICAL · lowwater: cannot store readings and alerts (the disk is full)'],
    ['channel-failed', 'CRITICAL · lowwater: channel ops does not take messages'],
    ['config-invalid', 'CRITICAL · lowwater: the changed configuration is invalid, the old one stays in use'],
  ])('%s', (name, headline) => {
    expect(wordsOf(name).headline).toBe(headline);
  });

  it('tells a balance a hair under its threshold from the threshold', () => {
    const reading = { at: messageNow, balances: { sms: 49_999_999, voip: 0 }, currency: 'CNY' };
    const { headline, figures } = word(
      buildItem({ account: buildAccount({ reading, runway: null, clearsAt: null }) }),
    );
    expect(headline).toContain('SMS balance 49.999999 CNY, below 50.00');
    expect(figures[0]).toEqual({ label: 'SMS balance', value: '49.999999 CNY' });
  });

  it('names a unit whole, however long it may be, and counts it in whole ones', () => {
    const reading = { at: messageNow, balances: { sms: 41_600_000, voip: 0 }, currency: 'prepaid-messages' };
    const { headline, figures } = word(
      buildItem({ account: buildAccount({ reading, runway: null, clearsAt: null }) }),
    );
    expect(headline).toContain('SMS balance 42 prepaid-messages, below 50');
    expect(figures[0]).toEqual({ label: 'SMS balance', value: '42 prepaid-messages' });
  });

  it.each([
    ['credits', 12.5, 13, 'SMS balance 12 credits, below 13'],
    ['credits', 12.3, 12.4, 'SMS balance 12 credits, below 13'],
    ['KWD', 1.003, 1.004, 'SMS balance 1.003 KWD, below 1.004'],
  ])('tells a balance of %s %d from a threshold of %d', (currency, balance, threshold, subject) => {
    const reading = { at: messageNow, balances: { sms: money(balance), voip: 0 }, currency };
    const item = buildItem({
      value: { unit: 'money', micros: money(balance) },
      threshold: { unit: 'money', micros: money(threshold) },
      account: buildAccount({ reading, runway: null, clearsAt: null }),
    });
    expect(word(item).headline).toContain(subject);
  });

  it('tells spending a hair over the limit of a drop from the limit', () => {
    const [item] = (everyMessage().drop as IncidentMessage).items;
    const value = { unit: 'money', micros: 100_000_001 } as const;
    expect(word(buildItem({ ...item, value })).subject).toContain('100.000001 CNY, more than 100.00');
  });

  it('of a channel that took the message for some recipients does not say that it took none', () => {
    const [item] = (everyMessage()['channel-failed'] as IncidentMessage).items;
    const partly = buildItem({
      ...item,
      facts: [...(item?.facts ?? []), { name: 'refused recipients', value: { unit: 'count', count: 1 } }],
    });
    expect(word(partly).subject).toBe('lowwater: channel ops delivers only in part');
    expect(word(partly).advice.join(' ')).toContain('Correct or remove');
    expect(word(buildItem({ ...partly, kinds: ['resolved'] })).subject).toBe(
      'lowwater: channel ops delivers everything again',
    );
  });

  it.each([
    ['below', ['resolved'], 'SMS balance 541.60 CNY, no longer below 50.00'],
    ['negative', ['resolved'], 'SMS balance 541.60 CNY, no longer negative'],
    ['runway', ['firing', 'resolved'], 'SMS balance 541.60 CNY lasts 9 days again'],
    ['top-up', ['event'], 'SMS balance topped up by 9.00 CNY, now 541.60 CNY'],
  ] as const)(
    'of a %s that is over tells the balance of that moment, not the one of today',
    (type, kinds, subject) => {
      const reading = { at: messageNow, balances: { sms: money(-5), voip: 0 }, currency: 'EUR' };
      const value =
        type === 'runway'
          ? ({ unit: 'duration', ms: 216 * hour } as const)
          : ({ unit: 'money', micros: money(9) } as const);
      const item = buildItem({
        type,
        kinds: [...kinds],
        value,
        account: buildAccount({ reading }),
        facts: [
          { name: 'balance', value: { unit: 'money', micros: money(541.6) } },
          { name: 'currency', value: { unit: 'text', text: 'CNY' } },
        ],
      });
      expect(word(item).subject).toBe(`OTP production: ${subject}`);
    },
  );

  it('of a balance read in another currency by now says how old the one shown is, and what the latest reading says', () => {
    const reading = { at: messageNow, balances: { sms: money(5000), voip: 0 }, currency: 'USD' };
    const item = buildItem({
      kinds: ['reminder'],
      account: buildAccount({ reading }),
      facts: [
        { name: 'balance', value: { unit: 'money', micros: money(42.1) } },
        { name: 'currency', value: { unit: 'text', text: 'CNY' } },
        { name: 'read at', value: { unit: 'instant', at: messageNow - 26 * hour } },
      ],
    });
    const { headline, story } = word(item);
    expect(headline).toContain('SMS balance 42.10 CNY');
    expect(story).toContain(
      'The balance shown was read Fri 20 Nov 00:41 UTC+8 (26 hours ago). The latest reading is 5,000.00 USD, in another currency: it is not judged.',
    );
  });

  it('of a balance with a unit of its own shows the latest reading, whatever the currency of its account', () => {
    const balances = [{ id: 'sms', label: 'SMS', unit: 'minutes', alertsBelowZero: false }];
    const item = buildItem({
      kinds: ['reminder'],
      account: buildAccount({ balances, runway: null }),
      facts: [
        { name: 'balance', value: { unit: 'money', micros: money(60) } },
        { name: 'currency', value: { unit: 'text', text: 'minutes' } },
        { name: 'read at', value: { unit: 'instant', at: messageNow - 26 * hour } },
      ],
    });
    const { figures, story } = word(item);
    expect(figures[0]).toEqual({ label: 'SMS balance', value: '42 minutes' });
    expect(story.join()).not.toContain('another currency');
  });

  it('of a balance that is over shows the reading of its end, however long the message waited', () => {
    const now = { at: messageNow, balances: { sms: money(-5), voip: 0 }, currency: 'CNY' };
    const endedAt = messageNow - 26 * hour;
    const item = buildItem({
      kinds: ['firing', 'resolved'],
      account: buildAccount({ reading: now }),
      facts: [
        { name: 'balance', value: { unit: 'money', micros: money(541.6) } },
        { name: 'read at', value: { unit: 'instant', at: endedAt } },
      ],
    });
    const { figures } = word(item);
    expect(figures.slice(0, 2)).toEqual([
      { label: 'SMS balance', value: '541.60 CNY' },
      { label: 'As of', value: 'Fri 20 Nov 00:41 UTC+8 (26 hours ago)' },
    ]);
    expect(figures.map(({ label }) => label)).not.toContain('Lasts');
    const open = word({ ...item, kinds: ['firing'] }).figures;
    expect(open[0]).toEqual({ label: 'SMS balance', value: '-5.00 CNY' });
  });

  it.each([
    [
      ['acknowledged'],
      { unit: 'duration', ms: 197 * hour },
      'lasts 8 days 5 hours, recovering from less than 7 days',
    ],
    [['flapping'], { unit: 'duration', ms: 168 * hour }, 'lasts 7 days, recovering from less than 7 days'],
    [['reminder'], { unit: 'text', text: 'does not run out' }, 'recovering from less than 7 days'],
  ] as const)('of a runway past its threshold that is %j says that it recovers', (kinds, value, words) => {
    const threshold = { unit: 'duration', ms: 168 * hour } as const;
    const { subject } = word(buildItem({ type: 'runway', kinds: [...kinds], value, threshold }));
    expect(subject).toContain(words);
    expect(subject).not.toContain('pay ');
  });

  it('says no length of a runway that nobody can date, also where nothing is to be paid', () => {
    const emptyAt = messageNow + 48 * hour;
    const forecast = {
      ...{ emptyAt, earliest: messageNow + hour / 2, latest: messageNow + 960 * hour },
      basis: 'hour-of-week' as const,
    };
    const runway = buildRunway({ forecast, emptyAt, runwayMs: 48 * hour, restoreMicros: null });
    const threshold = { unit: 'duration', ms: 168 * hour } as const;
    const value = { unit: 'duration', ms: 48 * hour } as const;
    const rich = buildAccount({ runway: { ...runway, burnPerDay: 0, usualPerDay: null } });
    const { subject } = word(buildItem({ type: 'runway', value, threshold, account: rich }));
    expect(subject).toMatch(/empty perhaps within hours, at the latest in 6 weeks$/);
    expect(subject).not.toContain('lasts 2 days');
  });

  it('says that a balance is used up by the forecast where no reading says so', () => {
    const spent = { runwayMs: 0, emptyAt: null, forecast: null } as const;
    const known = buildAccount({ runway: buildRunway(spent) });
    const predicted = buildAccount({ runway: buildRunway({ ...spent, isEndPredicted: true }) });
    expect(word(buildItem({ account: known })).subject).toMatch(/is used up$/);
    const { subject, figures } = word(buildItem({ account: predicted }));
    expect(subject).toMatch(/is used up by the forecast$/);
    expect(figures).toContainEqual({ label: 'Lasts', value: 'used up by the forecast' });
  });

  it('says that a balance within the hysteresis is recovering, not that it is below', () => {
    const account = buildAccount({
      reading: { at: messageNow, balances: { sms: money(52), voip: 0 }, currency: 'CNY' },
    });
    expect(word(buildItem({ account })).subject).toBe(
      'OTP production: SMS balance 52.00 CNY, recovering from below 50.00',
    );
  });

  it.each(Object.entries(hostileNames))('cuts and cleans the name: %s', (_, name) => {
    const { headline } = word(buildItem({ accountName: name }));
    expect(headline.isWellFormed()).toBe(true);
    expect(Array.from(headline).length).toBeLessThan(160);
    expect(headline).toContain('pay 1,400 CNY, empty about Sat 23:44');
  });
});

it('of an outage names the accounts it affects and why they cannot be read', () => {
  expect(wordsOf('provider-down').figures).toEqual([
    { label: 'Affected', value: '12 of 14 accounts' },
    { label: 'Reason', value: 'HTTP 503 without an answer of the provider' },
  ]);
});

describe('what became of an incident', () => {
  it('names the top-up that resolved it and how long it lasted', () => {
    expect(wordsOf('resolved').story).toEqual([
      'Resolved: 500.00 CNY was topped up.',
      'Lasted 18 minutes, from Sat 21 Nov 02:22 UTC+8 to Sat 21 Nov 02:40 UTC+8.',
    ]);
  });

  it.each([
    ['auth-failed', 'Resolved: the provider accepted the key again.', 'the provider accepts the key again'],
    ['stale', 'Resolved: readings arrive again.', 'readings are back'],
    ['provider-down', 'Resolved: readings arrive again.', 'readings are back'],
    ['storage-failed', 'Resolved: the database can be written again.', 'can store readings and alerts again'],
    [
      'config-invalid',
      'Resolved: a valid configuration was loaded.',
      'the configuration is valid again and in use',
    ],
  ] as const)('says by what %s was resolved', (type, cause, clause) => {
    const words = word(
      buildItem({ type, kinds: ['resolved'], resolvedAt: messageNow, resolution: { kind: 'recovered' } }),
    );
    expect(words.story[0]).toBe(cause);
    expect(words.subject).toContain(clause);
    expect(words.advice).toEqual([]);
  });

  it('a removed rule closes its incident without claiming that anything is well', () => {
    const words = word(
      buildItem({ kinds: ['resolved'], resolvedAt: messageNow, resolution: { kind: 'rule-removed' } }),
    );
    expect(words.headline).toBe('CLOSED · OTP production: rule sms-low removed while SMS balance low');
    expect(words.story[0]).toContain('says nothing about the balance');
    expect(words.tone).toBe('neutral');
  });

  it('a removed account leaves its alert the currency of its amounts', () => {
    const words = word(
      buildItem({
        kinds: ['resolved'],
        account: null,
        facts: [{ name: 'currency', value: { unit: 'text', text: 'CNY' } }],
        resolvedAt: messageNow,
        resolution: { kind: 'account-removed' },
      }),
    );
    expect(words.figures).toMatchObject([{ value: '42.10 CNY' }, { value: 'below 50.00 CNY' }]);
  });

  it('one message says both when an incident came and went while the channel was down', () => {
    const words = word(
      buildItem({
        kinds: ['firing', 'resolved'],
        resolvedAt: messageNow - minute,
        resolution: { kind: 'recovered' },
      }),
    );
    expect(words.stateWord).toBe('RESOLVED');
    expect(words.story).toContain('It fired and resolved before this channel could be notified.');
  });

  it('a channel that missed the beginning hears the present severity as news', () => {
    expect(word(buildItem({ kinds: ['firing', 'worse', 'reminder'] })).stateWord).toBe('CRITICAL');
  });

  it('a reminder says for how long', () => {
    expect(wordsOf('reminder').story[0]).toBe('Still firing, for 4 hours now, since Fri 20 Nov 22:41 UTC+8.');
  });

  it('a clock that was set back does not say that somebody will have acknowledged it', () => {
    const acknowledgement = {
      ...{ at: messageNow + 3_600_000, by: 'ada', comment: '', rises: 0 },
      severity: 'critical',
    } as const;
    const item = buildItem({ kinds: ['acknowledged'], incident: { acknowledgement } });
    expect(wordItem(item, buildMessage([item])).story[0]).toBe('Acknowledged by ada Sat 21 Nov 03:41 UTC+8.');
  });

  it('a clock that was set back does not say how long it lasts', () => {
    const firedAt = messageNow + hour;
    const storyOf = (kind: NotificationReason, resolvedAt: number | null) =>
      word(buildItem({ kinds: [kind], firedAt, resolvedAt })).story;
    expect(storyOf('reminder', null)[0]).toBe('Still firing since Sat 21 Nov 03:41 UTC+8.');
    expect(storyOf('firing', null)[0]).toBe('Firing since Sat 21 Nov 03:41 UTC+8.');
    expect(storyOf('escalated', null)[0]).toMatch(/^Nobody has acknowledged this, so it was escalated/);
    expect(storyOf('resolved', messageNow)).toContain(
      'By the clock from Sat 21 Nov 03:41 UTC+8 to Sat 21 Nov 02:41 UTC+8.',
    );
  });

  it('an escalation says for how long nobody acknowledged what got worse after an acknowledgement', () => {
    const incident = { rises: 1, escalationSince: messageNow - 5 * minute };
    expect(word(buildItem({ kinds: ['escalated'], incident })).story[0]).toBe(
      'Nobody has acknowledged this for 5 minutes, so it was escalated to you. Firing since Sat 21 Nov 02:22 UTC+8.',
    );
  });

  it('names who acknowledged, and that it was before the latest news', () => {
    const acknowledgement = {
      at: messageNow - hour,
      by: 'Ada',
      comment: 'on it',
      rises: 0,
      severity: 'warning',
    } as const;
    const words = word(buildItem({ kinds: ['worse'], incident: { rises: 1, acknowledgement } }));
    expect(words.story.at(-1)).toBe(
      'Acknowledged by Ada Sat 21 Nov 01:41 UTC+8 (1 hour ago), before the latest news: on it.',
    );
  });
});

it.each([['escalated'], ['firing'], ['worse']] as const)(
  'one that is %s, but late, so that somebody has it by now, neither asks anybody to take it nor says that nobody did',
  (kind) => {
    const acknowledgement = {
      at: messageNow,
      by: 'Ada',
      comment: '',
      rises: 0,
      severity: 'critical',
    } as const;
    const acknowledgeUrl = 'https://lowwater.example.com/a/x';
    const late = { kinds: [kind, 'acknowledged'] as const, incident: { acknowledgement }, acknowledgeUrl };
    const { story, stateWord, links } = word(buildItem(late));
    expect(story.join(' ')).toContain('Acknowledged by Ada');
    expect(story.join(' ')).not.toContain('Nobody');
    expect(stateWord).not.toContain('ESCALATED');
    expect(links.map(({ kind }) => kind)).not.toContain('acknowledge');
  },
);

it('one that got worse is not said to have where a top-up made it milder before it was sent, unless it got worse again', () => {
  const stateWord = (rises: number, kinds: readonly NotificationReason[] = ['worse']) => {
    const incident = { rises, eased: { severity: 'warning', rises: 1 }, worstSeverity: 'critical' } as const;
    return word(buildItem({ kinds, severity: 'warning', incident })).stateWord;
  };
  expect(stateWord(1)).toBe('STILL WARNING');
  expect(stateWord(1, ['firing', 'worse'])).toBe('WARNING');
  expect(stateWord(2)).toBe('WORSENED TO WARNING');
});

it('a comment that ends with a full stop does not get a second one', () => {
  const acknowledgement = {
    at: messageNow,
    by: 'Ada',
    comment: 'Paid.',
    rises: 0,
    severity: 'critical',
  } as const;
  const words = word(buildItem({ kinds: ['acknowledged'], incident: { acknowledgement } }));
  expect(words.story[0]).toBe('Acknowledged by Ada Sat 21 Nov 02:41 UTC+8 (just now): Paid.');
});

describe('the numbers of a notice', () => {
  it('say of a credit that ends at an amount that the alert is due there, not only below', () => {
    const threshold = { unit: 'money', micros: money(-50) } as const;
    const account = buildAccount({ runway: null });
    const { figures, headline } = word(buildItem({ type: 'negative', threshold, account }));
    expect(headline).toContain('is used up, the credit ends at -50.00');
    expect(figures).toContainEqual({ label: 'Threshold', value: '-50.00 CNY or less' });
  });

  it('never show a balance as the end of its credit while a millionth of it is left', () => {
    const reading = { at: messageNow, balances: { sms: money(-99.999999) }, currency: 'CNY' };
    const account = buildAccount({ reading, runway: buildRunway({ emptyMicros: money(-100) }) });
    const item = buildItem({ type: 'negative', threshold: { unit: 'money', micros: 0 }, account });
    expect(word(item).figures).toContainEqual({ label: 'SMS balance', value: '-99.999999 CNY' });
  });

  it('follow on what to pay where the credit is used up', () => {
    const threshold = { unit: 'money', micros: money(-50) } as const;
    const account = buildAccount({ runway: buildRunway({ emptyMicros: money(-50), runwayMs: 0 }) });
    const { headline } = word(buildItem({ type: 'negative', threshold, account }));
    expect(headline).toContain('pay 1,400 CNY now, SMS balance is used up');
  });

  it('say pay by and how long it lasts by the forecast where the last day was hardly watched', () => {
    const [payBy, emptyAt] = [messageNow + 24 * hour, messageNow + 48 * hour];
    const forecast = {
      emptyAt,
      earliest: emptyAt - hour,
      latest: emptyAt + hour,
      basis: 'hour-of-week',
    } as const;
    const known = { forecast, emptyAt, payBy, runwayMs: 48 * hour };
    const figuresOf = (over: Parameters<typeof buildRunway>[0]) =>
      word(buildItem({ account: buildAccount({ runway: buildRunway(over) }) })).figures.map(
        ({ label, value }) => `${label}: ${value}`,
      );
    const unwatched = figuresOf({ ...known, burnPerDay: null, confidence: 'none' });
    expect(unwatched).toContain('Pay by: Sun 22 Nov 02:41 UTC+8');
    expect(unwatched.join()).toContain('Lasts: 2 days, empty Mon 23 Nov 02:41 UTC+8, between');
    const beyond = { ...known, forecast: null, emptyAt: null, runwayMs: null };
    expect(figuresOf({ ...beyond, burnPerDay: money(3) })).toContain('Lasts: unknown');
    expect(figuresOf({ ...beyond, burnPerDay: 0 })).toContain('Lasts: not falling');
  });

  it('name the credit limit that the runway counts with', () => {
    const account = buildAccount({ runway: buildRunway({ emptyMicros: money(-500) }) });
    expect(word(buildItem({ account })).figures).toContainEqual({
      label: 'Credit limit',
      value: '500.00 CNY',
    });
    expect(word(buildItem()).figures.map(({ label }) => label)).not.toContain('Credit limit');
  });

  it('are balance, runway, the age of the reading, threshold and spending, the most important first', () => {
    expect(wordsOf('firing').figures).toEqual([
      { label: 'SMS balance', value: '42.10 CNY' },
      { label: 'Lasts', value: '21 hours, empty about Sat 21 Nov 23:44 UTC+8 (confidence high)' },
      { label: 'As of', value: 'Sat 21 Nov 02:37 UTC+8 (4 minutes ago)' },
      { label: 'Threshold', value: 'below 50.00 CNY' },
      { label: 'Spending', value: '48.00 CNY per day' },
    ]);
  });

  it('tell the value before when the balance jumped in one poll', () => {
    expect(wordsOf('negative').figures).toContainEqual({
      label: 'Before',
      value: '842.10 CNY, 5 minutes earlier',
    });
  });

  it('say how old the balance is and why, while polls fail', () => {
    const account = buildAccount({
      consecutiveFailures: 3,
      failure: 'no complete answer within 10s.',
      outcome: 'timeout',
    });
    expect(word(buildItem({ account })).story).toContain(
      'The last 3 polls failed: no complete answer within 10s. The balance shown is 4 minutes old.',
    );
  });

  it('give money as people read it, with two decimals', () => {
    const account = buildAccount({
      reading: { at: messageNow, balances: { sms: -18_383_000, voip: 0 }, currency: 'CNY' },
      previous: null,
    });
    expect(word(buildItem({ account })).figures[0]?.value).toBe('-18.38 CNY');
  });
});

describe('what to do next', () => {
  it('is the amount that restores 30 days, rounded up to a payable one', () => {
    const account = buildAccount({ runway: buildRunway({ restoreMicros: 1_397_901_000 }) });
    expect(word(buildItem({ account })).advice).toEqual([
      'Top up 1,400.00 CNY for another 30 days at the usual rate.',
    ]);
  });

  it.each([
    [
      1_000_000,
      'Top up at least 460.00 CNY to clear all alerts on this balance. It then lasts more than 30 days.',
    ],
    [457_900_000, 'Top up 460.00 CNY for another 30 days at the usual rate.'],
  ])(
    'is never less than what ends every alert of the balance, steps of a ladder too',
    (restoreMicros, advice) => {
      const account = buildAccount({ runway: buildRunway({ restoreMicros }), clearsAt: 500_000_000 });
      expect(word(buildItem({ account })).advice).toEqual([advice]);
    },
  );

  it('is the way back to where every alert ends, where spending is unknown', () => {
    const account = buildAccount({
      runway: buildRunway({
        burnPerDay: null,
        runwayMs: null,
        emptyAt: null,
        restoreMicros: null,
        confidence: 'none',
      }),
    });
    expect(word(buildItem({ account })).advice[0]).toContain(
      'Top up at least 460.00 CNY to clear all alerts on this balance. Not enough history yet',
    );
  });

  it('is a new key when the provider refuses the present one', () => {
    expect(wordsOf('auth-failed').advice[1]).toContain('Create a new access key');
    expect(wordsOf('auth-failed').advice[1]).toContain(
      'then update "authSecret" of this account in the configuration',
    );
  });

  it('differs with the cause when readings are missing', () => {
    const advice = (
      ['timeout', 'rate_limited', 'http_error', 'invalid_response', 'auth_failed'] as const
    ).map(
      (outcome) =>
        word(buildItem({ type: 'stale', balance: null, account: buildAccount({ outcome }) })).advice[0],
    );
    expect(new Set(advice).size).toBe(5);
    expect(wordsOf('stale-tls').advice[0]).toContain('certificate');
  });
});

function wordsOf(name: string): ItemWording {
  const message = everyMessage()[name];
  const [item] = message?.kind === 'incidents' ? message.items : [];
  if (item === undefined) throw new Error(`No message is called ${name}.`);
  return word(item);
}

function word(item: MessageItem): ItemWording {
  return wordItem(item, buildMessage([item]));
}

describe('the links of a message', () => {
  const account = buildAccount({
    topUpUrl: 'https://pay.example.com/otp',
    runbookUrl: 'https://wiki.example.com/otp',
    note: 'Finance tops up by phone.',
  });

  it('begin with where to pay, then acknowledge, the runbook and the page', () => {
    const words = wordItem(buildItem({ account }), buildMessage());
    expect(words.links.map(({ kind }) => kind)).toEqual(['top-up', 'acknowledge', 'runbook', 'page']);
    expect(words.note).toBe('Finance tops up by phone.');
  });

  it('ask nothing of anybody when it is over', () => {
    const ended = buildItem({ account, kinds: ['resolved'], resolvedAt: buildMessage().at });
    expect(wordItem(ended, buildMessage()).links.map(({ kind }) => kind)).toEqual(['page']);
  });
});

describe('a refused key', () => {
  const refused = (micros: number) => {
    const at = (time: number, sms: number) => ({
      at: time,
      balances: { sms, voip: 0 },
      currency: 'CNY',
    });
    const account = buildAccount({
      reading: at(messageNow, micros),
      history: [at(messageNow - 24 * hour, 500_000_000), at(messageNow, micros)],
    });
    return word(buildItem({ type: 'auth-failed', balance: null, account })).advice;
  };

  it('names the four causes, and what to do where it is the key', () => {
    const [causes = '', replacement = ''] = refused(400_000_000);
    for (const cause of ['key itself', 'rights', 'address', 'suspended']) expect(causes).toContain(cause);
    expect(replacement).toContain('Create a new access key');
  });

  it('sends people to the money first where the last reading was low', () => {
    expect(refused(1_500_000)[0]).toContain('last read at 1.50 CNY');
    expect(refused(-2_000_000)[0]).toContain('last read at -2.00 CNY');
  });
});

it('a clock that is off is named as that, and the key is not blamed', () => {
  const account = buildAccount({
    outcome: 'api_error',
    failure: 'this machine’s clock is off, 7 minutes ahead of the provider’s: …',
  });
  const { advice } = word(buildItem({ type: 'stale', balance: null, account }));
  expect(advice[0]).toContain('Set the clock');
});

it('an account that turns out to be paid after use is named as that, and its provider is not blamed', () => {
  const failure = 'the account is not prepaid: $.type says that it has no balance';
  const account = buildAccount({ outcome: 'api_error', failure });
  const { advice } = word(buildItem({ type: 'stale', balance: null, account }));
  expect(advice).toEqual([expect.stringMatching(/paid after use.*Remove it/)]);
});

it('an account to which nothing is pushed any more is looked for at who pushes, not at the schedule of polls', () => {
  const { advice } = word(
    buildItem({ type: 'stale', balance: null, account: buildAccount({ polled: false }) }),
  );
  expect(advice).toEqual([expect.stringContaining('what pushes the readings')]);
});

it('an answer that is not as described is looked for at the address of the description', () => {
  const entry = httpJsonKind.build(makeProvider(), {
    ...httpJsonSchema.parse({
      type: 'http-json',
      request: { url: 'https://sms.example.net/wallet' },
      balances: [{ id: 'main', amount: '$.balance' }],
      currency: { fixed: 'EUR' },
    }),
  });
  if ('problems' in entry) throw new Error('It is described well.');
  const account = buildAccount({ outcome: 'invalid_response', words: entry.words });
  const { advice } = word(buildItem({ type: 'stale', balance: null, account }));
  expect(advice[0]).toContain('Check that "request.url" is its address');
});
