import { expect, test } from 'vitest';
import {
  maxProviderWaitMs,
  maxRetryAfterMs,
  parseRetryAfter,
  readRetryAfter,
} from '../../src/domain/backoff.ts';

const now = Date.UTC(2026, 10, 20, 12, 0, 0);

test.each<[name: string, value: string, ms: number | null]>([
  ['seconds', '120', 120_000],
  ['zero seconds', '0', 0],
  ['seconds between spaces', ' 7 ', 7000],
  ['a date', 'Fri, 20 Nov 2026 12:01:30 GMT', 90_000],
  ['a date in the older form', 'Friday, 20-Nov-26 12:01:30 GMT', 90_000],
  ['a date in the form of asctime', 'Fri Nov 20 12:01:30 2026', 90_000],
  ['ten years in seconds are cut to an hour', '315360000', maxRetryAfterMs],
  ['ten years as a date are cut to an hour', 'Fri, 20 Nov 2036 12:00:00 GMT', maxRetryAfterMs],
  ['more seconds than a number holds', '9'.repeat(400), maxRetryAfterMs],
  ['a date already past is ignored', 'Fri, 20 Nov 2026 11:59:59 GMT', null],
  ['negative seconds are ignored', '-5', null],
  ['fractions are ignored', '1.5', null],
  ['words are ignored', 'soon', null],
  ['nothing is ignored', '', null],
  ['a date that does not exist is ignored', 'Fri, 99 Nov 2026 12:01:30 GMT', null],
  ['a bare year is no date', '2030-01-01', null],
  ['a date with a word before it is ignored', 'at Fri, 20 Nov 2026 12:01:30 GMT', null],
  ['a date with a word after it is ignored', 'Fri, 20 Nov 2026 12:01:30 GMT+1', null],
  ['an older date with a word before it is ignored', 'at Friday, 20-Nov-26 12:01:30 GMT', null],
  ['an older date with another zone is ignored', 'Friday, 20-Nov-26 12:01:30 GMT+1', null],
  ['an asctime date with a word before it is ignored', 'at Fri Nov 20 12:01:30 2026', null],
  ['an asctime date with another zone is ignored', 'Fri Nov 20 12:01:30 2026 GMT+1', null],
  ['the present instant is no wait', 'Fri, 20 Nov 2026 12:00:00 GMT', 0],
])('%s', (_name, value, ms) => {
  expect(parseRetryAfter(value, now)).toBe(ms);
});

test.each(['315360000', 'Fri, 20 Nov 2036 12:00:00 GMT'])(
  'the provider is obeyed for a day at most: %s',
  (value) => {
    expect(parseRetryAfter(value, now, maxProviderWaitMs)).toBe(24 * 3_600_000);
  },
);

test('a date counts from the answer’s own Date, because its clock may be hours off', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const headers = { 'retry-after': 'Fri, 20 Nov 2026 07:02:00 GMT', date: 'Fri, 20 Nov 2026 07:00:00 GMT' };
  expect(readRetryAfter(headers, { now, maxMs: maxProviderWaitMs })).toBe(120_000);
  expect(readRetryAfter({ ...headers, date: 'nonsense' }, { now, maxMs: maxProviderWaitMs })).toBeNull();
});

test('of several the longest counts, whatever stands beside it', () => {
  const read = (...texts: string[]) =>
    readRetryAfter({ 'retry-after': texts }, { now, maxMs: maxProviderWaitMs });
  expect(read('7', '9')).toBe(9000);
  expect(read('9', 'soon', '-5', '7')).toBe(9000);
  expect(read('7, 9')).toBe(9000);
  const date = new Date(now + 60_000).toUTCString();
  expect(read(`${date},7`)).toBe(60_000);
  expect(read(`7, ${date}`)).toBe(60_000);
  expect(read('soon')).toBeNull();
  expect(read()).toBeNull();
});
