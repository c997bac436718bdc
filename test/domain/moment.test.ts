import { describe, expect, it } from 'vitest';
import {
  describeDistance,
  formatMoment,
  formatMomentAndAge,
  formatNearMoment,
  localText,
  parseLocalText,
  roughDuration,
} from '../../src/domain/moment.ts';

const now = Date.UTC(2026, 10, 20, 18, 41);
const minute = 60_000;

describe('instants for people', () => {
  it.each([
    ['UTC', 'Fri 20 Nov 18:41 UTC'],
    ['Asia/Shanghai', 'Sat 21 Nov 02:41 UTC+8'],
    ['Asia/Kolkata', 'Sat 21 Nov 00:11 UTC+5:30'],
    ['America/New_York', 'Fri 20 Nov 13:41 UTC-5'],
  ])('name their zone: %s', (timezone, text) => {
    expect(formatMoment(now, { timezone, now })).toBe(text);
  });

  it('name the year when it is another', () => {
    expect(formatMoment(Date.UTC(2025, 0, 2, 3, 4), { timezone: 'UTC', now })).toBe(
      'Thu 2 Jan 2025 03:04 UTC',
    );
  });

  it('tell summer time from winter time', () => {
    expect(formatMoment(Date.UTC(2026, 6, 1, 12), { timezone: 'Europe/Berlin', now })).toBe(
      'Wed 1 Jul 14:00 UTC+2',
    );
  });

  it('are absolute and relative', () => {
    expect(formatMomentAndAge(now - 19 * minute, { timezone: 'UTC', now })).toBe(
      'Fri 20 Nov 18:22 UTC (19 minutes ago)',
    );
  });

  it.each([
    [0.5, 'Sat 07:01'],
    [5.9, 'Thu 16:17'],
    [20, '10 Dec 18:41'],
    [364, '19 Nov 18:41'],
    [400, '25 Dec 2027'],
  ])('are as short as is clear, %s days ahead', (days, text) => {
    const at = now + days * 24 * 60 * minute + (days === 0.5 ? 20 * minute : 0);
    expect(formatNearMoment(at, { timezone: 'UTC', now })).toBe(text);
  });

  it('may lie ahead', () => {
    expect(describeDistance(now + 90 * minute, now)).toBe('in 1 hour 30 minutes');
    expect(describeDistance(now, now)).toBe('just now');
  });
});

describe('lengths of time for people', () => {
  it.each([
    [400, 'less than a second'],
    [40_400, '40 seconds'],
    [59.7 * minute, '1 hour'],
    [19 * minute + 20_000, '19 minutes'],
    [320 * minute, '5 hours 20 minutes'],
    [30 * 60 * minute, '30 hours'],
    [79 * 60 * minute, '3 days 7 hours'],
    [34.2 * 24 * 60 * minute, '34 days'],
  ])('%d ms is %s', (ms, text) => {
    expect(roughDuration(ms)).toBe(text);
  });
});

describe('an instant as the clocks of a zone show it', () => {
  it.each([
    ['UTC', '2026-11-20T18:41', Date.UTC(2026, 10, 20, 18, 41)],
    ['Asia/Shanghai', '2026-11-21T02:41', Date.UTC(2026, 10, 20, 18, 41)],
    ['Europe/Berlin', '2026-07-01T12:00', Date.UTC(2026, 6, 1, 10)],
    ['Europe/Berlin', '2026-10-25T03:30', Date.UTC(2026, 9, 25, 2, 30)],
    ['Europe/Berlin', '2026-10-25T01:30', Date.UTC(2026, 9, 24, 23, 30)],
  ])('of %s is %s, in both directions', (zone, text, at) => {
    expect(localText(at, zone)).toBe(text);
    expect(parseLocalText(text, zone)).toBe(at);
  });

  it.each(['', 'tomorrow', '2026-11-20', '2026-13-40T00:00', '2026-11-20T18:41Z'])('is not %j', (text) => {
    expect(parseLocalText(text, 'UTC')).toBeNull();
  });
});
