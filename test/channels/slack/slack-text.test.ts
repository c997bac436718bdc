import { expect, test } from 'vitest';
import { literalMrkdwn } from '../../../src/channels/slack/slack-text.ts';

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
