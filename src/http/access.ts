import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../domain/addresses.ts';
import type { Role } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { ServerSettings } from '../domain/settings.ts';
import { isAmong } from '../net/network.ts';
import type { Attempts } from './attempts.ts';
import { hostNameOf, isOwnHost, isSameOrigin } from './origin.ts';
import { RequestError } from './refusal.ts';
import type { Sessions } from './session.ts';

/** Longer names are cut: nobody has one. */
const maxNameLength = 200;

export interface Guard {
  readonly settings: ServerSettings;
  /** Null where no token is set: everybody who reaches the server is trusted. */
  readonly sessions: Sessions | null;
  readonly attempts: Attempts;
}

export interface Caller {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Of the peer, which may be a proxy. */
  readonly address: string;
}

/**
 * Refuses names that are not this server's. Probes name a server as they like; scrapers do where the server
 * is on the network.
 */
export function requireOwnHost({ settings }: Guard, path: string, { host }: IncomingHttpHeaders): void {
  if (path === '/metrics' && !isLoopbackHost(settings.host)) return;
  if (isOwnHost(host, settings)) return;
  throw new RequestError(
    'forbidden',
    'This server does not go by that name. Set server.publicUrl to the address that people use.',
  );
}

const forwardedHeaders = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
];

/** Whether a request surely comes from this machine: it names it, and no proxy says that it forwards for somebody. */
export function isFromHere({ settings }: Guard, headers: IncomingHttpHeaders): boolean {
  const name = hostNameOf(headers.host);
  return (
    isLoopbackHost(settings.host) &&
    name !== null &&
    isLoopbackHost(name) &&
    forwardedHeaders.every((header) => headers[header] === undefined)
  );
}

/** Refuses changes that another site's page asks for, before anybody looks at tokens. */
export function requireOwnPage({ settings }: Guard, { method, headers }: Caller): void {
  if (isReading(method) || isSameOrigin(headers, settings) !== 'other') return;
  throw new RequestError('forbidden', 'Changes are only taken from pages of this server.');
}

/** Whether the caller has a session, or needs none. */
export function isSignedIn({ sessions }: Guard, { headers }: Caller): boolean {
  return sessions === null || sessions.roleOfSession(headers.cookie) !== null;
}

/**
 * Who sends the request, as the trusted proxy says: its header is believed from its addresses alone. Null where it names nobody.
 */
export function namePerson(
  { settings: { trustedProxy } }: Guard,
  { headers, address }: Caller,
): string | null {
  if (trustedProxy === null || !isAmong(trustedProxy.addresses, address)) return null;
  const given = headers[trustedProxy.header];
  const name = cleanText(decodeUtf8(typeof given === 'string' ? given : ''), maxNameLength).trim();
  return name === '' ? null : name;
}

/** The client's address: what the trusted proxy put last into `X-Forwarded-For`, else the peer's. */
export function addressOf({ settings: { trustedProxy } }: Guard, { headers, address }: Caller): string {
  if (trustedProxy === null || !isAmong(trustedProxy.addresses, address)) return address;
  const last = /[^,]*$/.exec(String(headers['x-forwarded-for'] ?? ''))?.[0].trim() ?? '';
  return isIP(last) === 0 ? address : last;
}

/** Lets in whoever is signed in or brings the token, when there is a token; throws the refusal otherwise. */
export async function requireSignIn(guard: Guard, caller: Caller): Promise<void> {
  const { sessions, settings } = guard;
  if (sessions === null) return;
  const given = /^Bearer +(.+)$/i.exec(caller.headers.authorization ?? '')?.[1];
  if (given !== undefined) {
    const role = sessions.roleOf(given) ?? sessions.roleOf(decodeUtf8(given));
    if (role === null) await refuseToken(guard, caller);
    else return requireRole(role, caller);
  }
  const role = sessions.roleOfSession(caller.headers.cookie);
  if (role === null) {
    throw new RequestError('unauthorized', 'Sign in, or send the token as "Authorization: Bearer …".', {
      'www-authenticate': 'Bearer realm="lowwater"',
    });
  }
  // Every browser names the origin of a form or script that changes something; a cookie without it is no browser's.
  if (!isReading(caller.method) && isSameOrigin(caller.headers, settings) === 'unknown')
    throw new RequestError('forbidden', 'This change does not say which page it comes from.');
  requireRole(role, caller);
}

function requireRole(role: Role, { method }: Caller): void {
  if (role === 'viewer' && !isReading(method))
    throw new RequestError('forbidden', 'This token may only look: changes need server.token.');
}

/** Throws the refusal of a wrong token, slowly where there were many. */
async function refuseToken({ attempts }: Guard, { address }: Caller): Promise<never> {
  const slowed = await attempts.recordFailure(address);
  if (slowed === null) {
    throw new RequestError('unauthorized', 'The token is wrong.', {
      'www-authenticate': 'Bearer realm="lowwater", error="invalid_token"',
    });
  }
  throw new RequestError(
    'too_many_attempts',
    `The token is wrong, and too many wrong ones came. Answers are slow for ${slowed.seconds} seconds.`,
    slowed.headers,
  );
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Node gives a header one character a byte; whoever sends a token beyond ASCII sends it as UTF-8. */
function decodeUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}
