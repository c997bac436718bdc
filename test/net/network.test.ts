import { expect, test } from 'vitest';
import { isAmong, parseNetwork } from '../../src/net/network.ts';

test.each(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])('%s is an address or a network', (text) => {
  expect(parseNetwork(text)).not.toBeNull();
});

test.each(['', 'proxy', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/8/8', '::/129', '1.2.3.4/'])(
  '"%s" is neither',
  (text) => {
    expect(parseNetwork(text)).toBeNull();
  },
);

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['11.1.2.3', false],
  ['fd00::7', true],
  ['', false],
  ['not an address', false],
])('%s among 10.0.0.0/8 and fd00::/8: %s', (address, expected) => {
  expect(isAmong(['10.0.0.0/8', 'fd00::/8'], address)).toBe(expected);
});
