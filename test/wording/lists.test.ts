import { expect, it } from 'vitest';
import { joinSentences, labelled } from '../../src/wording/lists.ts';

it('sentences stand one after the other, in Chinese without a space between', () => {
  expect(joinSentences(['It began.', 'It ended.'])).toBe('It began. It ended.');
  expect(joinSentences(['开始告警。', '已恢复。'])).toBe('开始告警。已恢复。');
});

it('a label has the colon of its script', () => {
  expect(labelled('SMS balance', '4.00 CNY')).toBe('SMS balance: 4.00 CNY');
  expect(labelled('短信余额', '4.00 CNY')).toBe('短信余额：4.00 CNY');
});
