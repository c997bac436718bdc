import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { SeenAlert, SeenAlertName } from '../../domain/operator.ts';
import { severities } from '../../domain/severity.ts';
import { parseInput } from '../api/input.ts';
import { personSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';

export function readPerson(form: URLSearchParams): { readonly by: string; readonly comment: string } {
  const { by = '', comment = '' } = parseInput(personSchema, {
    by: form.get('by') ?? '',
    comment: form.get('comment') ?? '',
  });
  return { by: by.trim() === '' ? 'page' : by.trim(), comment: comment.trim() };
}

/** What the form shows of its alert; a form of nobody's page may leave it out. */
export function readSeen(form: URLSearchParams): { readonly seen?: SeenAlert } {
  const incident = form.get('seen-incident');
  return incident === null ? {} : { seen: seenAs(incident, form.get('seen-severity')) };
}

/** An alert that was ticked, as `pickedName` wrote it; null where it did not. */
export function readPicked(picked: string): SeenAlertName | null {
  const [account, rule, incident, severity] = picked.split('/').map(decodePart);
  if (!account || !rule) return null;
  return { account, rule, ...(incident == null ? {} : { seen: seenAs(incident, severity) }) };
}

function seenAs(incident: string, severity: string | null | undefined): SeenAlert {
  return {
    incident: incident === '' ? null : incident,
    severity: severities.find((known) => known === severity),
  };
}

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Back to the page that showed the form, which then says what was done. */
export function sendBack(context: WebContext, form: URLSearchParams, done: string): Response {
  const url = new URL(readOwnPath(form.get('back') ?? undefined), 'http://own');
  url.searchParams.set('done', done);
  setCookie(context, doneCookie, done, { maxAge: 60, httpOnly: true, sameSite: 'Strict' });
  return context.redirect(url.pathname + url.search, 303);
}

const doneCookie = 'lowwater_done';

/** What a form of this browser has just done, once: an address that says so proves nothing. */
export function takeDone(context: WebContext): string | null {
  const done = context.req.query('done');
  if (done === undefined || getCookie(context, doneCookie) !== done) return null;
  deleteCookie(context, doneCookie);
  return done;
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

/** The fields of a form; `by` is the name that a trusted proxy gave, where it gave one. */
export async function readForm({ req, get }: WebContext): Promise<URLSearchParams> {
  const type = (req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new RequestError('unsupported_media_type', 'The body must be application/x-www-form-urlencoded.');
  const form = new URLSearchParams(await req.text());
  const person = get('person');
  if (person !== null) form.set('by', person);
  return form;
}
