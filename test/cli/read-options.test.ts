import { expect, test } from 'vitest';
import type { CommandInput } from '../../src/cli/command.ts';
import { readDuration, readInstant } from '../../src/cli/read-options.ts';

function typed(text: string): CommandInput {
  return {
    positional: () => '',
    optionalPositional: () => null,
    option: () => text,
    options: () => [text],
    flag: () => false,
  };
}

test.each([
  ['7d', 'UTC', '2026-11-13T12:00:00.000Z'],
  ['2026-11-01', 'UTC', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01', 'Asia/Shanghai', '2026-10-31T16:00:00.000Z'],
  ['2026-11-01T08:00Z', 'Asia/Shanghai', '2026-11-01T08:00:00.000Z'],
  ['2026-11-01 08:00+01:00', 'Asia/Shanghai', '2026-11-01T07:00:00.000Z'],
  // Clocks go back at 03:00 summer time, that is at 01:00 UTC.
  ['2026-10-25T01:30', 'Europe/Berlin', '2026-10-24T23:30:00.000Z'],
  ['2026-10-25T03:30', 'Europe/Berlin', '2026-10-25T02:30:00.000Z'],
  ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
])(
  '%s in %s is %s: what was typed without a zone is meant in that of the configuration',
  (text, timezone, iso) => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(new Date(readInstant(typed(text), 'since', { now, timezone }) ?? 0).toISOString()).toBe(iso);
  },
);

test.each(['2026-02-30', '2026-13-01', '2026-04-31T08:00Z', '2026-11-01T25:00', 'yesterday'])(
  '%s is refused: it is no day, or no time of one',
  (text) => {
    const at = { now: 0, timezone: 'UTC' };
    expect(() => readInstant(typed(text), 'since', at)).toThrow('is neither a duration nor a date');
  },
);

test.each(['4000d', '9999999d', '99999999d'])(
  'a duration of %s is refused with its limit, which is that of the configuration',
  (text) => {
    expect(() => readDuration(typed(text), 'for')).toThrow('--for must be at most 3650d');
  },
);

test.each(['40000d', '9999999d', '99999999d'])('%s ago is the first instant: nothing is older', (text) => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  expect(readInstant(typed(text), 'since', { now, timezone: 'UTC' })).toBe(0);
});
