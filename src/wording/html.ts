import { cleanText } from '../domain/plain-text.ts';

/** Markup that is safe to send: only `html` makes it, and everything that it was given was escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }

  toString(): string {
    return this.markup;
  }
}

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/**
 * The only way to write markup. Literal parts stand as they are; values are escaped for text and for quoted
 * attributes, lists are joined, and `null`, `undefined` and `false` vanish. Attribute values must stand in
 * double quotes, and values never belong into `<script>` or `<style>`.
 */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = literals[0] ?? '';
  for (let index = 0; index < values.length; index += 1) {
    markup += render(values[index]) + (literals[index + 1] ?? '');
  }
  return new Html(markup);
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  let markup = '';
  for (const item of value) markup += render(item);
  return markup;
}

const special = /[&<>"']/g;
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text for markup: one line, clean of control characters and of those that turn the direction of text around
 * or hide it, cut after four thousand characters, and escaped. Whatever a name holds, it stays a name.
 */
export function escapeHtml(text: string): string {
  return cleanText(text, 4_000).replace(special, (character) => entities[character] ?? '');
}
