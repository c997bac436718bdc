import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/domain/addresses.ts';

test.each(['localhost', 'LOCALHOST.', 'api.localhost', '127.0.0.1', '127.9.8.7', '::1', '[::1]'])(
  '%s stays on this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each([
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '127.0.0.1.example.com',
  '127.0.0.999',
  'localhost.example.com',
  'notlocalhost',
  '::ffff:7f00:1',
])('%s may be another machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
