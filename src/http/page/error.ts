import type { IncomingMessage } from 'node:http';
import { ownOf } from '../../domain/own.ts';
import { html } from '../../wording/html.ts';
import { asSentence } from '../../wording/lists.ts';
import { type Phrase, phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import type { Answer, RequestError } from '../refusal.ts';
import { valuesOf } from '../session.ts';
import { readOwnPath } from './forms.ts';
import { layOut } from './layout.ts';
import { common, type Frame, pages } from './words.ts';

const says = phrases('errorPage', {
  other: 'That did not work',
  title: '{heading} · lowwater',
  goOn: 'Continue',
});

const headings = phrases('errorHeading', {
  bad_request: 'That cannot be read',
  forbidden: 'Not from here',
  not_found: 'Not found',
  not_now: 'Not now',
  changed: 'It has changed meanwhile',
  too_many_attempts: 'Too many attempts',
  unavailable: 'Not available just now',
});

/** The page for a person whose request was refused. */
export function errorPage(error: RequestError, { url, headers }: IncomingMessage, frame: Frame): Answer {
  const heading = say(ownOf<Phrase<unknown>>(headings, error.code) ?? says.other, frame);
  const back = cameFrom(headers);
  const content = html`<section class="panel narrow"><h1>${heading}</h1><p>${asSentence(sayAgain(error.message, frame))}</p><p>${back !== '/' && back !== url && html`<a href="${back}">${say(common.back, frame)}</a> · `}<a href="/">${say(pages.overview, frame)}</a></p></section>`;
  const { markup } = layOut({ title: say(says.title, { heading }, frame), content, frame, chrome: null });
  return { status: error.status, headers: { ...pageHeaders, ...error.headers }, body: markup };
}

/** The page of this server on which a form was. */
function cameFrom({ referer = '', host }: IncomingMessage['headers']): string {
  const from = URL.parse(referer);
  return from !== null && from.host === host ? readOwnPath(from.pathname + from.search) : '/';
}

const pageHeaders = { 'content-type': 'text/html; charset=UTF-8' };

/**
 * Sends people without a session to the sign-in, and back afterwards. A person who sent a form is told that it did nothing. A person
 * whom the sign-in just led to a page is told that the browser did not keep the session.
 *
 * A link in a mail or a chat comes without the session's cookie, because that is never sent along from
 * another site (`SameSite=Strict`). The page then makes the browser come again, this time from this site,
 * with the cookie.
 */
export function signInDetour({ url = '/', method, headers }: IncomingMessage, frame: Frame): Answer {
  const site = headers['sec-fetch-site'];
  const fromElsewhere = site === 'cross-site' || site === 'same-site';
  if (fromElsewhere && method === 'GET' && headers['sec-fetch-mode'] === 'navigate') {
    const content = html`<p class="panel narrow"><a href="${readOwnPath(url)}">${say(says.goOn, frame)}</a></p>`;
    const { markup } = layOut({ title: 'lowwater', content, frame, chrome: null, reload: true });
    return { status: 200, headers: pageHeaders, body: markup };
  }
  const isUnkept = valuesOf(headers.cookie).length === 0 && cameFrom(headers).startsWith('/sign-in');
  const query = new URLSearchParams(
    method === 'POST'
      ? { next: cameFrom(headers), undone: 'yes' }
      : { next: method === 'GET' ? url : '/', ...(isUnkept && { unkept: 'yes' }) },
  );
  return { status: 303, headers: { location: `/sign-in?${query}` }, body: '' };
}
