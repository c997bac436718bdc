import type { Message } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Tone } from '../../messages/item-wording.ts';
import type { Card, CardPart } from '../../messages/message-wording.ts';
import { literal } from '../markdown.ts';
import { mentionsIn } from '../mention.ts';
import { renderWithin } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

export { readCard as show } from '../demo-receiver.ts';

/**
 * Teams refuses a message above 28 KB, and nobody hears of it: the workflow has answered by then. It counts the card as a string within
 * another: one of 24,453 bytes was refused as 28,897 (github.com/MicrosoftDocs/msteams-docs, 11274). Letters outside ASCII may count more.
 */
const maxBytes = 17_000;

const colours: Readonly<Record<Tone, string>> = {
  critical: 'Attention',
  warning: 'Warning',
  info: 'Accent',
  good: 'Good',
  neutral: 'Default',
};

/** A message as an Adaptive Card, in whose Markdown nothing is from outside. The workflow's template loops over `attachments`. */
export function render(message: Message, { mention }: Pick<PostSettings, 'mention'>) {
  const people = mentionsIn(message, mention);
  return renderWithin(maxBytes, message, (card) => payloadOf(card, people));
}

function payloadOf(card: Card, people: readonly string[]) {
  // A text of the card has to hold each mention letter by letter.
  const entities = people.map((id) => ({
    type: 'mention',
    text: `<at>${id}</at>`,
    mentioned: { id, name: id },
  }));
  const tags = entities.map(({ text }) => text).join(' ');
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // Teams did not draw newer versions when this was written.
    version: '1.4',
    msteams: { width: 'Full', ...(entities.length === 0 ? {} : { entities }) },
    // Read aloud, and shown if the card cannot be.
    fallbackText: cutText(card.headline, 300),
    body: [
      block(card.headline, { weight: 'Bolder', size: 'Medium', color: colours[card.tone] }),
      // A text of our own making, the only one that may hold markup.
      ...(tags === '' ? [] : [{ type: 'TextBlock', text: tags, wrap: true }]),
      ...card.parts.flatMap(partElements),
      ...(card.more === null ? [] : [block(card.more, { isSubtle: true })]),
      ...actions(card.links),
    ],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] } as const;
}

function partElements(part: CardPart): readonly object[] {
  const facts = part.figures.map(({ label, value }) => ({
    title: literal(label),
    value: literal(value),
  }));
  const titleLook = { weight: 'Bolder', color: colours[part.tone], separator: true };
  return [
    ...(part.title === null ? [] : [block(part.title, titleLook)]),
    ...part.lines.map((line) => block(line)),
    ...(facts.length === 0 ? [] : [{ type: 'FactSet', facts }]),
    ...part.advice.map((sentence) => block(`👉 ${sentence}`)),
    ...(part.note === null ? [] : [block(`📌 ${part.note}`)]),
    ...actions(part.links),
    ...(part.origin === null ? [] : [block(part.origin, { size: 'Small', isSubtle: true })]),
  ];
}

function actions(links: Card['links']): readonly object[] {
  const each = links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: cutText(label, 60), url }));
  return each.length === 0 ? [] : [{ type: 'ActionSet', actions: each }];
}

function block(text: string, looks: object = {}): object {
  return { type: 'TextBlock', text: literal(text), wrap: true, ...looks };
}
