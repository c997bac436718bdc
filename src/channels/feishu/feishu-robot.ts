import { createHmac } from 'node:crypto';
import type { Message } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Tone } from '../../messages/item-wording.ts';
import { type Card, type CardPart, renderFitting } from '../../messages/message-wording.ts';
import { literalMarkdown } from '../literal-markdown.ts';
import { type Mention, mentionsIn } from '../mention.ts';
import type { Attempt, PostedPart } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

export { readCard as show } from '../read-card.ts';

export function render(message: Message, { mention }: PostSettings): readonly PostedPart[] {
  return [{ name: 'the message', body: JSON.stringify(renderFeishu(message, mention)) }];
}

/**
 * Signed by two members of the body: base64 of HMAC-SHA256 over nothing, with `timestamp\nsecret` (seconds) as the key
 * (open.feishu.cn, custom bots, signature verification).
 */
export function prepare(
  { body }: PostedPart,
  { address, keys }: PostSettings,
  { now }: { readonly now: number },
): Attempt {
  const url = address.reveal();
  const key = keys.secret?.reveal() ?? '';
  if (key === '') return { url, body };
  const timestamp = String(Math.floor(now / 1000));
  const sign = createHmac('sha256', `${timestamp}\n${key}`).digest('base64');
  return { url, body: `{"timestamp":"${timestamp}","sign":"${sign}",${body.slice(1)}` };
}

interface FeishuText {
  readonly tag: 'plain_text' | 'lark_md';
  readonly content: string;
}

type FeishuElement =
  | { readonly tag: 'div'; readonly text: FeishuText }
  | {
      readonly tag: 'div';
      readonly fields: readonly { readonly is_short: boolean; readonly text: FeishuText }[];
    }
  | {
      readonly tag: 'action';
      readonly actions: readonly {
        readonly tag: 'button';
        readonly text: FeishuText;
        readonly type: 'primary' | 'default';
        readonly url: string;
      }[];
    }
  | { readonly tag: 'note'; readonly elements: readonly FeishuText[] }
  | { readonly tag: 'hr' };

/** What a bot takes as JSON (open.feishu.cn, custom bots, interactive cards); a signature is added when it is sent. */
export interface FeishuPayload {
  readonly msg_type: 'interactive';
  readonly card: {
    readonly config: { readonly wide_screen_mode: true };
    readonly header: { readonly template: string; readonly title: FeishuText };
    readonly elements: readonly FeishuElement[];
  };
}

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
export function renderFeishu(message: Message, mention: Mention): FeishuPayload {
  const people = mentionsIn(message, mention);
  return renderFitting(message, {
    render: (card): FeishuPayload => ({
      msg_type: 'interactive',
      card: {
        config: { wide_screen_mode: true },
        header: { template: templates[card.tone], title: plain(card.headline, 300) },
        elements: [
          ...card.parts.flatMap((part, index) => [
            ...(index === 0 ? [] : [{ tag: 'hr' } as const]),
            ...partElements(part),
          ]),
          ...(card.more === null ? [] : [div(card.more)]),
          ...buttons(card.links),
          ...(people.length === 0 ? [] : [mentionLine(people)]),
        ],
      },
    }),
    fits: (payload) => Buffer.byteLength(JSON.stringify(payload)) <= maxBytes,
  });
}

function partElements(part: CardPart): readonly FeishuElement[] {
  const fields = part.figures.map(({ label, value }) => ({ is_short: true, text: figure(label, value) }));
  return [
    ...(part.title === null ? [] : [strong(part.title)]),
    ...(part.lines.length === 0 ? [] : [div(part.lines.join(' '))]),
    ...(fields.length === 0 ? [] : [{ tag: 'div', fields } as const]),
    ...part.advice.map((sentence) => div(`👉 ${sentence}`)),
    ...(part.note === null ? [] : [div(`📌 ${part.note}`)]),
    ...buttons(part.links),
    ...(part.origin === null ? [] : [{ tag: 'note', elements: [plain(part.origin, 300)] } as const]),
  ];
}

/** Elements of our own making: only here an address can be a mention. */
function mentionLine(people: readonly string[]): FeishuElement {
  const tags = people.map((person) => `<at id=${person}></at>`).join(' ');
  return { tag: 'div', text: { tag: 'lark_md', content: tags } };
}

function buttons(links: Card['links']): readonly FeishuElement[] {
  if (links.length === 0) return [];
  const actions = links.map(
    ({ label, url }, index) =>
      ({ tag: 'button', text: plain(label, 40), type: index === 0 ? 'primary' : 'default', url }) as const,
  );
  return [{ tag: 'action', actions }];
}

function figure(label: string, value: string): FeishuText {
  const [name, number] = [label, value].map((text) => literalMarkdown(cutText(text, 200)));
  return { tag: 'lark_md', content: `**${name}**\n${number}` };
}

function strong(text: string): FeishuElement {
  return { tag: 'div', text: { tag: 'lark_md', content: `**${literalMarkdown(cutText(text, 300))}**` } };
}

function div(text: string): FeishuElement {
  return { tag: 'div', text: plain(text, 1500) };
}

function plain(content: string, limit: number): FeishuText {
  return { tag: 'plain_text', content: cutText(content, limit) };
}
