import { describe, expect, it } from 'vitest';
import { localText, parseLocalText } from '../../src/domain/moment.ts';

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
