import type { Message } from '../../domain/message.ts';
import { toneIcons } from '../../messages/item-wording.ts';
import { renderFitting } from '../../messages/message-wording.ts';
import { cutBytes } from '../literal-markdown.ts';
import { type Mention, mentionsIn } from '../mention.ts';
import type { PostedPart } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';
import { cardMarkdown } from '../robot-markdown.ts';

export { readCard as show } from '../read-card.ts';

export function render(message: Message, { mention }: PostSettings): readonly PostedPart[] {
  return renderWecom(message, mention).map((body, index) => ({
    name: index === 0 ? 'the message' : 'the mention',
    body: JSON.stringify(body),
  }));
}

/** What a robot takes as JSON (developer.work.weixin.qq.com, group robots). */
export type WecomPayload =
  | { readonly msgtype: 'markdown'; readonly markdown: { readonly content: string } }
  | {
      readonly msgtype: 'text';
      readonly text: {
        readonly content: string;
        readonly mentioned_list: readonly string[];
        readonly mentioned_mobile_list: readonly string[];
      };
    };

/** Limits of the two kinds of content, in bytes of UTF-8. */
const maxMarkdownBytes = 4096;
const maxTextBytes = 2048;

/**
 * A message as Markdown, of which WeCom draws headings, bold, quotes and links. Markdown can mention neither everybody nor a
 * mobile number: where people are to be mentioned, a line of text follows that does.
 */
export function renderWecom(message: Message, mention: Mention): readonly WecomPayload[] {
  const people = mentionsIn(message, mention);
  const markdown = renderFitting(message, {
    render: (card) => ({
      payload: {
        msgtype: 'markdown',
        markdown: { content: cutBytes(cardMarkdown(card), maxMarkdownBytes) },
      } as const,
      whole: Buffer.byteLength(cardMarkdown(card)) <= maxMarkdownBytes,
      headline: `${toneIcons[card.tone]} ${card.headline}`,
    }),
    fits: ({ whole }) => whole,
  });
  if (people.length === 0) return [markdown.payload];
  const mobiles = people.filter((person) => /^\+?[\d-]+$/.test(person));
  const ids = people.filter((person) => !mobiles.includes(person));
  return [
    markdown.payload,
    {
      msgtype: 'text',
      text: {
        content: cutBytes(markdown.headline, maxTextBytes),
        mentioned_list: ids.map((id) => (id === 'all' ? '@all' : id)),
        mentioned_mobile_list: mobiles,
      },
    },
  ];
}
