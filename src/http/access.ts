import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../domain/addresses.ts';
import type { Role } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { ServerSettings } from '../domain/settings.ts';
import { isAmong, plainAddress } from '../net/network.ts';
import { RequestError, refusals } from './refusal.ts';
import type { Site } from './web-env.ts';

/** The longest name of a person: a longer one is cut. */
const maxNameLength = 200;

/** Checks the host name in a request. Probes may use any name, and so may scrapers if the server is open to the network. */
export function requireOwnHost({ settings }: Site, path: string, { headers }: IncomingMessage): void {
  if (path === '/metrics' && !isLoopbackHost(settings.host)) return;
  if (isOwnHost(headers.host, settings)) return;
  throw new RequestError('forbidden', refusals.otherHost());
}

/** Headers in which proxies and content networks say that they forward a request, and for whom. */
const forwardedHeader =
  /^(?:via|x-real-ip|(?:x-)?(?:original-)?forwarded.*|x-original-(?:host|url)|(?:.*-)?(?:client|connecting)-?ip|x-envoy-external-address)$/;

/**
 * Whether a request surely comes from this machine: it uses a loopback name, and no proxy says that it forwards for somebody. A silent proxy, as
 * nginx is by default, is recognised by a `publicUrl` of another machine.
 */
export function isFromHere({ settings }: Site, { headers }: IncomingMessage): boolean {
  const name = parseAuthority(headers.host)?.hostname ?? null;
  return (
    isLoopbackHost(settings.host) &&
    name !== null &&
    isLoopbackHost(name) &&
    isLoopbackHost(publicHost(settings) ?? name) &&
    !Object.keys(headers).some((header) => forwardedHeader.test(header))
  );
}

/** Refuses changes that a page of another site sends, before any token is checked. */
export function requireOwnPage(site: Site, request: IncomingMessage): void {
  if (isReading(request) || originOf(site, request) !== 'other') return;
  throw new RequestError('forbidden', refusals.otherPage());
}

/** Whether the caller has a session, or needs none. */
export function isSignedIn({ sessions }: Site, { headers }: IncomingMessage): boolean {
  return sessions === null || sessions.roleOfSession(headers.cookie) !== null;
}

/** The person named by the trusted proxy; null if it names nobody. The header is believed only from the proxy's addresses. */
export function namePerson({ settings: { trustedProxy } }: Site, request: IncomingMessage): string | null {
  if (trustedProxy === null || !isAmong(trustedProxy.addresses, peerOf(request))) return null;
  const given = ownOf(request.headers, trustedProxy.header);
  const name = cleanText(decodeUtf8(typeof given === 'string' ? given : ''), maxNameLength).trim();
  return name === '' ? null : name;
}

/** The client's address. From a trusted proxy: the last one in `X-Forwarded-For` that is not a trusted proxy's; else the peer's. */
export function addressOf({ settings: { trustedProxy } }: Site, request: IncomingMessage): string {
  const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
  let address = peerOf(request);
  while (trustedProxy !== null && isAmong(trustedProxy.addresses, address)) {
    const before = plainAddress(hops.pop()?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** Address of the peer, which may be a proxy. */
export function peerOf({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress ?? '');
}

/** Accepts a request with a session or the token, or any if there is no token. Else throws the refusal. */
export async function requireSignIn(site: Site, request: IncomingMessage): Promise<void> {
  const { sessions } = site;
  if (sessions === null) return;
  const given = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (given !== undefined) {
    const role = sessions.roleOf(given) ?? sessions.roleOf(decodeUtf8(given));
    if (role === null) throw await refuseToken(site, request);
    return requireRole(role, request);
  }
  const role = sessions.roleOfSession(request.headers.cookie);
  if (role === null) {
    throw new RequestError('unauthorized', 'Sign in, or send the token as "Authorization: Bearer …".', {
      'www-authenticate': 'Bearer realm="lowwater"',
    });
  }
  // Every browser sends the origin with a form or script that changes something. A cookie without it does not come from a browser.
  if (!isReading(request) && originOf(site, request) === 'unknown')
    throw new RequestError('forbidden', refusals.noPageNamed());
  requireRole(role, request);
}

/** Settings that a browser keeps for itself: viewers may change them too. */
const ownChoices = new Set(['/time-zone', '/language']);

function requireRole(role: Role, request: IncomingMessage): void {
  if (role === 'viewer' && !isReading(request) && !ownChoices.has(request.url ?? ''))
    throw new RequestError('forbidden', refusals.mayOnlyLook());
}

/** The refusal of a wrong token. It is delayed after many wrong ones. */
async function refuseToken({ attempts }: Site, request: IncomingMessage): Promise<RequestError> {
  const slowed = await attempts.recordFailure(peerOf(request));
  const wrong = { 'www-authenticate': 'Bearer realm="lowwater", error="invalid_token"' };
  return slowed === null
    ? new RequestError('unauthorized', refusals.wrongToken(), wrong)
    : new RequestError('too_many_attempts', refusals.tooManyTokens(slowed), slowed.headers);
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Node makes one character of each byte of a header, but a token beyond ASCII is sent as UTF-8. */
function decodeUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/**
 * Whether the `Host` header names this server. This prevents DNS rebinding, where a page of another site points its
 * own name here. Bound to loopback, it accepts loopback names and the host of `publicUrl`. Bound elsewhere,
 * it also accepts what no site on the internet can own: addresses, names without a dot, and the host it is bound to.
 */
function isOwnHost(hostHeader: string | undefined, settings: ServerSettings): boolean {
  const host = parseAuthority(hostHeader);
  if (host === null) return false;
  if (isLoopbackHost(host.hostname)) return true;
  if (host.hostname === publicHost(settings)) return true;
  if (isLoopbackHost(settings.host)) return false;
  const bare = host.hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) !== 0 || !bare.includes('.') || bare === settings.host.toLowerCase();
}

/** Browsers name the page's site in `Sec-Fetch-Site` and its origin in `Origin`; programs send neither. */
function originOf({ settings }: Site, { headers }: IncomingMessage): 'same' | 'other' | 'unknown' {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  const { origin } = headers;
  if (origin === undefined) return site === undefined ? 'unknown' : 'same';
  const given = URL.parse(origin);
  // A browser's origin never has a path.
  if (given === null || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i.test(origin)) return 'other';
  // The scheme is not compared with `Host`: a proxy in front may have ended TLS.
  if (given.host === parseAuthority(headers.host)?.host) return 'same';
  return given.origin === URL.parse(settings.publicUrl ?? '')?.origin ? 'same' : 'other';
}

/** Decided by the proxy's header or `publicUrl`. A false header only makes the cookie stricter. */
export function isSecure({ settings }: Site, { headers }: IncomingMessage): boolean {
  if (headers['x-forwarded-proto'] === 'https') return true;
  if (settings.publicUrl === null || !settings.publicUrl.startsWith('https:')) return false;
  return parseAuthority(headers.host)?.hostname === publicHost(settings);
}

function publicHost(settings: ServerSettings): string | null {
  return URL.parse(settings.publicUrl ?? '')?.hostname ?? null;
}

function parseAuthority(header: string | undefined): URL | null {
  if (header === undefined || !/^[A-Za-z0-9.\-_[\]:]+$/.test(header)) return null;
  return URL.parse(`http://${header}`);
}
