import { cutText } from '../domain/plain-text.ts';
import { toneIcons } from '../messages/item-wording.ts';
import type { Card, CardPart } from '../messages/message-wording.ts';
import { literalMarkdown, markdownLink } from './literal-markdown.ts';

/** Markdown as the group robots of DingTalk and WeCom draw it: paragraphs, bold, quotes and links, nothing else. */
export function cardMarkdown(card: Card): string {
  return [
    `### ${toneIcons[card.tone]} ${literal(card.headline)}`,
    ...card.parts.map(partMarkdown),
    ...(card.more === null ? [] : [literal(card.more)]),
    ...linkLine(card.links),
  ].join('\n\n');
}

function partMarkdown(part: CardPart): string {
  return [
    ...(part.title === null ? [] : [`**${toneIcons[part.tone]} ${literal(part.title)}**`]),
    ...part.lines.map(literal),
    ...(part.figures.length === 0
      ? []
      : [part.figures.map(({ label, value }) => `> ${literal(label)}: **${literal(value)}**`).join('\n\n')]),
    ...part.advice.map((sentence) => `👉 ${literal(sentence)}`),
    ...(part.note === null ? [] : [`📌 ${literal(part.note)}`]),
    ...linkLine(part.links),
    ...(part.origin === null ? [] : [literal(part.origin)]),
  ].join('\n\n');
}

function linkLine(links: Card['links']): readonly string[] {
  return links.length === 0 ? [] : [links.map(markdownLink).join('　')];
}

function literal(text: string): string {
  return literalMarkdown(cutText(text, 300));
}
