import type { Style } from '../../cli/terminal/style.ts';
import type { ReceivedMail } from './receivers.ts';

const bar = '│';

/** A Slack message as lines: what its blocks say, without their looks. */
export function printSlack(payload: unknown, style: Style): string {
  const lines = collectTexts(payload).flatMap((text) => text.split('\n'));
  return frame({ title: 'Slack  #ops', lines, paint: style.blue, style });
}

export function printMail(mail: ReceivedMail, style: Style): string {
  const pictures =
    mail.pictures === 0
      ? []
      : ['', `(${mail.pictures === 1 ? 'a chart' : `${mail.pictures} charts`} inline)`];
  const lines = [style.bold(`Subject: ${mail.subject}`), '', ...mail.text.trimEnd().split('\n'), ...pictures];
  return frame({ title: `Email  to ${mail.to}`, lines, paint: style.green, style });
}

/** Texts of Block Kit in the order in which Slack shows them; buttons are links and need a page. */
function collectTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  if (typeof value !== 'object' || value === null) return [];
  const { type, text, blocks, attachments, fields, elements } = value as Record<string, unknown>;
  if (type === 'actions') return [];
  if (attachments !== undefined) return collectTexts(attachments);
  if (typeof text === 'string') return [plain(text)];
  const own = [blocks, text, elements].flatMap(collectTexts);
  return [...own, ...collectTexts(fields).map((field) => `  ${field.replaceAll('\n', '  ')}`)];
}

/** Slack's markup back to what a reader sees. */
function plain(text: string): string {
  return text
    .replaceAll(/<[^|>]+\|([^>]*)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/[*​]/g, '');
}

function frame(it: {
  readonly title: string;
  readonly lines: readonly string[];
  readonly paint: (text: string) => string;
  readonly style: Style;
}): string {
  const { title, lines, paint, style } = it;
  const body = lines.map((line) => `${paint(bar)} ${line}`.trimEnd());
  return `${paint(`╭─ ${style.bold(title)}`)}\n${body.join('\n')}\n${paint('╰─')}\n\n`;
}
