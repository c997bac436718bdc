import { describe, expect, it } from 'vitest';
import type { PollRecord } from '../../src/domain/reading.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { assignReadings, givenHistory } from '../../src/replay/histories.ts';
import { type AccountHistory, HistoryReplay } from '../../src/replay/history-replay.ts';
import { replayJson } from '../../src/replay/replay-json.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import {
  belowRule,
  factsNoon,
  hourMs,
  minuteMs,
  readingAt,
  staleRule,
  units,
} from '../support/account-facts.ts';
import { makeAccount, makeRoute, makeSettings, type SettingsParts } from '../support/settings.ts';

const low = belowRule({
  id: 'low',
  thresholds: { warning: units(50) },
  hysteresis: { kind: 'amount', micros: 0 },
});

const ok = (minutes: number, sms: number): PollRecord => {
  const reading = readingAt(minutes, sms);
  return { at: reading.at, outcome: 'ok', reading };
};
const failed = (minutes: number): PollRecord => ({
  at: factsNoon + minutes * minuteMs,
  outcome: 'timeout',
  reading: null,
});

function replay(settings: Settings, histories: readonly Partial<AccountHistory>[], untilMinutes: number) {
  const run = new HistoryReplay({ settings, calendar: cronCalendar });
  const until = factsNoon + untilMinutes * minuteMs;
  histories.forEach((history, index) => {
    const account = settings.accounts[index] ?? makeAccount('none');
    run.add({ account, polls: [], before: [], gaps: 'unread', until, ...history });
  });
  return run.finish(until);
}

function fired(parts: SettingsParts, history: Partial<AccountHistory>, untilMinutes = 10_000): string[] {
  return replay(makeSettings(parts), [history], untilMinutes).incidents.map(({ incident }) => {
    const minute = (at: number | null) => (at === null ? '' : (at - factsNoon) / minuteMs);
    return `${incident.rule} ${minute(incident.firedAt)}–${minute(incident.resolvedAt)}`;
  });
}

const every = (step: number, until: number) =>
  Array.from({ length: Math.floor(until / step) + 1 }, (_, index) => ok(index * step, 100));

describe('pauses between polls', () => {
  it('a list of readings with a gap: nobody could read the account', () => {
    const polls = [...every(5, 30), ok(90, 100), ok(95, 100)];
    expect(fired({}, { polls })).toEqual(['stale 45–90']);
  });

  it('stored polls with a gap: lowwater was not running', () => {
    const polls = [...every(5, 30), ok(90, 100), ok(95, 100)];
    expect(fired({}, { polls, gaps: 'unwatched' })).toEqual([]);
  });

  it('stored polls that failed, with the pauses of a backoff: nobody could read the account', () => {
    const polls = [...every(5, 30), failed(35), failed(60), failed(120), ok(180, 100)];
    expect(fired({}, { polls, gaps: 'unwatched' })).toEqual(['stale 45–180']);
  });

  it('an hourly list of an account polled every five minutes is no series of gaps', () => {
    expect(fired({}, { polls: every(60, 600) })).toEqual([]);
  });

  it('but an `after` that the configuration gives is taken at its word', () => {
    const rules = [staleRule({ id: 'silent', afterMs: 30 * minuteMs })];
    expect(fired({ rules }, { polls: every(60, 120) }, 120)).toEqual(['silent 30–60', 'silent 90–120']);
  });

  it('a late poll is no gap', () => {
    const polls = [...every(5, 30), ok(42, 100), ok(47, 100)];
    expect(fired({}, { polls })).toEqual([]);
  });

  it('an account that rests at night by its cron expression does not go stale', () => {
    const poll = { kind: 'cron', cron: '*/15 8-12 * * *', timezone: 'UTC' } as const;
    const day = (from: number) => [0, 15, 30, 45].map((minutes) => ok(from + minutes, 100));
    const polls = [...day(0), ...day(20 * 60)];
    expect(fired({ accounts: [makeAccount('otp', { poll })] }, { polls })).toEqual([]);
  });

  it('the end of the history is no silence', () => {
    expect(fired({}, { polls: every(5, 30) }, 10_000)).toEqual([]);
  });
});

describe('messages of a replay', () => {
  const parts = { rules: [low], channels: ['ops', 'boss'] };
  const sixHours = [
    ...every(5, 5),
    ...Array.from({ length: 72 }, (_, index) => ok(10 + index * 5, 40)),
    ok(370, 100),
  ];
  const count = (more: SettingsParts, polls = sixHours) =>
    replay(makeSettings({ ...parts, ...more }), [{ polls }], 370).messages.length;

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
  ])('%s', (_name, settings, expected) => {
    expect(count(settings)).toBe(expected);
  });

  it('of two accounts within the group wait are one', () => {
    const settings = makeSettings({ accounts: ['otp', 'marketing'], rules: [low] });
    const shifted = (ms: number) => ({
      polls: [ok(0, 100), ok(5, 40)].map((poll) => {
        const at = poll.at + ms;
        return { ...poll, at, reading: poll.reading && { ...poll.reading, at } };
      }),
    });
    expect(replay(settings, [shifted(0), shifted(4000)], 10).messages).toMatchObject([{ notices: 2 }]);
    expect(replay(settings, [shifted(0), shifted(6000)], 10).messages).toHaveLength(2);
  });
});

describe('the JSON of a replay', () => {
  it('gives times in UTC, money as decimal strings and the worst severity', () => {
    const ladder = belowRule({ id: 'ladder', thresholds: { warning: units(50), critical: units(20) } });
    const polls = [ok(0, 60), ok(5, 40.25), ok(10, 0), ok(15, 80)];
    const json = replayJson(replay(makeSettings({ rules: [ladder] }), [{ polls }], 15));
    expect(json).toEqual({
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

describe('readings and the accounts they are of', () => {
  const accounts = [makeAccount('otp'), makeAccount('marketing')];
  const some = [readingAt(0, 1)];
  const assign = (ids: readonly string[], chosen: string | null, known = accounts) =>
    assignReadings(
      new Map(ids.map((id) => [id, some])),
      known,
      known.find(({ id }) => id === chosen) ?? null,
    ).map(({ account }) => account.id);

  it('belong to the accounts that the file names', () => {
    expect(assign(['marketing', 'otp'], null)).toEqual(['otp', 'marketing']);
  });

  it('are narrowed to the chosen account', () => {
    expect(assign(['marketing', 'otp', 'other'], 'otp')).toEqual(['otp']);
  });

  it('without a name belong to the chosen or the only account', () => {
    expect(assign([''], 'marketing')).toEqual(['marketing']);
    expect(assign([''], null, [makeAccount('otp')])).toEqual(['otp']);
  });

  it('without a name are refused where there are several accounts', () => {
    expect(() => assign([''], null)).toThrow(/say whose it is with --account \(otp, marketing\)/);
  });

  it('of an unknown account are refused, naming both sides', () => {
    expect(() => assign(['otp', 'sales'], null)).toThrow(
      /readings of "sales", the configuration only of otp, marketing/,
    );
  });

  it('without the chosen account are refused', () => {
    expect(() => assign(['otp'], 'marketing')).toThrow(/no readings of marketing, only of "otp"/);
  });

  it('from before the replay are only looked back on', () => {
    const settings = makeSettings();
    const history = givenHistory(makeAccount('otp'), [readingAt(0, 1), readingAt(5, 2)], {
      settings,
      since: factsNoon + 1,
      now: factsNoon,
    });
    expect([history.before.length, history.polls.length]).toEqual([1, 1]);
  });
});
