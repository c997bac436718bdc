import { describe, expect, it } from 'vitest';
import type { PollRecord } from '../../src/domain/reading.ts';
import type { Rule } from '../../src/domain/rule.ts';
import type { AccountSettings, Settings } from '../../src/domain/settings.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import type { AccountPast } from '../../src/replay/past.ts';
import { createReplay } from '../../src/replay/replay.ts';
import { type ReplayResult, replayJson } from '../../src/replay/replay-engine.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import {
  belowRule,
  dropRule,
  factsNoon,
  hourMs,
  minuteMs,
  negativeRule,
  readingAt,
  runwayRule,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { inParts } from '../support/in-parts.ts';
import {
  makeAccount,
  makeProvider,
  makeRoute,
  makeSettings,
  type SettingsParts,
} from '../support/settings.ts';

const low = belowRule({
  id: 'low',
  thresholds: { warning: units(50) },
  hysteresis: { kind: 'amount', micros: 0 },
});
const ladder = belowRule({
  id: 'ladder',
  thresholds: { info: units(60), warning: units(40), critical: units(20) },
  hysteresis: { kind: 'amount', micros: units(10) },
});

const ok = (minutes: number, sms: number): PollRecord => {
  const reading = readingAt(minutes, sms);
  return { at: reading.at, outcome: 'ok', reading };
};
const failed = (minutes: number, outcome: PollRecord['outcome'] = 'timeout'): PollRecord => ({
  at: factsNoon + minutes * minuteMs,
  outcome,
  reading: null,
});
const every = (step: number, until: number, from = 0) =>
  Array.from({ length: Math.floor((until - from) / step) + 1 }, (_, index) => ok(from + index * step, 100));

interface Past extends Partial<Omit<AccountPast, 'polls' | 'account'>> {
  readonly polls: readonly PollRecord[];
}

async function run(
  settings: Settings,
  pasts: readonly Past[],
  slice = Number.POSITIVE_INFINITY,
): Promise<ReplayResult> {
  const replay = createReplay({
    settings,
    calendar: cronCalendar,
    pasts: pasts.map((past, index) => ({
      account: settings.accounts[index] ?? makeAccount('none'),
      before: emptyReader,
      gaps: 'unread',
      until: null,
      ...past,
      polls: () => inParts(past.polls),
    })),
  });
  for (;;) {
    const result = await replay.advance(slice);
    if (result !== null) return result;
  }
}

/** `low 5–15`: rule and minutes after noon. */
async function fired(parts: SettingsParts, ...pasts: readonly Past[]): Promise<string[]> {
  const minute = (at: number | null) => (at === null ? '' : (at - factsNoon) / minuteMs);
  return (await run(makeSettings(parts), pasts)).incidents.map(
    ({ rule, firedAt, resolvedAt }) => `${rule} ${minute(firedAt)}–${minute(resolvedAt)}`,
  );
}

/** Rules alone: what exists without being configured would speak of the same balances. */
function settingsOf(rules: readonly Rule[], account: AccountSettings = makeAccount('otp')): Settings {
  return { ...makeSettings({ accounts: [account] }), rules };
}

/** One poll every five minutes from noon on; null is a poll that failed. */
const pollsOf = (balances: readonly (number | null)[]): PollRecord[] =>
  balances.map((sms, index) => (sms === null ? failed(index * 5) : ok(index * 5, sms)));

/** `low warning 5–15 at 50`: rule, worst severity, minutes after noon, value it fired with. */
async function story(rules: readonly Rule[], balances: readonly (number | null)[]): Promise<string[]> {
  const minutes = (at: number) => Math.round(((at - factsNoon) / minuteMs) * 100) / 100;
  return (await run(settingsOf(rules), [{ polls: pollsOf(balances) }])).incidents.map((it) => {
    const end = it.resolvedAt === null ? '' : minutes(it.resolvedAt);
    const amount = it.value?.unit === 'money' ? ` at ${it.value.micros / 1_000_000}` : '';
    return `${it.rule} ${it.severity} ${minutes(it.firedAt)}–${end}${amount}${it.event ? ' event' : ''}`;
  });
}

