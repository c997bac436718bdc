import { expect, test } from 'vitest';
import { readCommand } from '../../../src/channels/chats/commands.ts';
import { english } from '../../../src/wording/language.ts';

// Friday 20 November 2026, 20:00 in Shanghai.
const reader = { language: english, timezone: 'Asia/Shanghai', now: Date.UTC(2026, 10, 20, 12) };
const spanish = { ...reader, language: { ...english, id: 'es', marks: { group: '.', point: ',' } } };
const inYuan = () => 'CNY';
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
  ['ordered otp 1400 PO-4711 by mon', { ...ordered, by: endOf(23), comment: 'PO-4711' }],
  ['ordered otp 1400 approved by Ana', { ...ordered, comment: 'approved by Ana' }],
  ['ordered otp 1400 by 2026-11-30', { ...ordered, by: endOf(30) }],
  ['ordered otp 1400 by today again', { ...ordered, by: endOf(20), isAgain: true }],
  ['ordered otp 1400 again', { ...ordered, isAgain: true }],
  ['ordered otp １４００ by ２０２６-１１-３０', { ...ordered, by: endOf(30) }],
  ['ordered otp 1,400元 by friday', { ...ordered, by: endOf(27) }],
  ['ordered otp 1400 元 PO-4711', { ...ordered, comment: 'PO-4711' }],
  [
    '／ｏｒｄｅｒｅｄ　ｏｔｐ　１４００　ｂｙ　ｆｒｉｄａｙ　ａｇａｉｎ',
    { ...ordered, by: endOf(27), isAgain: true },
  ],
  ['ｔａｋｅ　ｏｔｐ　ｓｍｓ－ｌｏｗ', { kind: 'take', account: 'otp', rule: 'sms-low' }],
  ['\u2068/status\u2069', { kind: 'status' }],
  ['why\u200b otp\ufeff', { kind: 'why', account: 'otp', rule: null }],
  ['quiet otp ２h', { kind: 'quiet', account: 'otp', forMs: 7_200_000, comment: '' }],
  ['help', { kind: 'help' }],
  ['/start', { kind: 'help' }],
  ['   ', { kind: 'help' }],
])('"%s" is understood', (text, command) => {
  expect(readCommand(text, reader, inYuan)).toEqual(command);
});

test.each([
  ['quiet otp until tomorrow', 'time', 'until'],
  ['quiet otp soon', 'time', 'soon'],
  ['quiet otp -2h', 'time', '-2h'],
  ['ordered otp 1.400,50', 'amount', '1.400,50'],
  ['ordered otp 1.400', 'amount', '1.400'],
  ['ordered otp 10⁶', 'amount', '10⁶'],
  ['ordered otp 12,50', 'amount', '12,50'],
  ['ordered otp much', 'amount', 'much'],
  ['ordered otp -5', 'amount', '-5'],
  ['ordered otp 1 400 CNY by friday', 'amount', '1 400'],
  ['ordered otp 1,400,00', 'amount', '1,400,00'],
  ['ordered otp 1400 by 2026-02-30', 'day', '2026-02-30'],
  ['ordered otp 1400 by someday', 'day', 'someday'],
])('of "%s" the word is named that cannot be read', (text, about, said) => {
  expect(readCommand(text, reader, inYuan)).toEqual({ kind: 'unclear', about, said });
});

test.each([
  ['1,400 CNY by friday', { by: endOf(27) }],
  ['1400 cny by friday again', { by: endOf(27), isAgain: true }],
  ['1400\u00a0RMB', {}],
  ['CNY 1400 by friday PO-4711', { by: endOf(27), comment: 'PO-4711' }],
  ['1400 CNY top up', { comment: 'top up' }],
  ['1400 top up by friday', { by: endOf(27), comment: 'top up' }],
])('the currency of the account may stand beside the amount: %s', (money, rest) => {
  expect(readCommand(`ordered otp ${money}`, reader, inYuan)).toEqual({ ...ordered, ...rest });
});

test.each([
  '1400 USD by friday',
  '1400 usd',
  'usd 1400 by friday',
  '1400 € by friday',
  '€1400',
  '1400€ by friday',
  'CNY 1400 USD',
])('another currency is no comment: %s', (money) => {
  expect(readCommand(`ordered otp ${money}`, reader, inYuan)).toMatchObject({
    ...{ kind: 'unclear', about: 'currency', currency: 'CNY' },
    said: expect.stringMatching(/^(usd|€)$/i),
  });
});

test('a unit is named as the account has it, and what is not known forbids no currency', () => {
  const wanted = { ...ordered, by: endOf(27) };
  expect(readCommand('ordered otp 1,400 credits by friday', reader, () => 'credits')).toEqual(wanted);
  expect(readCommand('ordered otp 1400 USD by friday', reader, () => '')).toEqual(wanted);
});

test('a day may be named in the language of the channel', () => {
  expect(readCommand('ordered otp 1400 by viernes', spanish, inYuan)).toEqual({ ...ordered, by: endOf(27) });
});

test.each(['1.400', '1.400,00', '1400', '1400,00', '1400.00'])(
  'an amount may be written as the language of the channel writes it: %s',
  (amount) => {
    expect(readCommand(`ordered otp ${amount}`, spanish, inYuan)).toEqual(ordered);
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
  expect(readCommand(text, reader, inYuan)).toEqual({ kind: 'unknown' });
});

test('yuan are refused for an account in another currency, with a space before the word or without', () => {
  for (const said of ['1400 元 by friday', '1400元', '￥1400'])
    expect(readCommand(`ordered otp ${said}`, reader, () => 'EUR')).toMatchObject({
      kind: 'unclear',
      about: 'currency',
      said: expect.stringMatching(/^[元¥]$/),
    });
});
