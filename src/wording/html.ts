import { cleanText } from '../domain/plain-text.ts';
import { joinSentences } from './lists.ts';
import type { Listener, Phrase } from './phrase.ts';

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

/** Sentences one after the other, spaced as in their language. */
export function htmlSentences(...sentences: readonly HtmlValue[]): Html {
  return new Html(joinSentences(sentences.map(render).filter((markup) => markup !== '')));
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

/** A character of Unicode's private use area: no sentence has it. */
const mark = '\u{E000}';

type Markup<Arguments> = {
  readonly [Name in keyof Arguments]: Arguments[Name] extends number ? number : HtmlValue;
};

/** `say` with markup as arguments; counts are numbers, as in `say`. */
export function sayHtml<Arguments>(
  phrase: Phrase<Arguments>,
  given: Markup<Arguments>,
  { language }: Listener,
): Html {
  const values: HtmlValue[] = [];
  const marked = Object.entries<HtmlValue>(given).map(([name, value]) =>
    typeof value === 'number' ? [name, value] : [name, `${mark}${values.push(value) - 1}${mark}`],
  );
  const pieces = language.fill(phrase, Object.fromEntries(marked)).split(mark);
  const textAt = (place: number): string =>
    place % 2 === 0
      ? (pieces[place] ?? '')
      : html`${values[Number(pieces[place])]}`.markup.replace(/<[^>]*>/g, '');
  return html`${pieces.map((piece, place) => [
    place > 0 && language.gap(textAt(place - 1), textAt(place)) !== '' && html` `,
    place % 2 === 0 ? wordsOf(piece) : values[Number(piece)],
  ])}`;
}

/** Pieces with the comma of the language between them. */
export function listHtml(pieces: readonly Html[], { language }: Listener): HtmlValue {
  const comma = wordsOf(language.list(['', '']));
  return pieces.map((piece, place) => html`${place > 0 && comma}${piece}`);
}

/** A sentence that contains a name: the sentence keeps its direction of writing, whichever the name has. */
export function withName(sentence: string, name: string): Html {
  const [before = '', ...after] = sentence.split(name);
  if (after.length === 0) return html`${sentence}`;
  return html`${wordsOf(before)}<bdi>${name}</bdi>${wordsOf(after.join(name))}`;
}

/** A text word by word, because text that is escaped as one loses the spaces at its ends. */
function wordsOf(piece: string): HtmlValue {
  return piece.split(' ').map((word, place) => html`${place > 0 && html` `}${word}`);
}