describe('what a rule would have said of the past', () => {
  it.each<[name: string, rules: readonly Rule[], balances: readonly (number | null)[], expected: string[]]>([
    ['never low, nothing said', [low], [90, 80, 51, 50, 90], []],
    ['fires below the threshold, resolves at it', [low], [60, 49, 48, 50], ['low warning 5–15 at 49']],
    ['stays open at the end', [low], [60, 49, 48], ['low warning 5– at 49']],
    ['is low from the first reading on', [low], [10, 60], ['low warning 0–5 at 10']],
    [
      'a ladder is one incident with its worst severity',
      [ladder],
      [70, 55, 35, 15, 35, 80],
      ['ladder critical 5–25 at 55'],
    ],
    ['hysteresis holds it', [ladder], [70, 59, 61, 69, 70], ['ladder info 5–20 at 59']],
    [
      '`for` fires at its own instant, between two polls',
      [{ ...low, forMs: 7 * minuteMs }],
      [60, 40, 40, 40],
      ['low warning 12– at 40'],
    ],
    ['`for` that is not over says nothing', [{ ...low, forMs: 7 * minuteMs }], [60, 40, 60], []],
    [
      '`for` does not run out while the account cannot be read',
      [{ ...low, forMs: 7 * minuteMs }],
      [60, 40, null, null, 60],
      [],
    ],
    [
      '`recoverFor` resolves at its own instant',
      [{ ...low, recoverForMs: 7 * minuteMs }],
      [40, 60, 60, 60],
      ['low warning 0–12 at 40'],
    ],
    [
      'a relapse goes on with the incident',
      [{ ...low, recoverForMs: 7 * minuteMs }],
      [40, 60, 40, 60, 60, 60],
      ['low warning 0–22 at 40'],
    ],
    [
      'a top-up is an event without an end',
      [topUpRule({ id: 'up', atLeastMicros: units(10) })],
      [20, 29, 39, 30],
      ['up info 10– at 10 event'],
    ],
    [
      'each crossing is an incident, until it flaps',
      [low],
      [60, 40, 60, 40, 60, 40, 60, 40, 60, 60],
      ['low warning 5–10 at 40', 'low warning 15–20 at 40', 'low warning 25– at 40'],
    ],
    [
      'failed polls make it stale, a reading ends that',
      [staleRule({ id: 'stale' })],
      [60, null, null, null, null, 60],
      ['stale warning 15–25'],
    ],
  ])('%s', async (_name, rules, balances, expected) => {
    expect(await story(rules, balances)).toEqual(expected);
  });

  it('is the same regardless of the slices it is made in', async () => {
    const settings = makeSettings({ accounts: ['otp', 'marketing'], rules: [ladder, low] });
    const balances = [90, 55, null, 35, 15, null, null, null, null, 70, 80, 12, -3, 90];
    const pasts = [{ polls: pollsOf(balances) }, { polls: pollsOf(balances.toReversed()) }];
    const whole = await run(settings, pasts);
    expect(whole.incidents.length).toBeGreaterThan(4);
    for (const slice of [1, 2, 7]) {
      const { incidents, messages } = await run(settings, pasts, slice);
      expect({ incidents, messages }).toEqual({ incidents: whole.incidents, messages: whole.messages });
    }
  });

  it('judges by readings from before the replay without telling of them', async () => {
    const rule = runwayRule({ id: 'runway', thresholds: { warning: 600 * minuteMs } });
    const known = Array.from({ length: 24 }, (_, index) => readingAt(index * 5, 100 - index));
    const before: Pick<StoreReader, 'readings' | 'readingBefore'> = {
      readings: ({ since, until }) => inParts(known.filter(({ at }) => at >= since && at < until)),
      readingBefore: async (_, at) => known.findLast((reading) => reading.at < at) ?? null,
    };
    const polls = [ok(120, 76)];
    expect((await run(settingsOf([rule]), [{ polls }])).incidents).toHaveLength(0);
    expect((await run(settingsOf([rule]), [{ polls, before }])).incidents).toHaveLength(1);
  });
});

