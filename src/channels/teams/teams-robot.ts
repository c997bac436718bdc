import type { Message } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Tone } from '../../messages/item-wording.ts';
import { type Card, type CardPart, renderFitting } from '../../messages/message-wording.ts';
import { literalMarkdown } from '../literal-markdown.ts';
import { type Mention, mentionsIn } from '../mention.ts';
import type { PostedPart } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

export { readCard as show } from '../read-card.ts';

export function render(message: Message, { mention }: PostSettings): readonly PostedPart[] {
  return [{ name: 'the message', body: JSON.stringify(renderTeams(message, mention)) }];
}

interface TextBlock {
  readonly type: 'TextBlock';
  readonly text: string;
  readonly wrap: true;
  readonly weight?: 'Bolder';
  readonly size?: 'Medium' | 'Small';
  readonly color?: string;
  readonly isSubtle?: true;
  readonly separator?: true;
}

type TeamsElement =
  | TextBlock
  | {
      readonly type: 'FactSet';
      readonly facts: readonly { readonly title: string; readonly value: string }[];
    }
  | {
      readonly type: 'ActionSet';
      readonly actions: readonly {
        readonly type: 'Action.OpenUrl';
        readonly title: string;
        readonly url: string;
      }[];
    };

/** Who is meant by a text of the card, which must hold it letter by letter. */
interface TeamsMention {
  readonly type: 'mention';
  readonly text: string;
  readonly mentioned: { readonly id: string; readonly name: string };
}

/** What a workflow takes as JSON: its template loops over `attachments`. */
export interface TeamsPayload {
  readonly type: 'message';
  readonly attachments: readonly [
    {
      readonly contentType: 'application/vnd.microsoft.card.adaptive';
      readonly contentUrl: null;
      readonly content: {
        readonly $schema: string;
        readonly type: 'AdaptiveCard';
        /** Newer ones were not drawn by Teams when this was written. */
        readonly version: '1.4';
        readonly msteams: { readonly width: 'Full'; readonly entities?: readonly TeamsMention[] };
        /** What is read aloud, and shown where the card cannot be. */
        readonly fallbackText: string;
        readonly body: readonly TeamsElement[];
      };
    },
  ];
}

/** Teams refuses a message above about 28 KB, and nobody hears of it: the workflow has answered by then. */
const maxBytes = 24_000;

const colours: Readonly<Record<Tone, string>> = {
  critical: 'Attention',
  warning: 'Warning',
  info: 'Accent',
  good: 'Good',
  neutral: 'Default',
};

/** A message as an Adaptive Card. Its text blocks know Markdown, so that nothing from outside is markup in them. */
export function renderTeams(message: Message, mention: Mention = {}): TeamsPayload {
  const people = mentionsIn(message, mention);
  return renderFitting(message, {
    render: (card) => payloadOf(card, people),
    fits: (payload) => Buffer.byteLength(JSON.stringify(payload)) <= maxBytes,
  });
}

function payloadOf(card: Card, people: readonly string[]): TeamsPayload {
  const entities = people.map(mentionOf);
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full', ...(entities.length === 0 ? {} : { entities }) },
          fallbackText: cutText(card.headline, 300),
          body: [
            block(card.headline, { weight: 'Bolder', size: 'Medium', color: colours[card.tone] }),
            ...mentionLine(entities),
            ...card.parts.flatMap(partElements),
            ...(card.more === null ? [] : [block(card.more, { isSubtle: true })]),
            ...actions(card.links),
          ],
        },
      },
    ],
  };
}

function mentionOf(id: string): TeamsMention {
  return { type: 'mention', text: `<at>${id}</at>`, mentioned: { id, name: id } };
}

/** Of our own making: only here a text holds markup. */
function mentionLine(entities: readonly TeamsMention[]): readonly TeamsElement[] {
  const text = entities.map((entity) => entity.text).join(' ');
  return text === '' ? [] : [{ type: 'TextBlock', text, wrap: true }];
}

function partElements(part: CardPart): readonly TeamsElement[] {
  const facts = part.figures.map(({ label, value }) => ({
    title: literal(label, 60),
    value: literal(value, 200),
  }));
  return [
    ...(part.title === null
      ? []
      : [block(part.title, { weight: 'Bolder', color: colours[part.tone], separator: true })]),
    ...(part.lines.length === 0 ? [] : [block(part.lines.join(' '))]),
    ...(facts.length === 0 ? [] : [{ type: 'FactSet', facts } as const]),
    ...part.advice.map((sentence) => block(`👉 ${sentence}`)),
    ...(part.note === null ? [] : [block(`📌 ${part.note}`)]),
    ...actions(part.links),
    ...(part.origin === null ? [] : [block(part.origin, { size: 'Small', isSubtle: true })]),
  ];
}

function actions(links: Card['links']): readonly TeamsElement[] {
  return links.length === 0
    ? []
    : [
        {
          type: 'ActionSet',
          actions: links.map(({ label, url }) => ({
            type: 'Action.OpenUrl',
            title: cutText(label, 60),
            url,
          })),
        },
      ];
}

function block(text: string, looks: Omit<TextBlock, 'type' | 'text' | 'wrap'> = {}): TextBlock {
  return { type: 'TextBlock', text: literal(text, 1500), wrap: true, ...looks };
}

function literal(text: string, limit: number): string {
  return literalMarkdown(cutText(text, limit));
}
