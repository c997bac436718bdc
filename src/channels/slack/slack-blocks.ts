import { cutEscaped, escapeSlack, literalMrkdwn } from './slack-text.ts';

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
  | { readonly type: 'section'; readonly fields: readonly Mrkdwn[] }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] }
  | { readonly type: 'actions'; readonly elements: readonly LinkButton[] }
  | { readonly type: 'divider' };

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
