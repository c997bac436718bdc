import { expect, test } from 'vitest';
import { readCommand } from '../../../src/channels/chats/commands.ts';
import { english } from '../../../src/wording/language.ts';

// Friday 20 November 2026, 20:00 in Shanghai.
const reader = { language: english, timezone: 'Asia/Shanghai', now: Date.UTC(2026, 10, 20, 12) };
const spanish = { ...reader, language: { ...english, id: 'es', marks: { group: '.', point: ',' } } };
const endOf = (day: number) => Date.UTC(2026, 10, day, 15, 59);
const ordered = {
  kind: 'ordered',
  account: 'otp',
  micros: 1_400_000_000,
  by: null,
  isAgain: false,
  comment: '',
};

test.each([
  ['status', { kind: 'status' }],
  ['/status@lowwater_bot', { kind: 'status' }],
  ['PAY', { kind: 'pay' }],
  ['why otp', { kind: 'why', account: 'otp', rule: null }],
  ['take otp sms-low', { kind: 'take', account: 'otp', rule: 'sms-low' }],
  ['quiet otp 2h load test', { kind: 'quiet', account: 'otp', forMs: 7_200_000, comment: 'load test' }],
  ['ordered otp 1400', ordered],
  ['/ordered otp 1,400.00 by friday', { ...ordered, by: endOf(27) }],
  ['ordered otp 1400 by mon PO-4711', { ...ordered, by: endOf(23), comment: 'PO-4711' }],
  ['ordered otp 1400 by 2026-11-30', { ...ordered, by: endOf(30) }],
  ['ordered otp 1400 by today again', { ...ordered, by: endOf(20), isAgain: true }],
  ['ordered otp 1400 again', { ...ordered, isAgain: true }],
  ['help', { kind: 'help' }],
  ['/start', { kind: 'help' }],
  ['   ', { kind: 'help' }],
])('"%s" is understood', (text, command) => {
  expect(readCommand(text, reader)).toEqual(command);
});

test.each([
  ['quiet otp until tomorrow', 'time', 'until'],
  ['quiet otp soon', 'time', 'soon'],
  ['quiet otp -2h', 'time', '-2h'],
  ['ordered otp 1.400,50', 'amount', '1.400,50'],
  ['ordered otp 1.400', 'amount', '1.400'],
  ['ordered otp 12,50', 'amount', '12,50'],
  ['ordered otp much', 'amount', 'much'],
  ['ordered otp -5', 'amount', '-5'],
  ['ordered otp 1400 by 2026-02-30', 'day', '2026-02-30'],
  ['ordered otp 1400 by someday', 'day', 'someday'],
])('of "%s" the word is named that cannot be read', (text, about, said) => {
  expect(readCommand(text, reader)).toEqual({ kind: 'unclear', about, said });
});

test('a day may be named in the language of the channel', () => {
  expect(readCommand('ordered otp 1400 by viernes', spanish)).toEqual({ ...ordered, by: endOf(27) });
});

test.each(['1.400', '1.400,00', '1400', '1400,00', '1400.00'])(
  'an amount may be written as the language of the channel writes it: %s',
  (amount) => {
    expect(readCommand(`ordered otp ${amount}`, spanish)).toEqual(ordered);
  },
);

test.each([
  'quiet otp',
  'ordered otp',
  'ordered otp 1400 by',
  'take',
  'silencio otp 2h',
  'DROP TABLE accounts',
  '<b>why</b> otp',
])('"%s" is no command', (text) => {
  expect(readCommand(text, reader)).toEqual({ kind: 'unknown' });
});
