import type { Message } from '../domain/message.ts';
import { cutText } from '../domain/plain-text.ts';
import { type Card, type CardPart, wordCard } from './message-wording.ts';

/**
 * The largest form of a message that its receiver accepts: `render` makes it from a card with fewer and fewer parts, `fits` checks it. The
 * last form, a headline alone, is returned unchecked: `render` keeps single texts within their limits.
 */
export function renderFitting<Rendered>(
  message: Message,
  options: { readonly render: (card: Card) => Rendered; readonly fits: (rendered: Rendered) => boolean },
): Rendered {
  // A report says something even without any account.
  const least = wordCard(message, message.kind === 'report' ? 0 : 1);
  for (const size of [8, 5, 3, 2, 1]) {
    const rendered = options.render(wordCard(message, size));
    if (options.fits(rendered)) return rendered;
  }
  for (const part of least.parts.flatMap(lessOf)) {
    const rendered = options.render({ ...least, parts: [part] });
    if (options.fits(rendered)) return rendered;
  }
  return options.render({ ...least, parts: [], more: null });
}

/** Smaller forms of a part: the small print goes first, then note, figures, lines, and a line's end; then the same without the longest link. */
function lessOf({ links, figures, lines, ...part }: CardPart): readonly CardPart[] {
  const longest = links.toSorted((one, other) => other.url.length - one.url.length);
  const kept = [...longest, null].map((_, gone) => links.filter((link) => longest.indexOf(link) >= gone));
  const plain = { ...part, lines, figures, origin: null };
  const bare = { ...plain, note: null, noteLine: null };
  const shorter = [
    { ...plain, origin: part.origin },
    plain,
    ...[...figures, null].map((_, gone) => ({ ...bare, figures: figures.slice(0, figures.length - gone) })),
    ...lines
      .slice(1)
      .map((_, gone) => ({ ...bare, figures: [], lines: lines.slice(0, lines.length - 1 - gone) })),
    { ...bare, figures: [], lines: lines.slice(0, 1).map((line) => cutText(line, 300)) },
  ];
  return kept.flatMap((some) => shorter.map((less) => ({ ...less, links: some })));
}
