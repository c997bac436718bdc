import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** What a link in a message allows: acknowledging one incident, until an instant (milliseconds since 1970). */
interface AcknowledgementGrant {
  readonly account: string;
  readonly rule: string;
  readonly incident: string;
  readonly expiresAt: number;
}

type VerifiedGrant =
  | { readonly kind: 'valid'; readonly grant: AcknowledgementGrant }
  | { readonly kind: 'expired' }
  | { readonly kind: 'forged' };

/**
 * The query of a link that acknowledges one incident without signing in:
 * `account=…&rule=…&incident=…&expires=…&signature=…`. Put it behind `<publicUrl>/ack?`. The signature is
 * HMAC-SHA256 over all of it, so nothing can be changed in it.
 */
export function signAcknowledgement(secretKey: Buffer, grant: AcknowledgementGrant): string {
  const { expiresAt, ...named } = grant;
  const signature = signGrant(secretKey, grant).toString('base64url');
  return new URLSearchParams({ ...named, expires: String(expiresAt), signature }).toString();
}

/**
 * Whether a link is signed by one of our keys and still good at `now` (milliseconds since 1970). Takes the same time for each kind of
 * mistake in it.
 */
export function verifyAcknowledgement(
  secretKeys: readonly Buffer[],
  query: URLSearchParams,
  now: number,
): VerifiedGrant {
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
  return grant.expiresAt > now ? { kind: 'valid', grant } : { kind: 'expired' };
}

function signGrant(secretKey: Buffer, grant: AcknowledgementGrant): Buffer {
  // JSON keeps the fields apart, with any characters.
  const text = JSON.stringify([grant.account, grant.rule, grant.incident, grant.expiresAt]);
  return createHmac('sha256', deriveKey(secretKey, 'acknowledge')).update(text).digest();
}

/** One key a purpose: a signature made for one never passes for another. */
export function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `lowwater ${purpose}`, 32));
}
