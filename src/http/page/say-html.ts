import { Html, type HtmlValue, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import type { Phrase } from '../../wording/phrase.ts';
import type { Frame } from './words.ts';

/** No sentence holds it: it stands for an argument until the sentence is escaped. */
const mark = '\uE000';

/** A phrase with markup among its arguments, such as a moment that the script keeps true. */
export function sayHtml<Arguments>(
  phrase: Phrase<Arguments>,
  given: { readonly [Name in keyof Arguments]: HtmlValue },
  frame: Frame,
): Html {
  const values = Object.values<HtmlValue>(given);
  const marks = Object.keys(given).map((name, index) => [name, `${mark}${index}${mark}`]);
  const text = say(phrase, Object.fromEntries(marks) as Arguments, frame);
  const places = new RegExp(`${mark}(\\d+)${mark}`, 'g');
  return new Html(
    html`${text}`.markup.replace(places, (_, index: string) => html`${values[Number(index)]}`.markup),
  );
}
