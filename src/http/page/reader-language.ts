import type { IncomingMessage } from 'node:http';
import { parseAccept } from 'hono/utils/accept';
import { parse } from 'hono/utils/cookie';
import { loadLanguage } from '../../languages/load-language.ts';
import { type Html, html } from '../../wording/html.ts';
import { type LanguageId, languageIds } from '../../wording/language.ts';
import type { Language } from '../../wording/phrase.ts';
import type { WebContext } from '../web-env.ts';
import { keepCookie } from './cookies.ts';
import { hidden } from './forms.ts';

const cookieName = 'lowwater_language';

/** Each in its own words: whoever cannot read the others finds it. */
const names: Readonly<Record<LanguageId, string>> = { en: 'English', 'zh-CN': '简体中文', es: 'Español' };

/** Names the language that an open page keeps, also after its reader has chosen another. */
export const languageHeader = 'lowwater-language';

/** Asked for an open page: only what it keeps fresh is taken over. */
export function isOfOpenPage({ req }: WebContext): boolean {
  return req.header(languageHeader) !== undefined;
}

/** The language of a reader: `kept` by an open page, else the choice that this browser keeps, else what it asks for, else the configured one. */
export function languageOf(
  { headers }: IncomingMessage,
  configured: string,
  kept?: string,
): Promise<Language> {
  const chosen = parse(headers.cookie ?? '', cookieName)[cookieName];
  const known = languageIds.find((id) => id === kept) ?? languageIds.find((id) => id === chosen);
  if (known !== undefined) return loadLanguage(known);
  const accepted = parseAccept(headers['accept-language'] ?? '');
  return loadLanguage(acceptedOf(accepted.toSorted((left, right) => right.q - left.q)) ?? configured);
}

/** `zh`, `zh-Hans` and `es-MX` are said in what there is of their language; traditional Chinese is another one. */
function acceptedOf(accepted: readonly { readonly type: string; readonly q: number }[]): string | undefined {
  for (const { type, q } of accepted) {
    const [language] = type.toLowerCase().split('-');
    const found = languageIds.find((id) => id.split('-')[0] === language);
    if (q > 0 && found !== undefined && !/^zh-(?:hant|tw|hk|mo)/i.test(type)) return found;
  }
  return undefined;
}

/** Keeps a language for this browser; any other word goes back to what the browser asks for. */
export function keepLanguageChoice(context: WebContext, id: string): void {
  keepCookie(context, cookieName, languageIds.find((known) => known === id) ?? '');
}

/** In the footer of every page. */
export function languageForm(shown: Language, back: string): Html {
  return html`<form class="zone" method="post" action="/language">${hidden('back', back)}${languageIds.map(
    (known) =>
      html`<button class="quiet" name="language" value="${known}" lang="${known}"${known === shown.id && html` aria-current="true"`}>${names[known]}</button> `,
  )}</form>`;
}
