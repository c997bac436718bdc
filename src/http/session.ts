import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { parse, serialize } from 'hono/utils/cookie';
import { hourMs } from '../domain/duration.ts';
import type { Secret } from '../domain/secret.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { LiveViews } from '../views/views.ts';
import { deriveKey } from './ack-link.ts';

const cookieName = 'lowwater_session';
const lifetimeMs = 12 * hourMs;

/** What whoever is signed in may do: a viewer looks, an operator changes things too. */
export type Role = 'operator' | 'viewer';

export interface SessionsOptions {
  readonly token: Secret;
  readonly viewerToken: Secret | null;
  readonly key: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly ended: Pick<LiveViews, 'endSession' | 'isSessionEnded'>;
}

interface Session {
  readonly role: Role;
  readonly id: string;
  readonly endsAt: number;
}

/**
 * Sessions of the page. The cookie holds an id, its end and a signature, never the token. The key of the
 * signature depends on the token: a new token ends every session, and a restart ends none.
 */
export class Sessions {
  readonly #tokens: readonly { readonly role: Role; readonly digest: Buffer; readonly key: Buffer }[];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ended: SessionsOptions['ended'];

  constructor({ token, viewerToken, key, clock, random, ended }: SessionsOptions) {
    const read = (role: Role, secret: Secret) => {
      const tokenDigest = digest(secret.reveal());
      return { role, digest: tokenDigest, key: deriveKey(Buffer.concat([key, tokenDigest]), 'session') };
    };
    this.#tokens = [read('operator', token), ...(viewerToken === null ? [] : [read('viewer', viewerToken)])];
    this.#clock = clock;
    this.#random = random;
    this.#ended = ended;
  }

  /** Compares digests: neither the length nor a shared beginning of the token shows in the time it takes. */
  roleOf(given: string): Role | null {
    const givenDigest = digest(given);
    return this.#tokens.find((token) => timingSafeEqual(givenDigest, token.digest))?.role ?? null;
  }

  /** The `Set-Cookie` header that begins a session. */
  open(role: Role, secure: boolean): string {
    const body = `${this.#clock.now() + lifetimeMs}.${this.#random.id()}`;
    return cookie(`${body}.${this.#sign(role, body)}`, lifetimeMs / 1000, secure);
  }

  /** Ends the session of a request for good, and gives the `Set-Cookie` header that makes the browser forget it. */
  async close(cookieHeader: string | undefined, secure: boolean): Promise<string> {
    const session = this.#read(cookieHeader);
    if (session !== null) await this.#ended.endSession(session);
    return cookie('', 0, secure);
  }

  /** What the session of a request may do; null where there is none. */
  roleOfSession(cookieHeader: string | undefined): Role | null {
    const session = this.#read(cookieHeader);
    return session === null || this.#ended.isSessionEnded(session.id) ? null : session.role;
  }

  #read(cookieHeader: string | undefined): Session | null {
    const value = parse(cookieHeader ?? '', cookieName)[cookieName] ?? '';
    const end = value.lastIndexOf('.');
    if (end < 0) return null;
    const body = value.slice(0, end);
    const given = Buffer.from(value.slice(end + 1));
    const signer = this.#tokens.find(({ role }) => {
      const expected = Buffer.from(this.#sign(role, body));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    if (signer === undefined) return null;
    const dot = body.indexOf('.');
    const endsAt = Number(body.slice(0, dot));
    return endsAt > this.#clock.now() ? { role: signer.role, id: body.slice(dot + 1), endsAt } : null;
  }

  #sign(role: Role, body: string): string {
    const key = this.#tokens.find((token) => token.role === role)?.key ?? '';
    return createHmac('sha256', key).update(body).digest('base64url');
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function cookie(value: string, maxAgeSeconds: number, secure: boolean): string {
  return serialize(cookieName, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    maxAge: maxAgeSeconds,
    secure,
  });
}
