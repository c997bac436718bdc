import { expect, test } from 'vitest';
import { parseMailbox } from '../../src/schema/addresses.ts';
import { processorMs } from '../support/processor-time.ts';

test.each<[string, { name: string; address: string }]>([
  ['ops@example.com', { name: '', address: 'ops@example.com' }],
  ['<ops@example.com>', { name: '', address: 'ops@example.com' }],
  ['Ops team <ops@example.com>', { name: 'Ops team', address: 'ops@example.com' }],
  ['"Doe, Jane" <jane@example.com>', { name: 'Doe, Jane', address: 'jane@example.com' }],
  ['"Jane \\"JD\\" Doe" <jane@example.com>', { name: 'Jane "JD" Doe', address: 'jane@example.com' }],
  ['运维 <ops@example.com>', { name: '运维', address: 'ops@example.com' }],
  ['root@localhost', { name: '', address: 'root@localhost' }],
  ["o'brien+alerts@mail.example.co.uk", { name: '', address: "o'brien+alerts@mail.example.co.uk" }],
])('%s is one mailbox', (text, expected) => {
  expect(parseMailbox(text)).toEqual(expected);
});

test.each([
  '',
  'ops',
  '@example.com',
  'ops@',
  'ops@@example.com',
  'ops@exa mple.com',
  'ops@-example.com',
  'ops@example..com',
  '.ops@example.com',
  'a@example.com, b@example.com',
  'a@example.com; b@example.com',
  'Ops <a@example.com> <b@example.com>',
  'Ops <a@example.com>, b@example.com',
  'Ops, b@example.com <a@example.com>',
  'group: a@example.com;',
  'ops (comment) <a@example.com>',
  '"quoted local"@example.com',
  'a@example.com\r\nBcc: e@evil.example',
  'x\nBcc: e@evil.example <a@example.com>',
  'x\u0000 <a@example.com>',
  'x\u2028y <a@example.com>',
  'ops@[127.0.0.1]',
  'ops@exämple.com',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(64)}.com`,
  `a@${'b.'.repeat(130)}com`,
])('%j is refused', (text) => {
  expect(parseMailbox(text)).toBeNull();
});

test('a mail address of thousands of blanks is refused in bounded time', () => {
  const startedAt = processorMs();
  expect(parseMailbox(`${' '.repeat(3000)}>${' '.repeat(3000)}`)).toBeNull();
  expect(processorMs() - startedAt).toBeLessThan(500);
});
