import { createHmac } from 'node:crypto';
import type { Message } from '../../domain/message.ts';
import { textBehind } from '../../domain/secret.ts';
import { toneIcons } from '../../messages/item-wording.ts';
import { cardMarkdown, fitFacts } from '../markdown.ts';
import { mentionsIn } from '../mention.ts';
import { renderWithin } from '../post-sender.ts';
import type { PostCode, PostSettings } from '../receiver.ts';

export { readCard as show } from '../demo-receiver.ts';

/** Signs the address (open.dingtalk.com, custom robots): HMAC-SHA256 of `timestamp\nsecret`, the timestamp in milliseconds. */
export const prepare: NonNullable<PostCode['prepare']> = ({ body }, { address, keys }, { now }) => {
  const key = textBehind(keys.secret);
  if (key === '') return { url: address.reveal(), body };
  const url = new URL(address.reveal());
  url.searchParams.set('timestamp', String(now));
  url.searchParams.set('sign', createHmac('sha256', key).update(`${now}\n${key}`).digest('base64'));
  return { url: url.href, body };
};

/** No limit is documented for this endpoint: this is the limit of its sibling for applications. */
const maxBytes = 15_000;

/** Sent as Markdown, not as an `actionCard`: only Markdown can mention people, who stand in the text as well. */
export function render(message: Message, { mention }: Pick<PostSettings, 'mention'>) {
  const people = mentionsIn(message, mention);
  const ids = people.filter((person) => person !== 'all');
  const mobiles = ids.filter((id) => /^\+?[\d-]+$/.test(id));
  const tail = ids.length === 0 ? '' : `\n\n${ids.map((id) => `@${id}`).join(' ')}`;
  return renderWithin(maxBytes, message, (card) => ({
    msgtype: 'markdown',
    markdown: {
      // Text that the list of chats and a phone's notification show.
      title: fitFacts(`${toneIcons[card.tone]} ${card.headline}`, ({ length }) => length <= 100),
      text: `${cardMarkdown(card)}${tail}`,
    },
    at: {
      atMobiles: mobiles,
      atUserIds: ids.filter((id) => !mobiles.includes(id)),
      isAtAll: people.includes('all'),
    },
    // The same on every retry: a message that arrived already is not shown again.
    msgUuid: message.id,
  }));
}
