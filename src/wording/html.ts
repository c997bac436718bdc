import { cleanText } from '../domain/plain-text.ts';

/** Escaped markup; only `html` makes it. */
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
 * The only way to write markup. Values are escaped for text and for quoted attributes, lists are joined, and
 * `null`, `undefined` and `false` vanish. Attribute values must be in double quotes; values never belong into
 * `<script>` or `<style>`.
 */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = literals[0] ?? '';
  for (let index = 0; index < values.length; index += 1)
    markup += render(values[index]) + (literals[index + 1] ?? '');
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

/** One line without control or direction characters, cut after four thousand characters, and escaped. */
function escapeHtml(text: string): string {
  return cleanText(text, 4_000).replace(special, (character) => entities[character] ?? '');
}
