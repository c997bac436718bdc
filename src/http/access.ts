import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../domain/loopback-host.ts';
import type { ServerSettings } from '../domain/settings.ts';
import type { Attempts } from './attempts.ts';
import { hostNameOf, isOwnHost, isSameOrigin } from './origin.ts';
import { RequestError } from './refusal.ts';
import type { Sessions } from './session.ts';

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
  return sessions === null || sessions.isSession(headers.cookie);
}

/** Lets in whoever is signed in or brings the token, when there is a token; throws the refusal otherwise. */
export async function requireSignIn(guard: Guard, caller: Caller): Promise<void> {
  const { sessions, settings } = guard;
  if (sessions === null) return;
  const given = /^Bearer +(.+)$/i.exec(caller.headers.authorization ?? '')?.[1];
  if (given !== undefined) {
    if (sessions.isToken(given) || sessions.isToken(decodeUtf8(given))) return;
    await refuseToken(guard, caller);
  }
  if (!sessions.isSession(caller.headers.cookie)) {
    throw new RequestError('unauthorized', 'Sign in, or send the token as "Authorization: Bearer …".', {
      'www-authenticate': 'Bearer realm="lowwater"',
    });
  }
  // Every browser names the origin of a form or script that changes something; a cookie without it is no browser's.
  if (!isReading(caller.method) && isSameOrigin(caller.headers, settings) === 'unknown')
    throw new RequestError('forbidden', 'This change does not say which page it comes from.');
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
