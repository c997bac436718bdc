import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../domain/addresses.ts';
import type { ServerSettings } from '../domain/settings.ts';

/**
 * Whether the `Host` header names this server (against DNS rebinding, where a page of another site gets its
 * own name to point here). Bound to loopback: loopback names, and the host of `publicUrl`. Bound elsewhere
 * also what no site on the internet can own: addresses, names without a dot, and the host it is bound to.
 */
export function isOwnHost(hostHeader: string | undefined, settings: ServerSettings): boolean {
  const host = parseAuthority(hostHeader);
  if (host === null) return false;
  if (isLoopbackHost(host.hostname)) return true;
  if (host.hostname === publicHost(settings)) return true;
  if (isLoopbackHost(settings.host)) return false;
  const bare = host.hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) !== 0 || !bare.includes('.') || bare === settings.host.toLowerCase();
}

/** The name in a `Host` header, without its port; null where it cannot be one. */
export function hostNameOf(hostHeader: string | undefined): string | null {
  return parseAuthority(hostHeader)?.hostname ?? null;
}

/**
 * Whether a changing request comes from our own page or from no page at all. Browsers name the page's site in
 * `Sec-Fetch-Site` and its origin in `Origin`; programs send neither.
 */
export function isSameOrigin(
  headers: IncomingHttpHeaders,
  settings: ServerSettings,
): 'same' | 'other' | 'unknown' {
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

/**
 * Whether the browser came over TLS, as far as we can know: by the word of the proxy or the host of an https
 * `publicUrl`. A client that lies only gives itself a stricter cookie.
 */
export function isSecure(headers: IncomingHttpHeaders, settings: ServerSettings): boolean {
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
