import type { Message } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import { toneIcons } from '../../messages/item-wording.ts';
import { type Card, renderFitting, wordCard } from '../../messages/message-wording.ts';
import { cutBytes, cutUnits, literalMarkdown } from '../literal-markdown.ts';
import type { Preset } from './preset.ts';

export interface PresetText {
  readonly tone: Card['tone'];
  readonly headline: string;
  /** Headline and all the rest. */
  readonly text: string;
  /** All but the headline; the headline where there is nothing else. */
  readonly details: string;
  /** Where to act: the first link. */
  readonly link: string;
}

/** A message as the largest text that the receiver takes, in which nothing but our own links is markup. */
export function writePresetText(message: Message, preset: Preset): PresetText {
  const { limits, style } = preset;
  const literal = escaperOf(preset);
  const cut = limits.unit === 'bytes' ? cutBytes : cutUnits;
  const size = (text: string): number => (limits.unit === 'bytes' ? Buffer.byteLength(text) : text.length);
  const write = (
    card: Card,
  ): { readonly headline: string; readonly details: string; readonly card: Card } => ({
    card,
    headline: cut(literal(`${toneIcons[card.tone]} ${cutText(card.headline, 300)}`), limits.headline),
    details: (style === 'brief' ? briefLines(card, literal) : wholeLines(card, literal)).join('\n'),
  });
  const fits = ({ headline, details }: ReturnType<typeof write>): boolean =>
    size(`${headline}\n${details}`) <= limits.text;
  const { headline, details, card } =
    style === 'brief' ? write(wordCard(message, 1)) : renderFitting(message, { render: write, fits });
  const whole = details === '' ? headline : `${headline}\n${details}`;
  return {
    tone: card.tone,
    headline,
    text: cut(whole, limits.text),
    details: cut(details === '' ? headline : details, limits.text),
    link: linksOf(card)[0]?.url ?? '',
  };
}

function escaperOf({ escape: way, breaksMentions }: Preset): (text: string) => string {
  return (text) => {
    const literal =
      way === 'none'
        ? text
        : way === 'look-alike'
          ? literalMarkdown(text)
          : text.replace(/[\\*_~`|<>#[\]()!:@-]/g, '\\$&');
    // A word joiner shows nothing, and no name begins with it.
    return breaksMentions ? literal.replaceAll('@', '@\u2060') : literal;
  };
}

function linksOf(card: Card): Card['links'] {
  return [...card.parts.flatMap(({ links }) => links), ...card.links];
}

function wholeLines(card: Card, escapeAll: (text: string) => string): readonly string[] {
  const literal = (text: string): string => escapeAll(cutText(text, 300));
  const linkLine = ({ label, url }: Card['links'][number]): string => `${literal(label)}: ${url}`;
  return [
    ...card.parts.flatMap((part) => [
      ...(part.title === null ? [] : ['', `${toneIcons[part.tone]} ${literal(part.title)}`]),
      ...part.lines.map(literal),
      ...part.figures.map(({ label, value }) => literal(`${label}: ${value}`)),
      ...part.advice.map((sentence) => `→ ${literal(sentence)}`),
      ...(part.note === null ? [] : [literal(`Note: ${part.note}`)]),
      ...part.links.map(linkLine),
      ...(part.origin === null ? [] : [literal(part.origin)]),
    ]),
    ...(card.more === null ? [] : [literal(card.more)]),
    ...card.links.map(linkLine),
  ];
}

/** What to do, and where. */
function briefLines(card: Card, escapeAll: (text: string) => string): readonly string[] {
  const [part] = card.parts;
  const [advice] = part?.advice ?? [];
  const [link] = linksOf(card);
  return [
    ...(advice === undefined ? [] : [escapeAll(cutText(advice, 140))]),
    ...(link === undefined || link.url.length > 140 ? [] : [link.url]),
  ];
}
