import { type Html, type HtmlValue, html } from '../../wording/html.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';

const says = phrases('pager', { pages: 'Pages of this list', first: 'First page', next: 'Next page' });

/** Links to the first and the next page of a list, with what is between them; nothing if one page holds all. */
export function pager(
  addressOf: (cursor: string | null) => string,
  { cursor, nextCursor }: Readonly<Record<'cursor' | 'nextCursor', string | null>>,
  frame: Listener,
  between: HtmlValue = null,
): Html | null {
  if (cursor === null && nextCursor === null) return null;
  const to = (place: string | null, word: typeof says.next): Html =>
    html`<a href="${addressOf(place)}">${say(word, frame)}</a>`;
  return html`<nav class="pager" aria-label="${say(says.pages, frame)}">${cursor !== null && to(null, says.first)}${between}${nextCursor !== null && to(nextCursor, says.next)}</nav>`;
}