describe('pauses between polls', () => {
  it('a list of readings with a gap: nobody could read the account', async () => {
    const polls = [...every(5, 30), ok(90, 100), ok(95, 100)];
    expect(await fired({}, { polls })).toEqual(['stale 45–90']);
  });

  it('stored polls with a gap: lowwater was not running', async () => {
    const polls = [...every(5, 30), ok(90, 100), ok(95, 100)];
    expect(await fired({}, { polls, gaps: 'unwatched' })).toEqual([]);
  });

  it('pushed readings with a gap: nobody pushed, since no failed one is stored of what is not polled', async () => {
    const parts = {
      accounts: [makeAccount('otp', { provider: 'own' })],
      providers: { own: { ...makeProvider(), name: 'own', polled: false } },
    };
    const past = { gaps: 'unwatched' as const, until: factsNoon + 300 * minuteMs };
    const polls = [...every(5, 30), ok(90, 100), ok(95, 100)];
    expect(await fired(parts, { ...past, polls })).toEqual(['stale 45–90', 'stale 110–']);
  });

  it('a time in which nobody watched counts neither for `for` nor as staleness', async () => {
    const rules = [{ ...low, forMs: 30 * minuteMs }];
    const polls = [ok(0, 40), ...[600, 605, 610, 615, 620, 625, 630].map((minute) => ok(minute, 40))];
    expect(await fired({ rules }, { polls, gaps: 'unwatched' })).toEqual(['low 625–']);
  });

  it('stored polls that failed, with the pauses of a backoff: nobody could read the account', async () => {
    const limited = [35, 60, 120].map((minutes) => failed(minutes, 'rate_limited'));
    const polls = [...every(5, 30), ...limited, ok(180, 100)];
    expect(await fired({}, { polls, gaps: 'unwatched' })).toEqual(['stale 45–180']);
  });

  it('but a failure that is tried again soon explains no long pause: nobody watched', async () => {
    const polls = [...every(5, 30), failed(35), ok(180, 100)];
    expect(await fired({}, { polls, gaps: 'unwatched' })).toEqual([]);
  });

  it('an hourly list of an account polled every five minutes is no series of gaps', async () => {
    expect(await fired({}, { polls: every(60, 600) })).toEqual([]);
  });

  it('but an `after` that the configuration gives is taken at its word', async () => {
    const rules = [staleRule({ id: 'silent', afterMs: 30 * minuteMs })];
    expect(await fired({ rules }, { polls: every(60, 120) })).toEqual(['silent 30–60', 'silent 90–120']);
  });

  it('a late poll is no gap', async () => {
    expect(await fired({}, { polls: [...every(5, 30), ok(42, 100), ok(47, 100)] })).toEqual([]);
  });

  it('an account that rests at night by its cron expression does not go stale', async () => {
    const poll = { kind: 'cron', cron: '*/15 8-12 * * *', timezone: 'UTC' } as const;
    const day = (from: number) => [0, 15, 30, 45].map((minutes) => ok(from + minutes, 100));
    const polls = [...day(0), ...day(20 * 60)];
    expect(await fired({ accounts: [makeAccount('otp', { poll })] }, { polls })).toEqual([]);
  });

  it('the end of the history is no silence', async () => {
    expect(await fired({}, { polls: every(5, 30), until: factsNoon + 10_000 * minuteMs })).toEqual([]);
  });

  it('the history may end while an account rests by its cron expression, and is watched', async () => {
    const rules = [{ ...low, forMs: 60 * minuteMs }];
    const poll = { kind: 'cron', cron: '*/15 8-12 * * *', timezone: 'UTC' } as const;
    const accounts = [makeAccount('otp', { poll })];
    const polls = [ok(0, 100), ok(15, 100), ok(30, 40), ok(45, 40)];
    const untilMinute = (minutes: number) =>
      fired({ accounts, rules }, { polls, until: factsNoon + minutes * minuteMs });
    expect(await untilMinute(89)).toEqual([]);
    expect(await untilMinute(600)).toEqual(['low 90–']);
  });

  it('the history may end within a backoff', async () => {
    const polls = [...every(5, 30), failed(35, 'rate_limited')];
    expect(await fired({}, { polls, until: factsNoon + 60 * minuteMs })).toEqual(['stale 45–']);
  });

  it('an account that is polled from later on was not silent before', async () => {
    const accounts = ['otp', 'marketing'];
    expect(await fired({ accounts }, { polls: every(5, 200) }, { polls: every(5, 200, 100) })).toEqual([]);
  });

  it('an account that is polled no more is not silent while others go on', async () => {
    const accounts = ['otp', 'marketing'];
    expect(await fired({ accounts }, { polls: every(5, 200) }, { polls: every(5, 100) })).toEqual([]);
  });
});

