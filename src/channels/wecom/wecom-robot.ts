import type { Message } from '../../domain/message.ts';
import { toneIcons } from '../../messages/item-wording.ts';
import { renderFitting } from '../../messages/render-fitting.ts';
import { cardMarkdown, cutBytes, literal } from '../markdown.ts';
import { mentionsIn } from '../mention.ts';
import type { PostedPart } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

export { readCard as show } from '../demo-receiver.ts';

/** Limits of the two kinds of content, in bytes of UTF-8. */
const maxMarkdownBytes = 4096;
const maxTextBytes = 2048;

/** Sent as Markdown, which can mention nobody: if people are to be mentioned, a line of text with the mentions follows. */
export function render(
  message: Message,
  { mention }: Pick<PostSettings, 'mention'>,
): readonly [PostedPart, ...PostedPart[]] {
  const people = mentionsIn(message, mention);
  const { body, headline } = renderFitting(message, {
    render: (card) => {
      const markdown = cardMarkdown(card);
      return {
        body: { msgtype: 'markdown', markdown: { content: cutBytes(markdown, maxMarkdownBytes) } },
        isWhole: Buffer.byteLength(markdown) <= maxMarkdownBytes,
        headline: `${toneIcons[card.tone]} ${literal(card.headline)}`,
      };
    },
    fits: ({ isWhole }) => isWhole,
  });
  const sent = { name: 'the message', body: JSON.stringify(body) };
  if (people.length === 0) return [sent];
  const mobiles = people.filter((person) => /^\+?[\d-]+$/.test(person));
  const ids = people.filter((person) => !mobiles.includes(person));
  const text = {
    content: cutBytes(headline, maxTextBytes),
    mentioned_list: ids.map((id) => (id === 'all' ? '@all' : id)),
    mentioned_mobile_list: mobiles,
  };
  return [sent, { name: 'the mention', body: JSON.stringify({ msgtype: 'text', text }) }];
}
