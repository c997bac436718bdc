import { isLoopbackHost } from '../../domain/addresses.ts';
import type { Secret } from '../../domain/secret.ts';

/** Where mail goes and how it is protected on the way, from `smtpUrl`. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`). */
  readonly secure: boolean;
  /** STARTTLS or nothing: no mail and no password in clear text. */
  readonly requireTls: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

/**
 * Reads `smtp://user:password@host:port` or `smtps://…`; user and password are percent-decoded. Ports default
 * to 587 and 465. Only a server on this host, or `allowInsecure`, is spoken to in clear text, and then only
 * when it offers no STARTTLS. Null when it is no such URL.
 */
export function readSmtpUrl(smtpUrl: Secret, allowInsecure: boolean): SmtpServer | null {
  const url = URL.parse(smtpUrl.reveal());
  if (url === null || url.hostname === '' || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:'))
    return null;
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const login = url.username === '' ? null : decodeLogin(url);
  if (url.username !== '' && login === null) return null;
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTls: !secure && !allowInsecure && !isLoopbackHost(host),
    login,
  };
}

function decodeLogin(url: URL): SmtpServer['login'] {
  try {
    return { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  } catch {
    return null;
  }
}
