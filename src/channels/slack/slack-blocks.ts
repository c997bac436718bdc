import { type ChatButton, isQuiet } from '../chats/buttons.ts';
import { readCard } from '../demo-receiver.ts';
import { lookAlike } from '../markdown.ts';

/** Limits in characters (docs.slack.dev, Block Kit reference), and ours if none is documented. */
const limits = { section: 3000, context: 600, button: 75, field: 400 } as const;

export type SlackBlock = ReturnType<typeof section> | ReturnType<typeof context> | Rows[number];
type Rows = ReturnType<typeof fields> | ReturnType<typeof actions> | ReturnType<typeof pressable>;

export function section(text: string, limit: number = limits.section) {
  return { type: 'section' as const, text: plain(text, limit) };
}

export function context(text: string) {
  return { type: 'context' as const, elements: [plain(text, limits.context)] };
}

/** Names with their values, ten at most; no block without any. */
export function fields(figures: readonly { readonly label: string; readonly value: string }[]) {
  const all = figures.slice(0, 10).map(({ label, value }) => ({
    type: 'mrkdwn' as const,
    text: `*${literalMrkdwn(label) || '–'}*\n${cutEscaped(literalMrkdwn(value), limits.field) || '–'}`,
  }));
  return all.length === 0 ? [] : [{ type: 'section' as const, fields: all }];
}

/** Links as a row of buttons, each with an `id` of its own, the first in colour if `isPrimary`; no row without links. */
export function actions(
  links: readonly { readonly label: string; readonly url: string; readonly id: string }[],
  isPrimary = false,
) {
  const elements = links.map(({ label, url, id }, index) => ({
    type: 'button' as const,
    text: plain(label, limits.button),
    url,
    action_id: `lowwater-${id}`,
    ...(isPrimary && index === 0 ? { style: 'primary' as const } : {}),
  }));
  return elements.length === 0 ? [] : [{ type: 'actions' as const, elements }];
}

/** Buttons that are pressed here, those for quiet as a menu; no row without buttons. */
export function pressable(buttons: readonly ChatButton[], menu = '') {
  const quiet = buttons.filter(isQuiet);
  const option = ({ label, data }: ChatButton) => ({ text: plain(label, limits.button), value: data });
  const press = ({ verb, label, data }: ChatButton, index: number) => ({
    type: 'button' as const,
    text: plain(label, limits.button),
    value: data,
    action_id: `lowwater-press-${verb}`,
    ...(index === 0 ? { style: 'primary' as const } : {}),
  });
  const elements = [
    ...buttons.filter((button) => !isQuiet(button)).map(press),
    ...(quiet.length < 2
      ? []
      : [
          {
            type: 'static_select' as const,
            action_id: 'lowwater-press-quiet',
            placeholder: plain(menu, limits.button),
            options: quiet.map(option),
          },
        ]),
  ];
  return elements.length === 0 ? [] : [{ type: 'actions' as const, elements }];
}

/** Escaped as every text object, because Slack decodes entities in each. Without `emoji`, a `:name:` in a name stays as it is. */
export function plain(text: string, limit: number) {
  const cut = text === '' ? '–' : cutEscaped(escapeSlack(text), limit);
  return { type: 'plain_text' as const, text: cut, emoji: false };
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

export function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** A Slack message as plain lines, in the order that Slack shows it: for the demo's receiver and the documentation. */
export function describeSlackPayload(payload: object): readonly string[] {
  return readCard(payload).map(unescapeSlack);
}
