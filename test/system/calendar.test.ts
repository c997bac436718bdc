import { Cron } from 'croner';
import { describe, expect, test, vi } from 'vitest';
import { cronCalendar } from '../../src/system/calendar.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

function at(iso: string): number {
  return Date.parse(iso);
}

/** Every run in [since, until), as ISO times in UTC. */
function runs(cron: string, zone: string, since: string, until: string): string[] {
  const found: string[] = [];
  for (let run = cronCalendar.next(cron, zone, at(since) - 1); run !== null && run < at(until); ) {
    found.push(new Date(run).toISOString().slice(0, 16));
    run = cronCalendar.next(cron, zone, run);
  }
  return found;
}

describe('once per local day, also when the clocks change', () => {
  const rows: readonly [string, string, string, string, string, readonly string[]][] = [
    [
      'the hour that is left out in spring: after the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T00:00:00Z',
      '2026-03-31T00:00:00Z',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'the hour that comes twice in autumn: once',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T00:00:00Z',
      '2026-10-27T00:00:00Z',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'a list of hours in the gap',
      '30 2,14 * * *',
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      '2026-03-30T00:00:00Z',
      ['2026-03-29T01:00', '2026-03-29T12:30'],
    ],
    [
      'a list of hours in the overlap',
      '30 2,14 * * *',
      'Europe/Berlin',
      '2026-10-25T00:00:00Z',
      '2026-10-26T00:00:00Z',
      ['2026-10-25T00:30', '2026-10-25T13:30'],
    ],
    [
      'every hour goes on through both 02:00s',
      '0 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:00:00Z',
      '2026-10-25T03:00:00Z',
      ['2026-10-24T23:00', '2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
    ],
  ];

  test.each(rows)('%s', (_name, cron, zone, since, until, expected) => {
    expect(runs(cron, zone, since, until)).toEqual(expected);
  });

  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Shanghai', 'UTC'])(
    'a daily run comes on each of 1,100 days in %s',
    (zone) => {
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
      let run = at('2026-01-01T00:00:00Z');
      const days = new Set<string>();
      for (let count = 0; count < 1100; count++) {
        const next = cronCalendar.next('30 2 * * *', zone, run);
        if (next === null) throw new Error('a daily run never ends');
        expect(next - run).toBeLessThanOrEqual(50 * hourMs);
        days.add(day.format(next));
        run = next;
      }
      expect(days.size).toBe(1100);
    },
  );
});

test('29 February comes in leap years only', () => {
  expect(runs('0 9 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2037-01-01T00:00:00Z')).toEqual([
    '2028-02-29T09:00',
    '2032-02-29T09:00',
    '2036-02-29T09:00',
  ]);
});

describe('the last run and the next one agree', () => {
  const crons = ['30 2 * * *', '0 3 * * *', '*/15 8-20 * * 1-5', '0 * * * *', '0 9 * * 1', '30 2,14 * * *'];
  /** Days around which the clocks of each zone change; those of the others are days like any other. */
  const changes = {
    UTC: ['2028-02-29'],
    'Europe/Berlin': ['2026-03-29', '2026-10-25', '2028-02-29'],
    'America/New_York': ['2026-03-08', '2026-11-01'],
    'Australia/Lord_Howe': ['2026-04-05', '2026-10-04'],
    'Asia/Shanghai': ['2026-03-29'],
  };
  const rows = crons.flatMap((cron) =>
    Object.entries(changes).map(([zone, days]) => [cron, zone, days] as const),
  );

  test.each(rows)('%s in %s', (cron, zone, days) => {
    for (const change of days) {
      const begin = at(`${change}T00:00:00Z`) - dayMs;
      // An odd step, so that no second of the hour is looked at twice.
      for (let instant = begin; instant < begin + 3 * dayMs; instant += 41 * minuteMs + 7011) {
        const last = cronCalendar.previous(cron, zone, instant);
        if (last === null) throw new Error('a run that comes again and again has a last one');
        expect(last).toBeLessThanOrEqual(instant);
        const words = `${cron} in ${zone} at ${new Date(instant).toISOString()}`;
        expect(cronCalendar.next(cron, zone, last) ?? 0, `${words}: no run is between`).toBeGreaterThan(
          instant,
        );
        expect(cronCalendar.next(cron, zone, last - 1), `${words}: the last one is a run`).toBe(last);
        expect(cronCalendar.previous(cron, zone, last), `${words}: it includes its own instant`).toBe(last);
      }
    }
  });
});

test('what never runs has no next run, and what is no expression is refused', () => {
  const now = at('2026-11-20T12:00:00Z');
  expect(cronCalendar.next('0 9 30 2 *', 'UTC', now)).toBeNull();
  expect(() => cronCalendar.next('0 25 * * *', 'UTC', now)).toThrow('CronPattern');
});

test('thousands of alerts that ask which run was the last before one moment cost one look into the past', () => {
  const look = vi.spyOn(Cron.prototype, 'previousRuns');
  const moment = at('2026-11-20T12:00:00.250Z');
  const ask = (when: number) => cronCalendar.previous('7 22 * * *', 'Europe/Berlin', when);
  const answers = new Set(Array.from({ length: 5000 }, () => ask(moment)));
  expect([...answers]).toEqual([at('2026-11-19T21:07:00Z')]);
  expect(look).toHaveBeenCalledTimes(1);
  expect(ask(at('2026-11-20T21:07:00Z'))).toBe(at('2026-11-20T21:07:00Z'));
  expect(ask(moment)).toBe(at('2026-11-19T21:07:00Z'));
  look.mockRestore();
});
