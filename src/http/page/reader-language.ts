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

/** The name of each language in itself, so that people find it who cannot read the others. */
const names: Readonly<Record<LanguageId, string>> = { en: 'English', 'zh-CN': '简体中文', es: 'Español' };

/** The header with the language that an open page keeps, even if its reader has chosen another since. */
export const languageHeader = 'lowwater-language';

/** Whether an open page makes the request: it uses only the parts that it keeps fresh. */
export function isOfOpenPage({ req }: WebContext): boolean {
  return req.header(languageHeader) !== undefined;
}

/** The language of a reader: the one `kept` by an open page, else the browser's stored choice, else what it asks for, else the configured one. */
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

/** Maps `zh`, `zh-Hans` and `es-MX` to the available form of their language. Traditional Chinese counts as another language. */
function acceptedOf(accepted: readonly { readonly type: string; readonly q: number }[]): string | undefined {
  for (const { type, q } of accepted) {
    const [language] = type.toLowerCase().split('-');
    const found = languageIds.find((id) => id.split('-')[0] === language);
    if (q > 0 && found !== undefined && !/^zh-(?:hant|tw|hk|mo)/i.test(type)) return found;
  }
  return undefined;
}

/** Keeps a language for this browser. Any other word resets it to what the browser asks for. */
export function keepLanguageChoice(context: WebContext, id: string): void {
  keepCookie(context, cookieName, languageIds.find((known) => known === id) ?? '');
}

/** The form in the footer of every page. */
export function languageForm(shown: Language, back: string): Html {
  return html`<form class="zone" method="post" action="/language">${hidden('back', back)}${languageIds.map(
    (known) =>
      html`<button class="quiet" name="language" value="${known}" lang="${known}"${known === shown.id && html` aria-current="true"`}>${names[known]}</button> `,
  )}</form>`;
}
