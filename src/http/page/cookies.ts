import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { cleanText } from '../../domain/plain-text.ts';
import type { WebContext } from '../web-env.ts';
import type { Scope } from './words.ts';

const doneCookie = 'lowwater_done';
const nameCookie = 'lowwater_name';
const yearSeconds = 365 * 86_400;

/** Keeps a value in this browser, for a year by default. An empty value removes it. No script and no other site can read it. */
export function keepCookie(
  context: WebContext,
  name: string,
  value: string,
  maxAge = value === '' ? 0 : yearSeconds,
): void {
  setCookie(context, name, value, { maxAge, httpOnly: true, sameSite: 'Strict' });
}

/** Keeps the typed name for the next form of this browser. It is a convenience, and proves nothing. */
export function keepName(context: WebContext, by: string): void {
  const name = cleanText(by, 100).trim();
  if (name === '' || context.get('person') !== null) return;
  keepCookie(context, nameCookie, name);
}

/** The reader of the page, as far as known. */
export function readerOf(context: WebContext, person: string | null): NonNullable<Scope['reader']> {
  const name = person ?? cleanText(getCookie(context, nameCookie) ?? '', 100);
  return { name, isProven: person !== null };
}

export function keepDone(context: WebContext, done: string): void {
  keepCookie(context, doneCookie, done, 60);
}

/** The result of this browser's last form, said once. The address alone proves nothing. */
export function takeDone(context: WebContext): string | null {
  const done = context.req.query('done');
  if (done === undefined || getCookie(context, doneCookie) !== done) return null;
  deleteCookie(context, doneCookie);
  return done;
}
