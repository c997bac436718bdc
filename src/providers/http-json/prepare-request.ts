import { mapTexts } from '../../domain/json.ts';
import { ownOf } from '../../domain/own.ts';
import { Secret } from '../../domain/secret.ts';
import type { ProviderRequest, RefusedRequest } from '../kind.ts';
import type { Description } from './description.ts';
import { credentialsIn, fillPlaceholders } from './placeholders.ts';

type RequestDescription = Description['request'];

/** The names of the credentials that a request asks for, in the order in which it does. */
export function credentialNames(request: RequestDescription): readonly string[] {
  return [...new Set(credentialsIn(JSON.stringify(request)))];
}

/**
 * Fills in the credentials, each encoded for where it stands: path segment, query, header, form or JSON string. `baseUrl`
 * replaces scheme and host; its own path stands before that of the description.
 */
export function prepareRequest(
  request: RequestDescription,
  credentials: Readonly<Record<string, Secret>>,
  baseUrl?: string,
): ProviderRequest | RefusedRequest {
  const refused: RefusedRequest[] = [];
  const refuse = (credential: string, why: string): string => {
    refused.push({ credential, reason: `the credential "${credential}" ${why}` });
    return '';
  };
  const write = (name: string, encode: Encode): string => {
    const secret = ownOf(credentials, name);
    const written = secret === undefined ? { unfit: 'is missing' } : encode(secret.reveal());
    return typeof written === 'string' ? written : refuse(name, written.unfit);
  };
  const fill: Fill = (text, encode = (value) => value) =>
    fillPlaceholders(text, (name) => write(name, encode));
  const body = fillBody(request, fill);
  const url = new Secret(baseOf(request.url, baseUrl) + fillAddress(request, fill, refuse));
  const type = body === null ? {} : { 'content-type': body.type };
  const headers = { ...type, ...fillHeaders(request, fill) };
  const sent = body === null ? null : new Secret(body.text);
  return refused[0] ?? { method: request.method, url, headers, body: sent };
}

/** How a credential is written where it stands, or why it cannot stand there. */
type Encode = (value: string) => string | { readonly unfit: string };
type Fill = (text: string, encode?: Encode) => string;

export function baseOf(url: string, baseUrl?: string): string {
  return baseUrl === undefined ? new URL(originOf(url)).origin : baseUrl.replace(/\/$/, '');
}

function originOf(url: string): string {
  return /^https?:\/\/[^/?]+/.exec(url)?.[0] ?? '';
}

function fillAddress(
  { url, query = {} }: RequestDescription,
  fill: Fill,
  refuse: (credential: string, why: string) => string,
): string {
  const [path = '', ownQuery] = url.slice(originOf(url).length).split(/\?(.*)/s);
  const segments = path.split('/').map((segment) => {
    const filled = fill(segment, encode);
    // Servers and proxies take these for steps in the tree of paths, encoded or not.
    const [name] = credentialsIn(segment);
    if (name !== undefined && /^\.{1,2}$/.test(filled)) refuse(name, 'must not be "." or ".."');
    return filled;
  });
  const parameters = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(fill(value, wellFormed))}`,
  );
  if (ownQuery) parameters.unshift(fill(ownQuery, encode));
  return `${segments.join('/') || '/'}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

/** Half of a surrogate pair no UTF-8 can say. */
const wellFormed: Encode = (value) => (value.isWellFormed() ? value : { unfit: 'is not well-formed text' });

const encode: Encode = (value) => (value.isWellFormed() ? percentEncode(value) : wellFormed(value));

/** Everything but the unreserved characters of RFC 3986, 2.3. */
export function percentEncode(value: string): string {
  const inHex = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value).replace(/[!'()*]/g, inHex);
}

function fillHeaders(
  { headers = {}, basic, bearer }: RequestDescription,
  fill: Fill,
): Record<string, string | Secret> {
  const filled: Record<string, string | Secret> = {};
  for (const [name, text] of Object.entries(headers)) {
    const value = fill(text, forHeader);
    filled[name.toLowerCase()] = credentialsIn(text).length === 0 ? value : new Secret(value);
  }
  if (bearer !== undefined) filled.authorization = new Secret(`Bearer ${fill(bearer, forHeader)}`);
  if (basic !== undefined) {
    const pair = `${fill(basic.user, withoutColon)}:${fill(basic.password)}`;
    filled.authorization = new Secret(`Basic ${Buffer.from(pair).toString('base64')}`);
  }
  return filled;
}

/** RFC 9110, 5.5: beyond visible ASCII, blank and tab, what a header means is up to each server. */
const forHeader: Encode = (value) =>
  /^[\t\x20-\x7e]*$/.test(value)
    ? value
    : { unfit: 'must not hold line breaks or characters beyond ASCII: it stands in a header' };

/** RFC 7617, 2: the first colon ends the user. */
const withoutColon: Encode = (value) =>
  value.includes(':')
    ? { unfit: 'must not hold a colon: it is the user of HTTP Basic authentication' }
    : value;

function fillBody(
  { json, form }: RequestDescription,
  fill: Fill,
): { readonly type: string; readonly text: string } | null {
  if (json !== undefined) return { type: 'application/json', text: JSON.stringify(mapTexts(json, fill)) };
  if (form === undefined) return null;
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) fields.append(name, fill(value));
  return { type: 'application/x-www-form-urlencoded', text: fields.toString() };
}
