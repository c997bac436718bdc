import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { serialize } from 'hono/utils/cookie';
import type { Role } from '../domain/operator.ts';
import type { Secret } from '../domain/secret.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { CurrentViews } from '../views/current-views.ts';
import { deriveKey } from './ack-link.ts';
import type { WebServerOptions } from './options.ts';

/** With this prefix, over TLS, no other host of the domain can set the cookie (RFC 6265bis 4.1.3.2). */
const secureName = '__Host-lowwater_session';
const cookieName = 'lowwater_session';
/** The characters of a signature in an address. */
const markLength = 16;
const usualLengthMs = 12 * hourMs;
/** The length of a session that is kept, for example for a screen in an office. */
export const keptLengthMs = 30 * dayMs;
/** A session in use gets a later end once this share of its time has passed. */
const renewedShare = 0.1;

export interface Session {
  readonly role: Role;
  readonly id: string;
  readonly endsAt: number;
  /** For how long it lasts after its last use. */
  readonly lengthMs: number;
}

/**
 * Sessions of the page. The cookie holds an id, its end, its length and a signature, never the token. A session in use does not end. The key of the
 * signature depends on the token, so a new token ends every session, and a restart ends none.
 */
export class Sessions {
  readonly #tokens: readonly { readonly role: Role; readonly digest: Buffer; readonly key: Buffer }[];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #views: CurrentViews;

  constructor(token: Secret, { settings, ackKey, clock, random, views }: WebServerOptions) {
    const { viewerToken } = settings;
    const read = (role: Role, secret: Secret) => {
      const digest = digestOf(secret.reveal());
      return { role, digest, key: deriveKey(Buffer.concat([ackKey, digest]), 'session') };
    };
    this.#tokens = [read('operator', token), ...(viewerToken === null ? [] : [read('viewer', viewerToken)])];
    this.#clock = clock;
    this.#random = random;
    this.#views = views;
  }

  /** Compares digests, so that the time reveals neither the length nor a common beginning of the token. */
  roleOf(given: string): Role | null {
    const givenDigest = digestOf(given);
    return this.#tokens.find((token) => timingSafeEqual(givenDigest, token.digest))?.role ?? null;
  }

  /** Begins a session. It lasts 12 hours after its last use, or 30 days if it is kept. */
  open(role: Role, { isKept }: { readonly isKept: boolean }): Session {
    const lengthMs = isKept ? keptLengthMs : usualLengthMs;
    return { role, id: this.#random.id(), endsAt: this.#clock.now() + lengthMs, lengthMs };
  }

  /** The `Set-Cookie` header of a session. */
  cookieOf({ role, endsAt, id, lengthMs }: Session, secure: boolean): string {
    const body = `${endsAt}.${id}.${lengthMs}`;
    return cookie(`${body}.${this.#sign(role, body)}`, lengthMs / 1000, secure);
  }

  /** A request's session with a later end; null while it is too early for one. */
  renew(cookieHeader: string | undefined): Session | null {
    const session = this.read(cookieHeader);
    if (session === null || this.#views.isSessionEnded(session.id)) return null;
    const { lengthMs } = session;
    const endsAt = this.#clock.now() + lengthMs;
    return endsAt - session.endsAt < renewedShare * lengthMs ? null : { ...session, endsAt };
  }

  /** Why a request's session is no longer valid before its end: it was ended, or the token was replaced. */
  whyOver(cookieHeader: string | undefined): 'ended' | 'replaced' | null {
    const session = this.read(cookieHeader);
    if (session !== null) return this.#views.isSessionEnded(session.id) ? 'ended' : null;
    const isReplaced = valuesOf(cookieHeader).some((value) => {
      const [endsAt, id] = value.split('.');
      return id !== undefined && Number(endsAt) > this.#clock.now();
    });
    return isReplaced ? 'replaced' : null;
  }

  /** The `Set-Cookie` headers that make the browser forget its session. */
  forget(secure: boolean): readonly string[] {
    return secure ? [cookie('', 0, true), cookie('', 0, false)] : [cookie('', 0, false)];
  }

  /** Marks the key of an address, so that it works only until the token is replaced. */
  markKey(key: string): string {
    return key + this.#sign('operator', key).slice(0, markLength);
  }

  /** Whether a key is marked by the present token. Keys of 0.3 have no mark. */
  isKeyOfToken(key: string): boolean {
    return key.length <= 32 || this.markKey(key.slice(0, -markLength)) === key;
  }

  /** The role of a request's session; null if it has none. */
  roleOfSession(cookieHeader: string | undefined): Role | null {
    const session = this.read(cookieHeader);
    return session === null || this.#views.isSessionEnded(session.id) ? null : session.role;
  }

  /** The session of a request: of several the first that is valid, else one that was ended; null if there is none. */
  read(cookieHeader: string | undefined): Session | null {
    const sessions = valuesOf(cookieHeader).flatMap((value) => this.#readValue(value) ?? []);
    return sessions.find(({ id }) => !this.#views.isSessionEnded(id)) ?? sessions[0] ?? null;
  }

  #readValue(value: string): Session | null {
    const end = value.lastIndexOf('.');
    if (end < 0) return null;
    const body = value.slice(0, end);
    const given = Buffer.from(value.slice(end + 1));
    const signer = this.#tokens.find(({ role }) => {
      const expected = Buffer.from(this.#sign(role, body));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    if (signer === undefined) return null;
    // Cookies of 0.2 contain no length.
    const [endsAt = '', id = '', lengthMs = usualLengthMs] = body.split('.');
    const session = { role: signer.role, id, endsAt: Number(endsAt), lengthMs: Number(lengthMs) };
    return session.endsAt > this.#clock.now() ? session : null;
  }

  #sign(role: Role, body: string): string {
    const key = this.#tokens.find((token) => token.role === role)?.key ?? '';
    return createHmac('sha256', key).update(body).digest('base64url');
  }
}

/** The digest of a secret text: comparing digests takes the same time for every guess. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** All session cookies. Those that no other host can have set come first. */
export function valuesOf(cookieHeader = ''): readonly string[] {
  const pairs = cookieHeader.split(';').map((pair) => pair.trim());
  return [secureName, cookieName].flatMap((name) =>
    pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : [])),
  );
}

function cookie(value: string, maxAgeSeconds: number, secure: boolean): string {
  return serialize(secure ? secureName : cookieName, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    maxAge: maxAgeSeconds,
    secure,
  });
}
