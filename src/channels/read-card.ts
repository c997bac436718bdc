import { keyOf } from '../domain/json.ts';

/**
 * What a person reads of a card, as lines: its texts in their order, names with their values, links as buttons. Every receiver of cards
 * calls these alike; the rest of its JSON is left out.
 */
export function readCard(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const isLinks = value.length > 0 && value.every((each) => typeof keyOf(each, 'url') === 'string');
    return isLinks ? [value.map((link) => `[${readText(link)}]`).join(' ')] : value.flatMap(readCard);
  }
  const { title, value: figure } = { title: null, value: null, ...value };
  if (typeof title === 'string' && typeof figure === 'string') return [`${title}: ${figure}`];
  return Object.entries(value).flatMap(([key, each]) =>
    ['text', 'content'].includes(key) && typeof each === 'string'
      ? each.replace(/^\*+([^*\n]+)\*+\n/, '$1: ').split(/\n+/)
      : readCard(each),
  );
}

/** The label of a link. */
function readText(link: unknown): string {
  const title = keyOf(link, 'title');
  return typeof title === 'string' ? title : readCard(link).join(' ');
}
