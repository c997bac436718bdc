import { expect, it } from 'vitest';
import { asSentence, joinSentences, labelled } from '../../src/wording/lists.ts';

it('sentences stand one after the other, in Chinese without a space between', () => {
  expect(joinSentences(['It began.', 'It ended.'])).toBe('It began. It ended.');
  expect(joinSentences(['开始告警。', '已恢复。'])).toBe('开始告警。已恢复。');
});

it('a label has the colon of its script', () => {
  expect(labelled('SMS balance', '4.00 CNY')).toBe('SMS balance: 4.00 CNY');
  expect(labelled('短信余额', '4.00 CNY')).toBe('短信余额：4.00 CNY');
});

it.each([
  ['this is another incident now', 'This is another incident now.'],
  ['lowwater shares the database', 'lowwater shares the database.'],
  ['for: give a duration', 'for: give a duration.'],
  ['there is no rule "lo"; did you mean "low"?', 'There is no rule "lo"; did you mean "low"?'],
  ['Ya está hecho.', 'Ya está hecho.'],
  ['没有账户“otp”', '没有账户“otp”。'],
])('what stands alone on a page is a whole sentence: %s', (text, sentence) => {
  expect(asSentence(text)).toBe(sentence);
});
