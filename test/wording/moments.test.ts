import { describe, expect, it } from 'vitest';
import { english } from '../../src/wording/language.ts';
import { sayAge, sayDuration, sayMoment, sayMomentAndAge, sayNearMoment } from '../../src/wording/moments.ts';

const now = Date.UTC(2026, 10, 20, 18, 41);
const minute = 60_000;

describe('instants for people', () => {
  it.each([
    ['UTC', 'Fri 20 Nov 18:41 UTC'],
    ['Asia/Shanghai', 'Sat 21 Nov 02:41 UTC+8'],
    ['Asia/Kolkata', 'Sat 21 Nov 00:11 UTC+5:30'],
    ['America/New_York', 'Fri 20 Nov 13:41 UTC-5'],
  ])('name their zone: %s', (timezone, text) => {
    expect(sayMoment(now, { language: english, timezone, now })).toBe(text);
  });

  it('name the year when it is another', () => {
    expect(sayMoment(Date.UTC(2025, 0, 2, 3, 4), { language: english, timezone: 'UTC', now })).toBe(
      'Thu 2 Jan 2025 03:04 UTC',
    );
  });

  it('tell summer time from winter time', () => {
    expect(sayMoment(Date.UTC(2026, 6, 1, 12), { language: english, timezone: 'Europe/Berlin', now })).toBe(
      'Wed 1 Jul 14:00 UTC+2',
    );
  });

  it('are absolute and relative', () => {
    expect(sayMomentAndAge(now - 19 * minute, { language: english, timezone: 'UTC', now })).toBe(
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
    expect(sayNearMoment(at, { language: english, timezone: 'UTC', now })).toBe(text);
  });

  it('may lie ahead', () => {
    expect(sayAge(now + 90 * minute, { language: english, now })).toBe('in 1 hour 30 minutes');
    expect(sayAge(now, { language: english, now })).toBe('just now');
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
    expect(sayDuration(ms)).toBe(text);
  });
});
