import { type Html, type HtmlValue, html } from './html.ts';
import type { Language, Phrase } from './phrase.ts';

/** A character of Unicode's private use: no sentence has it. */
const mark = '\u{E000}';

type Markup<Arguments> = {
  readonly [Name in keyof Arguments]: Arguments[Name] extends number ? number : HtmlValue;
};

/** `say` where an argument is markup; counts are numbers as there. */
export function sayHtml<Arguments>(
  phrase: Phrase<Arguments>,
  given: Markup<Arguments>,
  { language }: { readonly language: Language },
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
export function listHtml(pieces: readonly Html[], { language }: { readonly language: Language }): HtmlValue {
  const comma = wordsOf(language.list(['', '']));
  return pieces.map((piece, place) => html`${place > 0 && comma}${piece}`);
}

/** Text that is escaped as one loses the spaces at its ends. */
function wordsOf(piece: string): HtmlValue {
  return piece.split(' ').map((word, place) => html`${place > 0 && html` `}${word}`);
}
