import { createHmac } from 'node:crypto';
import type { Message } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import { textBehind } from '../../domain/secret.ts';
import type { Tone } from '../../messages/item-wording.ts';
import type { Card, CardPart } from '../../messages/message-wording.ts';
import { literal } from '../markdown.ts';
import { mentionsIn } from '../mention.ts';
import { renderWithin } from '../post-sender.ts';
import type { PostCode, PostSettings } from '../receiver.ts';

export { readCard as show } from '../demo-receiver.ts';

/** Signs by two members of the body (open.feishu.cn, custom bots): HMAC-SHA256 over nothing, seconds in the key. */
export const prepare: NonNullable<PostCode['prepare']> = ({ body }, { address, keys }, { now }) => {
  const url = address.reveal();
  const key = textBehind(keys.secret);
  if (key === '') return { url, body };
  const timestamp = String(Math.floor(now / 1000));
  const sign = createHmac('sha256', `${timestamp}\n${key}`).digest('base64');
  return { url, body: `{"timestamp":"${timestamp}","sign":"${sign}",${body.slice(1)}` };
};

/** 20 KB for the body (open.feishu.cn, custom bots), with room for the signature. */
const maxBytes = 19_500;

const templates: Readonly<Record<Tone, string>> = {
  critical: 'red',
  warning: 'orange',
  info: 'blue',
  good: 'green',
  neutral: 'grey',
};

/** A message as an interactive card. Names and reasons stand in plain text; what is marked up holds our labels and numbers only. */
export function render(message: Message, { mention }: Pick<PostSettings, 'mention'>) {
  const people = mentionsIn(message, mention);
  return renderWithin(maxBytes, message, (card) => ({
    msg_type: 'interactive',
    card: {
      config: { wide_screen_mode: true },
      header: { template: templates[card.tone], title: plain(card.headline, 300) },
      elements: [
        ...card.parts.flatMap((part, index) => [
          ...(index === 0 ? [] : [{ tag: 'hr' }]),
          ...partElements(part),
        ]),
        ...(card.more === null ? [] : [div(card.more)]),
        ...buttons(card.links),
        // Only here an address can be a mention.
        ...(people.length === 0
          ? []
          : [{ tag: 'div', text: marked(people.map((id) => `<at id=${id}></at>`).join(' ')) }]),
      ],
    },
  }));
}

function partElements(part: CardPart): readonly object[] {
  const fields = part.figures.map(({ label, value }) => ({
    is_short: true,
    text: marked(`**${literal(label)}**\n${literal(value)}`),
  }));
  return [
    ...(part.title === null ? [] : [{ tag: 'div', text: marked(`**${literal(part.title)}**`) }]),
    ...(part.lines.length === 0 ? [] : [div(part.lines.join('\n'))]),
    ...(fields.length === 0 ? [] : [{ tag: 'div', fields }]),
    ...part.advice.map((sentence) => div(`👉 ${sentence}`)),
    ...(part.note === null ? [] : [div(`📌 ${part.note}`)]),
    ...buttons(part.links),
    ...(part.origin === null ? [] : [{ tag: 'note', elements: [plain(part.origin, 300)] }]),
  ];
}

function buttons(links: Card['links']): readonly object[] {
  if (links.length === 0) return [];
  const actions = links.map(({ label, url }, index) => ({
    tag: 'button',
    text: plain(label, 40),
    type: index === 0 ? 'primary' : 'default',
    url,
  }));
  return [{ tag: 'action', actions }];
}

function marked(content: string): object {
  return { tag: 'lark_md', content };
}

function div(text: string): object {
  return { tag: 'div', text: plain(text, 6000) };
}

function plain(content: string, limit: number): object {
  return { tag: 'plain_text', content: cutText(content, limit) };
}
