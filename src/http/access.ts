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

/** Longer names are cut: nobody has one. */
const maxNameLength = 200;

/** Probes name a server as they like; scrapers do where the server is on the network. */
export function requireOwnHost({ settings }: Site, path: string, { headers }: IncomingMessage): void {
  if (path === '/metrics' && !isLoopbackHost(settings.host)) return;
  if (isOwnHost(headers.host, settings)) return;
  throw new RequestError('forbidden', refusals.otherHost());
}

/** How proxies and content networks say that they forward, and for whom. */
const forwardedHeader =
  /^(?:via|x-real-ip|(?:x-)?(?:original-)?forwarded.*|x-original-(?:host|url)|(?:.*-)?(?:client|connecting)-?ip|x-envoy-external-address)$/;

/**
 * Whether a request surely comes from this machine: it names it, and no proxy says that it forwards for somebody. One that says nothing, as
 * nginx does unless told to, stands where `publicUrl` is another machine's.
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

/** Refuses changes that another site's page asks for, before anybody looks at tokens. */
export function requireOwnPage(site: Site, request: IncomingMessage): void {
  if (isReading(request) || originOf(site, request) !== 'other') return;
  throw new RequestError('forbidden', refusals.otherPage());
}

/** Whether the caller has a session, or needs none. */
export function isSignedIn({ sessions }: Site, { headers }: IncomingMessage): boolean {
  return sessions === null || sessions.roleOfSession(headers.cookie) !== null;
}

/** The name by the trusted proxy: its header is believed from its addresses alone. Null where it names nobody. */
export function namePerson({ settings: { trustedProxy } }: Site, request: IncomingMessage): string | null {
  if (trustedProxy === null || !isAmong(trustedProxy.addresses, peerOf(request))) return null;
  const given = ownOf(request.headers, trustedProxy.header);
  const name = cleanText(decodeUtf8(typeof given === 'string' ? given : ''), maxNameLength).trim();
  return name === '' ? null : name;
}

/** The client's address: the last in `X-Forwarded-For` that is no trusted proxy's, where a trusted proxy sent it; else the peer's. */
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

/** Lets in whoever is signed in or brings the token, when there is a token; throws the refusal otherwise. */
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
  // Every browser names the origin of a form or script that changes something; a cookie without it is no browser's.
  if (!isReading(request) && originOf(site, request) === 'unknown')
    throw new RequestError('forbidden', refusals.noPageNamed());
  requireRole(role, request);
}

/** Settings that a browser keeps for itself: whoever may look may choose them. */
const ownChoices = new Set(['/time-zone', '/language']);

function requireRole(role: Role, request: IncomingMessage): void {
  if (role === 'viewer' && !isReading(request) && !ownChoices.has(request.url ?? ''))
    throw new RequestError('forbidden', refusals.mayOnlyLook());
}

/** The refusal of a wrong token, slowly where there were many. */
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

/** Node gives a header one character a byte; whoever sends a token beyond ASCII sends it as UTF-8. */
function decodeUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/**
 * Whether the `Host` header names this server (against DNS rebinding, where a page of another site gets its
 * own name to point here). Bound to loopback: loopback names, and the host of `publicUrl`. Bound elsewhere
 * also what no site on the internet can own: addresses, names without a dot, and the host it is bound to.
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
  // A browser's origin has no path.
  if (given === null || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i.test(origin)) return 'other';
  // The scheme is not compared with `Host`: a proxy in front may have ended TLS.
  if (given.host === parseAuthority(headers.host)?.host) return 'same';
  return given.origin === URL.parse(settings.publicUrl ?? '')?.origin ? 'same' : 'other';
}

/** Known by the proxy or `publicUrl`: a lie only gets a stricter cookie. */
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
