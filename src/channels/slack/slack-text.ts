import { lookAlike } from '../literal-markdown.ts';
/** Escapes text for Slack: these three characters begin links, mentions and commands, and are escaped in every text object. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Text for a mrkdwn element in which nothing is markup. Slack knows no escape for `*`, `_`, `~` and
 * backquotes, so they are replaced by characters that look the same. An underscore inside a word is no markup
 * and stays: `no_service` can be searched for. Used for short values only; names stand in plain text elements.
 */
export function literalMrkdwn(text: string): string {
  return escapeSlack(text).replace(/[*~`]|(?<![a-z0-9])_|_(?![a-z0-9])/gi, lookAlike);
}

/** Cuts an escaped text to at most `limit` code units without leaving half an entity or half a character behind. */
export function cutEscaped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text
    .slice(0, limit - 1)
    .replace(/&[a-z]{0,4}$/, '')
    .replace(/[\ud800-\udbff]$/, '');
  return `${cut}…`;
}

/** What `escapeSlack` made of a text, back as it was. */
export function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
