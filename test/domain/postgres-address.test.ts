import { expect, test } from 'vitest';
import { parsePostgresAddress } from '../../src/domain/addresses.ts';

test('an address with one host is itself', () => {
  const text = 'postgres://lowwater:p%40ss@db.example.com:5432/lowwater?sslmode=verify-full';
  expect(parsePostgresAddress(text)).toEqual({ urls: [text], mustWrite: false });
});

test('each of several hosts gets user, database and parameters', () => {
  expect(
    parsePostgresAddress(
      'postgresql://u:p@one:5432,[::1]:5433,three/db?target_session_attrs=read-write&sslmode=disable',
    ),
  ).toEqual({
    urls: [
      'postgresql://u:p@one:5432/db?sslmode=disable',
      'postgresql://u:p@[::1]:5433/db?sslmode=disable',
      'postgresql://u:p@three/db?sslmode=disable',
    ],
    mustWrite: true,
  });
});

test('a server that may only read is not asked for, and the reason is given', () => {
  expect(parsePostgresAddress('postgres://one,two/db?target_session_attrs=prefer-standby')).toEqual({
    wrong: expect.stringContaining('only any, read-write, primary are allowed'),
  });
});

test('a host with port 0 is refused, and the reason is given', () => {
  expect(parsePostgresAddress('postgres://one:5432,two:0/db')).toEqual({
    wrong: 'names port 0, at which nothing can be reached',
  });
});

test.each([
  'postgres://one,/db',
  'postgres://one,two',
  'postgres://u:p@one:port,two/db',
  'postgres://one,two/db#x',
  'http://one/db',
  'postgres://u:%zz@one/db',
])('%s is no address', (text) => {
  expect(parsePostgresAddress(text)).toBe(null);
});
