import { describe, expect, test } from 'vitest';
import { pollGap } from '../../src/engine/poll-gaps.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { hourMs, minuteMs } from '../support/account-facts.ts';

const officeHours = { kind: 'cron', cron: '*/15 8-20 * * 1-5', timezone: 'UTC' } as const;
const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

function gapAfter(schedule: typeof officeHours | typeof hourly, instant: string, unwatchedMs = 0): number {
  const firstSeenAt = Date.parse(instant);
  return pollGap(cronCalendar, schedule, { reading: null, firstSeenAt, unwatchedMs });
}

describe('the gap of three polls that are due', () => {
  test('holds the rest of a schedule: nobody was meant to ask', () => {
    expect(gapAfter(officeHours, '2026-11-20T20:45:00Z')).toBe((59 * hourMs + 45 * minuteMs) / 3);
  });

  test('begins after the time in which nobody watched, so that a start in the rest waits for Monday as well', () => {
    const watched = gapAfter(officeHours, '2026-11-20T21:30:00Z');
    expect(gapAfter(officeHours, '2026-11-20T17:30:00Z', 4 * hourMs)).toBe(watched);
    expect(watched).toBeGreaterThan(19 * hourMs);
  });

  test('is never shorter than the schedule’s own, wherever between two polls it begins', () => {
    expect(gapAfter(hourly, '2026-11-20T17:00:00Z')).toBe(hourMs);
    expect(gapAfter(hourly, '2026-11-20T17:59:00Z')).toBe(hourMs);
  });
});
