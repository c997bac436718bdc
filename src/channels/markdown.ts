import { cutSentence } from '../domain/plain-text.ts';
import { toneIcons } from '../messages/item-wording.ts';
import type { Card, CardPart } from '../messages/message-wording.ts';
import { colonAfter } from '../wording/lists.ts';

/**
 * Text in which nothing is markup, for receivers whose own Markdown has no escape: characters that begin emphasis, links, tags and mentions
 * are replaced by ones that look the same. An underscore inside a word is no markup and stays. The beginning of a list is put behind a word
 * joiner, which is no space: `**` before a space is not bold.
 */
export function literalMarkdown(text: string): string {
  return text
    .replace(/[*~`<>[\]\\]|(?<![a-z0-9])_|_(?![a-z0-9])/gi, lookAlike)
    .replace(/^(\s*)([#+|-])/, '$1\u2060$2');
}

export function literal(text: string): string {
  return literalMarkdown(cutSentence(text));
}

/** Characters that look like markup and are none. */
export function lookAlike(mark: string): string {
  return lookAlikes[mark] ?? '';
}

const lookAlikes: Readonly<Record<string, string>> = {
  '*': '∗',
  _: '＿',
  '~': '∼',
  '`': 'ˋ',
  '<': '‹',
  '>': '›',
  '[': '［',
  ']': '］',
  '\\': '＼',
};

/** Breaks mentions with a word joiner, which is invisible and begins no name. */
export const breakMentions = (text: string): string => text.replaceAll('@', '@\u2060');

/** Cuts to at most `limit` bytes of UTF-8, without splitting a character. */
export function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const start = Buffer.from(text).subarray(0, limit - 3);
  // A streaming decoder holds back a character that is not complete.
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true }).trimEnd()}…`;
}

/** Cuts to at most `limit` UTF-16 code units, the strictest way to count characters, without splitting one. */
export function cutUnits(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text
    .slice(0, limit - 1)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}

/** The first facts of a headline that fit, each whole: facts are dropped from the end. If even the first is too long, the name before it is cut. */
export function fitFacts(headline: string, fits: (text: string) => boolean): string {
  const [, name = '', facts = headline] = /^(.*?)((?:: |：).*)$/s.exec(headline) ?? [];
  const fewer = [...facts.matchAll(/[,;] |[，；]/g)].map(({ index }) => facts.slice(0, index)).toReversed();
  const whole = [facts, ...fewer].map((some) => name + some).find(fits);
  if (whole !== undefined) return whole;
  const first = fewer.at(-1) ?? facts;
  const shorter = (text: string, rest: string) =>
    Array.from(text, (_, length) => cutUnits(text, length) + rest).findLast(fits);
  return shorter(name, first) ?? shorter(headline, '') ?? '';
}

/** `[label](url)`; the address holds nothing that would end it. */
function markdownLink({ label, url }: { readonly label: string; readonly url: string }): string {
  return `[${literalMarkdown(label)}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}

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
    ...part.lines.map((line) => literal(line)),
    ...(part.figures.length === 0
      ? []
      : [
          part.figures
            .map(({ label, value }) => `> ${literal(label)}${colonAfter(label)}**${literal(value)}**`)
            .join('\n\n'),
        ]),
    ...part.advice.map((sentence) => `👉 ${literal(sentence)}`),
    ...(part.note === null ? [] : [`📌 ${literal(part.note)}`]),
    ...linkLine(part.links),
    ...(part.origin === null ? [] : [literal(part.origin)]),
  ].join('\n\n');
}

function linkLine(links: Card['links']): readonly string[] {
  return links.length === 0 ? [] : [links.map(markdownLink).join('　')];
}
