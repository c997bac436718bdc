import { describe, expect, it } from 'vitest';
import { localText, parseLocalText } from '../../src/domain/time.ts';

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

  it.each([
    ['America/Havana', '2026-03-08T00:00', '2026-03-08T01:00'],
    ['America/Santiago', '2026-09-06T00:00', '2026-09-06T01:00'],
    ['Africa/Cairo', '2026-04-24T00:00', '2026-04-24T01:00'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T03:30'],
  ])(
    'of %s that the clocks skip (%s) is as late as they went on (%s), never on the day before',
    (zone, text, shown) => {
      expect(localText(parseLocalText(text, zone) ?? 0, zone)).toBe(shown);
    },
  );

  it.each([
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00.000Z'],
    ['Atlantic/Azores', '2026-10-25T00:30', '2026-10-25T00:30:00.000Z'],
  ])('of %s that the clocks show twice (%s) is the first, east and west', (zone, text, first) => {
    expect(new Date(parseLocalText(text, zone) ?? 0).toISOString()).toBe(first);
  });

  it.each(['', 'tomorrow', '2026-11-20', '2026-13-40T00:00', '2026-11-20T18:41Z'])('is not %j', (text) => {
    expect(parseLocalText(text, 'UTC')).toBeNull();
  });
});
