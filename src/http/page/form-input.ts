import { parseInput } from '../api/input.ts';
import { acknowledgeOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';

export function readPerson(form: URLSearchParams): { readonly by: string; readonly comment: string } {
  const { by = '', comment = '' } = parseInput(acknowledgeOrderSchema, {
    by: form.get('by') ?? '',
    comment: form.get('comment') ?? '',
  });
  return { by: by.trim() === '' ? 'page' : by.trim(), comment: comment.trim() };
}

/** Back to the page that showed the form, which then says what was done. */
export function sendBack(context: WebContext, form: URLSearchParams, done: string): Response {
  const url = new URL(readOwnPath(form.get('back') ?? undefined), 'http://own');
  url.searchParams.set('done', done);
  return context.redirect(url.pathname + url.search, 303);
}

/** A path of this server; anything that could lead elsewhere becomes the overview. */
export function readOwnPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/') || text.length > 2_000) return '/';
  const url = URL.parse(text, 'http://own');
  if (url === null || url.origin !== 'http://own') return '/';
  // Dots that were resolved, as in `/..//name`, can leave two slashes in front, and those name a host.
  const path = url.pathname + url.search;
  return /^\/(?![/\\])/.test(path) ? path : '/';
}

export function queryOf(context: WebContext): URLSearchParams {
  return new URL(context.req.url).searchParams;
}

/** The fields of a form. */
export async function readForm({ req }: WebContext): Promise<URLSearchParams> {
  const type = (req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new RequestError('unsupported_media_type', 'The body must be application/x-www-form-urlencoded.');
  return new URLSearchParams(await req.text());
}
