import type { IncomingMessage } from 'node:http';
import { html } from '../html.ts';
import { type Reply, type RequestError, sendOn, sendPage } from '../reply.ts';
import { type LayoutOptions, layOut } from './layout.ts';

const headings: Readonly<Record<number, string>> = {
  400: 'That cannot be read',
  403: 'Not from here',
  404: 'Not found',
  409: 'Not now',
  429: 'Too many attempts',
  503: 'Not available just now',
};

/** A refusal for somebody who looks at a page. */
export function sendErrorPage(error: RequestError, frame: LayoutOptions['frame']): Reply {
  const heading = headings[error.status] ?? 'That did not work';
  const content = html`<section class="panel narrow"><h1>${heading}</h1><p>${error.message}</p><p><a href="/">Overview</a></p></section>`;
  return sendPage(
    layOut({ title: `${heading} · lowwater`, content, frame, chrome: null }),
    error.status,
    error.headers,
  );
}

/**
 * Sends people without a session to the sign-in, and back afterwards.
 *
 * A link in a mail or a chat comes without the session's cookie, because that is never sent along from
 * another site (`SameSite=Strict`). The page then asks the browser to come again, this time from ourselves,
 * with the cookie.
 */
export function sendToSignIn(request: IncomingMessage, path: string, frame: LayoutOptions['frame']): Reply {
  const site = request.headers['sec-fetch-site'];
  const fromElsewhere = site === 'cross-site' || site === 'same-site';
  if (fromElsewhere && request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate') {
    const content = html`<p class="panel narrow"><a href="${path}">Continue</a></p>`;
    return sendPage(layOut({ title: 'lowwater', content, frame, chrome: null, reload: true }));
  }
  return sendOn(`/sign-in?${new URLSearchParams({ next: request.method === 'GET' ? path : '/' })}`);
}
