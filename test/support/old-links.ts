import { createHmac } from 'node:crypto';
import { type AcknowledgementGrant, deriveKey } from '../../src/http/ack-link.ts';

/** The query of a link that messages had before 0.4: HMAC-SHA256 over all of it, as JSON. */
export function signAcknowledgement(secretKey: Buffer, grant: AcknowledgementGrant): string {
  const { account, rule, incident, expiresAt } = grant;
  const text = JSON.stringify([account, rule, incident, expiresAt]);
  const key = deriveKey(secretKey, 'acknowledge');
  const signature = createHmac('sha256', key).update(text).digest('base64url');
  return new URLSearchParams({ account, rule, incident, expires: String(expiresAt), signature }).toString();
}
