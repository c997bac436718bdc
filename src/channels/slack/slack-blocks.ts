import { lookAlike } from '../literal-markdown.ts';
import { readCard } from '../read-card.ts';

/** Limits in characters (docs.slack.dev, Block Kit reference), and ours where none is documented. */
const limits = { section: 3000, context: 600, button: 75, field: 400 } as const;

export interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: boolean;
}

export interface Mrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
}

export interface LinkButton {
  readonly type: 'button';
  readonly text: PlainText;
  readonly url: string;
  readonly action_id: string;
  readonly style?: 'primary';
}

export type SlackBlock =
  | { readonly type: 'section'; readonly text: PlainText }
  | { readonly type: 'section'; readonly fields: Mrkdwn[] }
  | { readonly type: 'context'; readonly elements: PlainText[] }
  | { readonly type: 'actions'; readonly elements: LinkButton[] };

export function button(order: {
  readonly label: string;
  readonly url: string;
  readonly id: string;
}): LinkButton {
  return {
    type: 'button',
    text: plain(order.label, limits.button),
    url: order.url,
    action_id: `lowwater-${order.id}`,
  };
}

export function section(text: string, limit: number = limits.section): SlackBlock {
  return { type: 'section', text: plain(text, limit) };
}

export function context(text: string): SlackBlock {
  return { type: 'context', elements: [plain(text, limits.context)] };
}

export function field(label: string, value: string): Mrkdwn {
  return {
    type: 'mrkdwn',
    text: `*${literalMrkdwn(label) || '–'}*\n${cutEscaped(literalMrkdwn(value), limits.field) || '–'}`,
  };
}

/**
 * Escaped as all text objects, because Slack decodes the three entities in each of them. `emoji` off: a `:name:` in a name
 * stays what it is.
 */
export function plain(text: string, limit: number): PlainText {
  return { type: 'plain_text', text: text === '' ? '–' : cutEscaped(escapeSlack(text), limit), emoji: false };
}

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

/** A Slack message as plain lines, in the order that Slack shows it: for the demo's receiver and the documentation. */
export function describeSlackPayload(payload: object): readonly string[] {
  return readCard(payload).map(unescapeSlack);
}
