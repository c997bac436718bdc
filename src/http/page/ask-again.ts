import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { show } from './show.ts';
import { common } from './words.ts';

interface RefusedForm {
  readonly heading: string;
  /** With what was typed. */
  readonly form: Html;
  readonly back: string;
  readonly chrome?: null;
}

/** A form of the page Pay that was refused, again with the reason. Throws what is no refusal. */
export function askAgain(context: WebContext, error: unknown, refused: RefusedForm): Promise<Response> {
  if (!(error instanceof RequestError)) throw error;
  const { scope } = context.var;
  const { heading, form, back, ...place } = refused;
  const content = html`<section class="panel question"><h1>${heading}</h1>
<p class="problem" role="alert">${sayAgain(error.message, scope)}</p>${form}<p><a href="${back}">${say(common.back, scope)}</a></p></section>`;
  return show(context, {
    title: `${heading} · lowwater`,
    content,
    current: 'pay',
    ...place,
    status: error.status,
  });
}