describe('a provider that was down', () => {
  const accounts = ['otp', 'marketing', 'sales'];
  const polls = [
    ...every(5, 30),
    ...[35, 40, 45, 50, 55].map((minute) => failed(minute)),
    ...every(5, 100, 60),
  ];
  const settings = makeSettings({ accounts });
  const all = accounts.map(() => ({ polls, gaps: 'unwatched' as const }));

  it('is one incident, reported once and ended once, next to those of its accounts', async () => {
    const { incidents, messages } = await run(settings, all);
    expect(incidents.map(({ account, rule }) => `${account} ${rule}`)).toEqual([
      'otp stale',
      'marketing stale',
      'sales stale',
      '@provider:api.example.com provider-down',
    ]);
    expect(messages.total).toBe(2);
  });

  it('is recognised in a file, where readings are missing', async () => {
    const given = accounts.map(() => ({ polls: [...every(5, 30), ...every(5, 100, 90)] }));
    const rules = (await run(settings, given)).incidents.map(({ rule }) => rule);
    expect(rules).toContain('provider-down');
  });
});

describe('messages of a replay', () => {
  const parts = { rules: [low], channels: ['ops', 'boss'] };
  const sixHours = [
    ...every(5, 5),
    ...Array.from({ length: 72 }, (_, index) => ok(10 + index * 5, 40)),
    ok(370, 100),
  ];
  const count = async (more: SettingsParts, past: Past = { polls: sixHours }) =>
    (await run(makeSettings({ ...parts, ...more }), [past])).messages.total;

  it.each<[name: string, settings: SettingsParts, expected: number]>([
    ['firing and resolved', { routes: [makeRoute({ repeatEveryMs: 24 * hourMs })] }, 2],
    [
      'on every channel',
      { routes: [makeRoute({ channels: ['ops', 'boss'], repeatEveryMs: 24 * hourMs })] },
      4,
    ],
    ['reminders', { routes: [makeRoute({ repeatEveryMs: 2 * hourMs })] }, 4],
    [
      'an escalation, and its end',
      {
        routes: [
          makeRoute({ repeatEveryMs: 24 * hourMs, escalate: { afterMs: hourMs, channels: ['boss'] } }),
        ],
      },
      4,
    ],
    [
      'none while a configured silence lasts',
      {
        silences: [{ match: {}, cron: '0 12 * * *', timezone: 'UTC', durationMs: 12 * hourMs, comment: '' }],
      },
      0,
    ],
    [
      'when the silence is over and it still fires',
      {
        routes: [makeRoute({ repeatEveryMs: 24 * hourMs })],
        silences: [{ match: {}, cron: '0 12 * * *', timezone: 'UTC', durationMs: 2 * hourMs, comment: '' }],
      },
      2,
    ],
  ])('%s', async (_name, settings, expected) => {
    expect(await count(settings)).toBe(expected);
  });

  it('of two accounts within the group wait are one', async () => {
    const settings = makeSettings({ accounts: ['otp', 'marketing'], rules: [low] });
    const shifted = (ms: number) => ({
      polls: [ok(0, 100), ok(5, 40)].map((poll) => {
        const at = poll.at + ms;
        return { ...poll, at, reading: poll.reading && { ...poll.reading, at } };
      }),
    });
    expect((await run(settings, [shifted(0), shifted(4000)])).messages.total).toBe(1);
    expect((await run(settings, [shifted(0), shifted(6000)])).messages.total).toBe(2);
  });

  it('reminds nobody while nobody watches, nor sooner after it, as a daemon that did not run', async () => {
    const routes = [makeRoute({ repeatEveryMs: hourMs })];
    const polls = [ok(0, 40), ok(5, 40), ok(24 * 60, 40), ok(24 * 60 + 5, 100)];
    expect(await count({ routes }, { polls, gaps: 'unwatched' })).toBe(2);
  });

  it('are counted by channel and by week', async () => {
    const polls = [ok(0, 40), ok(5, 100), ...every(60, 10 * 24 * 60, 60), ok(10 * 24 * 60 + 30, 40)];
    const { messages } = await run(makeSettings({ ...parts, routes: [] }), [{ polls }]);
    expect(messages).toEqual({
      total: 6,
      byChannel: new Map([
        ['ops', 3],
        ['boss', 3],
      ]),
      byWeek: [4, 2],
    });
  });
});

