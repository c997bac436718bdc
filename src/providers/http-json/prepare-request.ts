import { mapTexts } from '../../domain/json.ts';
import { ownOf } from '../../domain/own.ts';
import { Secret } from '../../domain/secret.ts';
import {
  type Attempt,
  type ProviderRequest,
  type RefusedRequest,
  type SignedText,
  trialAttempt,
} from '../kind.ts';
import type { Description } from './description.ts';
import { credentialsIn, fillPlaceholders, placeholdersIn } from './placeholders.ts';
import { performStep } from './sign.ts';

type RequestDescription = Description['request'];

/** A request as data, with the steps and the token that it needs. */
export type AskDescription = Pick<Description, 'request' | 'sign' | 'token'>;

/** The names of the credentials that a description uses, in the order of their use. */
export function credentialNames({ request, sign = {}, token }: AskDescription): readonly string[] {
  return [...new Set(credentialsIn(JSON.stringify([token?.request ?? null, request, sign])))];
}

/** Fills in a request, each value encoded for its place. `baseUrl` replaces scheme and host; its path goes before the description's. */
export function prepareRequest(
  { request, sign = {} }: Pick<AskDescription, 'request' | 'sign'>,
  credentials: Readonly<Record<string, Secret>>,
  attempt: Attempt = trialAttempt,
  baseUrl?: string,
): ProviderRequest | RefusedRequest {
  const refused: RefusedRequest[] = [];
  const refuse: Refuse = (credential, why) => {
    refused.push({ credential, reason: `the credential "${credential}" ${why}` });
    return '';
  };
  /** The values of placeholders that are not credentials, as they become known. */
  const known = new Map([['token', attempt.token?.reveal() ?? '']]);
  const write = (name: string, encode: Encode): string => {
    const credential = /^credentials\.(.+)$/.exec(name)?.[1];
    const own = credential === undefined ? undefined : ownOf(credentials, credential);
    const value = own?.reveal() ?? known.get(name);
    const written = value === undefined ? { unfit: 'is missing' } : encode(value);
    return typeof written === 'string' ? written : refuse(credential ?? name, written.unfit);
  };
  const fill: Fill = (text, encode = (value) => value) =>
    fillPlaceholders(text, (name) => write(name, encode));
  const build = (from: RequestDescription) => {
    const body = fillBody(from, fill);
    return {
      method: from.method,
      url: new Secret(baseOf(from.url, baseUrl) + fillAddress(from, fill, refuse)),
      headers: { ...(body && { 'content-type': body.type }), ...fillHeaders(from, fill) },
      body: body && new Secret(body.text),
    };
  };

  const signed: SignedText[] = [];
  for (const [name, step] of Object.entries(sign)) {
    const sent = build(withoutUnknown(request, (each) => !each.startsWith('sign.') || known.has(each)));
    const parts = listParts(sent);
    for (const [part, text] of Object.entries(parts)) known.set(`request.${part}`, text);
    const result = performStep(step, {
      fill,
      attempt,
      header: (header) => headerOf(sent, header, parts.host),
    });
    known.set(`sign.${name}`, result.value);
    if (result.names !== undefined) known.set(`sign.${name}.names`, result.names);
    if (result.of === undefined) continue;
    const isOfSecret = 'hash' in step && credentialsIn(step.of).length > 0;
    const secretResult = isOfSecret ? { secretResult: new Secret(result.value) } : {};
    signed.push({ step: name, text: new Secret(result.of), ...secretResult });
  }
  const sent = build(request);
  return refused[0] ?? (Object.keys(sign).length === 0 ? sent : { ...sent, signed });
}

type Refuse = (credential: string, why: string) => string;

/** The request without the values that are unknown yet: a step signs only what is known when it is computed. */
function withoutUnknown(
  request: RequestDescription,
  isKnown: (placeholder: string) => boolean,
): RequestDescription {
  const keep = (texts: Readonly<Record<string, string>> | undefined) =>
    texts && Object.fromEntries(Object.entries(texts).filter(([, text]) => isFilled(text)));
  const isFilled = (value: unknown) => placeholdersIn(JSON.stringify(value ?? null)).every(isKnown);
  const { query, headers, form, json, bearer, basic } = request;
  return {
    ...request,
    query: keep(query),
    headers: keep(headers),
    form: keep(form),
    json: isFilled(json) ? json : undefined,
    bearer: isFilled(bearer) ? bearer : undefined,
    basic: isFilled(basic) ? basic : undefined,
  };
}

function listParts({ method, url, body }: ProviderRequest) {
  const { href, host, hostname, pathname, searchParams } = new URL(url.reveal());
  const pairs = [...searchParams].map((pair) => pair.map(percentEncode).join('\0'));
  return {
    method,
    host,
    hostname,
    url: href,
    path: pathname,
    pathWithSlash: pathname.replace(/\/?$/, '/'),
    // Sorted by name, then by value, as encoded. NUL sorts before everything that a name may hold: "a=" comes before "a-b=".
    query: pairs.toSorted().join('&').replaceAll('\0', '='),
    body: body?.reveal() ?? '',
  };
}

function headerOf({ headers }: ProviderRequest, name: string, host: string): string {
  const value = ownOf(headers, name) ?? (name === 'host' ? host : '');
  return typeof value === 'string' ? value : value.reveal();
}

/** Encodes a credential for its place, or says why it cannot stand there. */
type Encode = (value: string) => string | { readonly unfit: string };
type Fill = (text: string, encode?: Encode) => string;

export function baseOf(url: string, baseUrl?: string): string {
  return baseUrl === undefined ? new URL(originOf(url)).origin : baseUrl.replace(/\/$/, '');
}

function originOf(url: string): string {
  return /^https?:\/\/[^/?]+/.exec(url)?.[0] ?? '';
}

function fillAddress({ url, query = {} }: RequestDescription, fill: Fill, refuse: Refuse): string {
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

/** UTF-8 cannot express half of a surrogate pair. */
const wellFormed: Encode = (value) => (value.isWellFormed() ? value : { unfit: 'is not well-formed text' });

const encode: Encode = (value) => (value.isWellFormed() ? percentEncode(value) : wellFormed(value));

/** Encodes everything except the unreserved characters of RFC 3986, 2.3. */
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
    filled[name.toLowerCase()] = placeholdersIn(text).length === 0 ? value : new Secret(value);
  }
  if (bearer !== undefined) filled.authorization = new Secret(`Bearer ${fill(bearer, forHeader)}`);
  if (basic !== undefined) {
    const pair = `${fill(basic.user, withoutColon)}:${fill(basic.password)}`;
    filled.authorization = new Secret(`Basic ${Buffer.from(pair).toString('base64')}`);
  }
  return filled;
}

/** RFC 9110, 5.5: each server decides what a header means beyond visible ASCII, blank and tab. */
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
  if (json !== undefined)
    return { type: 'application/json', text: JSON.stringify(mapTexts(json, (text) => fill(text))) };
  if (form === undefined) return null;
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) fields.append(name, fill(value));
  return { type: 'application/x-www-form-urlencoded', text: fields.toString() };
}
