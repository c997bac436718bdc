import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { minuteMs } from '../domain/time.ts';

/** The alert and the incident that a link may acknowledge. */
export type Granted = Readonly<Record<'account' | 'rule' | 'incident', string>>;

/** The right that a link in a message grants: to acknowledge one incident, until an instant (milliseconds since 1970). */
export interface AcknowledgementGrant extends Granted {
  readonly expiresAt: number;
}

type VerifiedLink =
  | { readonly kind: 'valid'; readonly isOf: (it: Granted) => boolean }
  | { readonly kind: 'expired' }
  | { readonly kind: 'forged' };

/** Bytes of a short link: a mark of the incident, the minute in which it expires, a signature over both. */
const markBytes = 5;
const minuteBytes = 3;
const saidBytes = markBytes + minuteBytes;
const linkBytes = 16;
const minutesThere = 2 ** (8 * minuteBytes);

/**
 * The 22 characters of a link that acknowledges one incident without signing in, short enough for an SMS. They come after
 * `<publicUrl>/a/`. The link expires with the minute of `expiresAt` (milliseconds since 1970).
 */
export function signLink(
  secretKey: Buffer,
  { incident, expiresAt }: Pick<AcknowledgementGrant, 'incident' | 'expiresAt'>,
): string {
  const link = Buffer.alloc(linkBytes);
  markOf(incident).copy(link);
  link.writeUIntBE(Math.ceil(expiresAt / minuteMs) % minutesThere, markBytes, minuteBytes);
  signatureOf(secretKey, link).copy(link, saidBytes);
  return link.toString('base64url');
}

/**
 * Whether a short link is signed by one of the keys and valid at `now`, and what it is for. It may end in characters that were copied with
 * it, such as a full stop or a bracket.
 */
export function verifyLink(secretKeys: readonly Buffer[], copied: string, now: number): VerifiedLink {
  const [, text = ''] = /^([\w-]*)[^\w-]*$/.exec(copied) ?? [];
  const link = Buffer.from(text, 'base64url');
  if (link.length !== linkBytes || link.toString('base64url') !== text) return { kind: 'forged' };
  const given = link.subarray(saidBytes);
  const isOurs = secretKeys.filter((key) => timingSafeEqual(given, signatureOf(key, link)));
  if (isOurs.length === 0) return { kind: 'forged' };
  const mark = link.subarray(0, markBytes);
  // The counter of minutes wraps every 31 years: this is the value nearest to now.
  const thisMinute = Math.floor(now / minuteMs);
  const ahead = (link.readUIntBE(markBytes, minuteBytes) - thisMinute) % minutesThere;
  const isPast = (ahead + minutesThere) % minutesThere > minutesThere / 2 || ahead === 0;
  if (isPast) return { kind: 'expired' };
  return { kind: 'valid', isOf: ({ incident }) => markOf(incident).equals(mark) };
}

function markOf(incident: string): Buffer {
  return createHash('sha256').update(incident).digest().subarray(0, markBytes);
}

function signatureOf(secretKey: Buffer, link: Buffer): Buffer {
  const said = link.subarray(0, saidBytes);
  const whole = createHmac('sha256', deriveKey(secretKey, 'acknowledge by a short link'))
    .update(said)
    .digest();
  return whole.subarray(0, linkBytes - saidBytes);
}

/** Verifies a link of a message before 0.4, `/ack?account=…&rule=…&incident=…&expires=…&signature=…`. All mistakes take the same time. */
export function verifyAcknowledgement(
  secretKeys: readonly Buffer[],
  query: URLSearchParams,
  now: number,
): VerifiedLink {
  const expires = query.get('expires') ?? '';
  const grant: AcknowledgementGrant = {
    account: query.get('account') ?? '',
    rule: query.get('rule') ?? '',
    incident: query.get('incident') ?? '',
    expiresAt: /^\d{1,16}$/.test(expires) ? Number(expires) : 0,
  };
  const given = Buffer.from(query.get('signature') ?? '', 'base64url');
  const isOurs = secretKeys
    .map((key) => signGrant(key, grant))
    .filter((expected) => given.length === expected.length && timingSafeEqual(given, expected));
  if (isOurs.length === 0) return { kind: 'forged' };
  if (grant.expiresAt <= now) return { kind: 'expired' };
  const { account, rule, incident } = grant;
  const isOf = (it: Granted) => it.incident === incident && it.account === account && it.rule === rule;
  return { kind: 'valid', isOf };
}

function signGrant(secretKey: Buffer, grant: AcknowledgementGrant): Buffer {
  // As JSON, the fields stay separate whatever characters they contain.
  const text = JSON.stringify([grant.account, grant.rule, grant.incident, grant.expiresAt]);
  return createHmac('sha256', deriveKey(secretKey, 'acknowledge')).update(text).digest();
}

/** One key per purpose: a signature made for one purpose is never valid for another. */
export function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `lowwater ${purpose}`, 32));
}