describe('how long before empty an incident came', () => {
  const negative = negativeRule({ id: 'negative' });
  const emptying = async (balances: readonly number[], rule: Rule = low, account = makeAccount('otp')) =>
    (await run(settingsOf([rule], account), [{ polls: pollsOf(balances) }])).incidents.map(
      ({ firedAt, empty }) => (empty === null ? null : [empty.how, (empty.at - firedAt) / minuteMs]),
    );

  it.each<[string, readonly number[], Rule, unknown]>([
    ['the balance reached zero while it fired', [60, 45, 30, 15, 0, -5], low, [['reached', 15]]],
    ['it was empty when it fired', [60, -5, 60], negative, [['reached', 0]]],
    [
      'a top-up saved it: when as much was spent as had been left',
      [80, 60, 45, 95, 75, 55, 50],
      low,
      [['spent', 20]],
    ],
    [
      'nothing more is known: where the burn rate would have led',
      [80, 70, 60, 49, 90],
      low,
      [['projected', 23.709_666_666_666_667]],
    ],
    ['nothing was spent, so nothing tells', [40, 40], low, [null]],
  ])('%s', async (_name, balances, rule, expected) => {
    expect(await emptying(balances, rule)).toEqual(expected);
  });

  it('the balance reached zero though one reading before was in another currency', async () => {
    const polls = pollsOf([60, 45, 300, 15, 0]).map(({ reading, ...poll }, place) => ({
      ...poll,
      reading: reading && (place === 2 ? { ...reading, currency: 'USD' } : reading),
    }));
    const { incidents } = await run(settingsOf([low]), [{ polls }]);
    expect(incidents).toMatchObject([{ empty: { how: 'reached', at: factsNoon + 20 * minuteMs } }]);
  });

  const below200 = belowRule({ id: 'below', thresholds: { warning: units(200) } });

  it('nothing was empty where less is left than the one fall that is known', async () => {
    const balances = [300, 90].flatMap((left) => new Array<number>(30).fill(left));
    const runway = runwayRule({ id: 'lasts', thresholds: { warning: 72 * hourMs } });
    for (const rule of [below200, runway])
      for (const empty of await emptying(balances, rule)) {
        expect(empty?.[0]).not.toBe('reached');
        expect(empty?.[1] ?? 1).toBeGreaterThan(0);
      }
  });

  it('it was empty with less left than the smallest of many falls, of which nothing can be sent', async () => {
    const falling = Array.from({ length: 40 }, (_, index) => 393 - 10 * index);
    const balances = [...falling, ...new Array<number>(12).fill(3)];
    expect(await emptying(balances, below200)).toEqual([['reached', 5 * (39 - 20)]]);
  });

  it.each([
    ['below', low, [['reached', 20]]],
    ['negative', negative, [['reached', 5]]],
  ])('with a credit limit empty is so far below zero (%s)', async (_name, rule, expected) => {
    const account = makeAccount('otp', { creditLimitMicros: units(20) });
    expect(await emptying([60, 45, 30, 10, -5, -20], rule, account)).toEqual(expected);
  });
});

describe('the JSON of a replay', () => {
  it('gives times in UTC, money as decimal strings and the worst severity', async () => {
    const rule = belowRule({ id: 'ladder', thresholds: { warning: units(50), critical: units(20) } });
    const polls = [ok(0, 60), ok(5, 40.25), ok(10, 0), ok(15, 80)];
    expect(replayJson(await run(makeSettings({ rules: [rule] }), [{ polls }]))).toEqual({
      incidents: [
        {
          account: 'otp',
          rule: 'ladder',
          type: 'below',
          severity: 'critical',
          firedAt: '2026-11-20T12:05:00.000Z',
          resolvedAt: '2026-11-20T12:15:00.000Z',
          value: '40.25',
          emptyAt: '2026-11-20T12:10:00.000Z',
          emptyBy: 'reached',
        },
      ],
      messages: 3,
    });
  });
});

describe('an alert that lets go and comes back', () => {
  const drop = dropRule({ id: 'drop', by: { kind: 'amount', micros: units(30) }, windowMs: 10 * minuteMs });
  const firsts = async (balances: readonly number[]) =>
    (await run(settingsOf([drop]), [{ polls: pollsOf(balances) }])).incidents.map(({ isFirst }) => isFirst);

  it('is distinguished from one that fires again after something was paid in', async () => {
    expect(await firsts([100, 60, 60, 60, 60, 20])).toEqual([true, false]);
    expect(await firsts([100, 60, 60, 60, 60, 90, 50])).toEqual([true, true]);
  });
});
