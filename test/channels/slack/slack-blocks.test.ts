import { expect, it, test } from 'vitest';
import { renderSlack, renderSlackPlainly } from '../../../src/channels/slack/render-slack.ts';
import { describeSlackPayload, literalMrkdwn } from '../../../src/channels/slack/slack-blocks.ts';
import { buildItem, buildMessage, everyMessage } from '../../support/messages.ts';

test.each([
  [
    'a word of Slack stays as it is written',
    'Slack answered 404 no_service',
    'Slack answered 404 no_service',
  ],
  ['underscores around a word', '_low_ balance', '＿low＿ balance'],
  ['underscores at its end', 'a_ _b a__b', 'a＿ ＿b a＿＿b'],
  ['bold, struck and code', '*a* ~b~ `c`', '∗a∗ ∼b∼ ˋcˋ'],
  ['what begins a mention', '<!channel> & co', '&lt;!channel&gt; &amp; co'],
])('nothing is markup in a value: %s', (_, text, literal) => {
  expect(literalMrkdwn(text)).toBe(literal);
});

it('a Slack message reads as lines in the order that Slack shows', () => {
  const lines = describeSlackPayload(renderSlack(buildMessage()));
  expect(lines[0]).toBe('🔴 OTP production: pay 1,400 CNY, empty about Sat 23:44 · CRITICAL');
  expect(lines).toContain('Spending: 48.00 CNY per day');
  expect(lines.at(-2)).toBe('[Acknowledge] [Open account]');
});

it('a plain Slack message reads as its text, unescaped', () => {
  const message = buildMessage([buildItem({ accountName: 'A & <B>' })]);
  expect(describeSlackPayload(renderSlackPlainly(message))).toEqual([
    '🔴 A & <B>: pay 1,400 CNY, empty about Sat 23:44 · CRITICAL',
  ]);
});

it.each(Object.entries(everyMessage()))('every kind reads as lines: %s', (_, message) => {
  for (const line of describeSlackPayload(renderSlack(message)))
    expect(line).not.toMatch(/\n|undefined|\[object/);
});
