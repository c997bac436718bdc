import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../domain/loopback-host.ts';
import type { ServerSettings } from '../domain/settings.ts';
import type { Attempts } from './attempts.ts';
import { isOwnHost, isSameOrigin } from './origin.ts';
import { RequestError } from './reply.ts';
import type { Access } from './router.ts';
import type { Sessions } from './session.ts';

export interface Guard {
  readonly settings: ServerSettings;
  /** Null where no token is set: everybody who reaches the server is trusted. */
  readonly sessions: Sessions | null;
  readonly attempts: Attempts;
}

export interface Caller {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}

/**
 * Lets a request in or throws the refusal. The order matters: a wrong name of the host says nothing about
 * tokens, and another site's page never gets as far as an attempt to sign in.
 */
export function admit(guard: Guard, caller: Caller, access: Access): { readonly signedIn: boolean } {
  requireOwnHost(guard, caller);
  const changing = caller.method !== 'GET';
  const origin = changing ? isSameOrigin(caller.headers, guard.settings) : 'same';
  if (origin === 'other')
    throw new RequestError('forbidden', 'Changes are only taken from pages of this server.');
  if (access === 'open') return { signedIn: isSignedIn(guard, caller) };
  if (guard.sessions === null || hasToken(guard, guard.sessions, caller)) return { signedIn: true };
  if (!guard.sessions.isSession(caller.headers.cookie)) {
    throw new RequestError('unauthorized', 'Sign in, or send the token as "Authorization: Bearer …".', {
      'www-authenticate': 'Bearer realm="lowwater"',
    });
  }
  // Every browser names the origin of a form or script that changes something; a cookie without it is no browser's.
  if (origin === 'unknown')
    throw new RequestError('forbidden', 'This change does not say which page it comes from.');
  return { signedIn: true };
}

/** Refuses with 429 while an address, or all of them, guessed too often. */
export function requireAttempt(attempts: Attempts, address: string): void {
  const seconds = attempts.waitSeconds(address);
  if (seconds === null) return;
  throw new RequestError('too_many_attempts', `Too many failed sign-ins. Try again in ${seconds} seconds.`, {
    'retry-after': String(seconds),
  });
}

/**
 * Probes name a server as they like; scrapers do where the server is on the network, and they read without a
 * token anyway.
 */
function requireOwnHost({ settings }: Guard, { path, headers }: Caller): void {
  if (path === '/livez' || path === '/healthz' || path === '/readyz') return;
  if (path === '/metrics' && !isLoopbackHost(settings.host)) return;
  if (isOwnHost(headers.host, settings)) return;
  throw new RequestError(
    'forbidden',
    'This server does not go by that name. Set server.publicUrl to the address that people use.',
  );
}

function isSignedIn({ sessions }: Guard, { headers }: Caller): boolean {
  return sessions === null || sessions.isSession(headers.cookie);
}

/** Node gives a header one character a byte; whoever sends a token beyond ASCII sends it as UTF-8. */
function decodeUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

function hasToken({ attempts }: Guard, sessions: Sessions, { headers, address }: Caller): boolean {
  const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) return false;
  requireAttempt(attempts, address);
  if (sessions.isToken(given) || sessions.isToken(decodeUtf8(given))) return true;
  attempts.recordFailure(address);
  throw new RequestError('unauthorized', 'The token is wrong.', {
    'www-authenticate': 'Bearer realm="lowwater", error="invalid_token"',
  });
}
