import { decodePercent, isUnencrypted, noPort, parsePostgresAddress } from '../domain/addresses.ts';
import { Secret } from '../domain/secret.ts';
import type { Mailbox } from '../domain/settings.ts';
import { type TextLeaf, type TextReading, textLeaf } from './texts.ts';

/** An address that is no credential: the provider's, or the page's. A trailing slash is dropped. */
export function plainAddress(description: string) {
  return addressLeaf({
    description,
    allowed: 'must be an address that starts with https:// or http://, without user, password, query or #',
    read: (url) => ({ value: url.href.replace(/\/+$/, '') }),
  });
}

/** A link that people follow. They see it, so it must hold no password. */
export function linkAddress(description: string) {
  return webLeaf({
    description,
    allowed: 'must be a link that starts with https:// or http://, without user and password',
    read: (url) => (url.username !== '' || url.password !== '' ? null : { value: url.href }),
  });
}

/** An address without a path, because the page's own links begin at the top of its address. */
export function hostAddress(description: string) {
  return addressLeaf({
    description,
    allowed:
      'must be an address such as https://lowwater.example.com, without a path: the page works only at the top of an address',
    read: (url) => (url.pathname === '/' ? { value: url.origin } : null),
  });
}

interface WebLeaf<T> extends Pick<TextLeaf<T>, 'description' | 'allowed' | 'isSecret'> {
  readonly read: (url: URL, text: string) => { readonly value: T } | null;
}

function addressLeaf({ read, ...leaf }: WebLeaf<string>) {
  return webLeaf({
    ...leaf,
    read: (url, text) =>
      url.username === '' && url.password === '' && !/[?#]/.test(text) ? read(url, text) : null,
  });
}

function webLeaf<T>({ read, ...leaf }: WebLeaf<T>) {
  return textLeaf({
    ...leaf,
    pattern: '^[hH][tT]{2}[pP][sS]?://',
    read: (text) => {
      const url = parseWebAddress(text);
      if (url?.port === '0') return noPort;
      return url === null ? null : read(url, text);
    },
  });
}

/** An address that is a credential, encrypted unless it stays on this machine. */
export function credentialAddress(description: string, receiver: string) {
  return webLeaf({
    description,
    isSecret: true,
    allowed: `must be the https:// address of ${receiver} (http:// only to this machine itself)`,
    read: (_, text) => (isUnencrypted(text) ? null : { value: new Secret(text) }),
  });
}

/** An address that may be a credential (a token in its path or query). */
export function secretAddress(description: string) {
  return webLeaf({
    description: `${description} A user and password in it are sent as HTTP Basic authentication.`,
    isSecret: true,
    allowed: 'must be an address that starts with https:// or http://',
    read: (_, text) => ({ value: new Secret(text) }),
  });
}

export function smtpAddress(description: string) {
  return textLeaf({
    description,
    isSecret: true,
    allowed:
      'must be smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of user and password percent-encoded',
    pattern: '^[sS][mM][tT][pP][sS]?://',
    read: readSmtpAddress,
  });
}

function readSmtpAddress(text: string): TextReading<Secret> | null {
  const url = hasStrayCharacters(text) ? null : URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol)) return null;
  if (url.port === '0') return noPort;
  if (!/^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])$/.test(url.hostname))
    return null;
  // nodemailer takes options from the query, one of which switches off the check of certificates.
  if (!/^\/?$/.test(url.pathname) || /[?#]/.test(text)) {
    return {
      wrong:
        'must end after host and port: no path, query or #; a ?, # or / of a password is percent-encoded',
    };
  }
  if (url.username === '' && url.password !== '') return { wrong: 'holds a password without a user' };
  if (decodePercent(`${url.username}:${url.password}`) === null) return null;
  return { value: new Secret(text) };
}

/** The address of a PostgreSQL database, with the user and password for it. */
export function postgresAddress(description: string) {
  return textLeaf({
    description,
    isSecret: true,
    allowed:
      'must be postgres://user:password@host:5432/database, or with several hosts (one:5432,two:5432), with special characters of user and password percent-encoded',
    pattern: '^postgres(ql)?://',
    read: (text) => {
      const hosts = hasStrayCharacters(text) ? null : parsePostgresAddress(text);
      return hosts === null || 'wrong' in hosts ? hosts : { value: new Secret(text) };
    },
  });
}

/** One sender or recipient. */
export function mailbox(description: string) {
  return textLeaf({
    description,
    allowed: 'must be one mail address, such as "ops@example.com" or "Ops team <ops@example.com>"',
    read: (text) => {
      const parsed = parseMailbox(text);
      if (parsed !== null) return { value: parsed };
      const isForeign = /@[^@]*[^\p{ASCII}][^@]*$/u.test(text);
      return isForeign ? { wrong: 'must name an international domain in its xn-- form' } : null;
    },
  });
}

/** A key for signing, as the Standard Webhooks specification writes it: 24 to 64 bytes in base64 after `whsec_`. */
export function signingKey(description: string) {
  return textLeaf({
    description,
    isSecret: true,
    allowed: 'must be "whsec_" followed by 24 to 64 bytes in base64 (openssl rand -base64 32 makes some)',
    read: (text) => {
      const base64 = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(
        text,
      )?.[1];
      const bytes = Buffer.from(base64 ?? '', 'base64').length;
      return base64 === undefined || bytes < 24 || bytes > 64 ? null : { value: new Secret(text) };
    },
  });
}

function parseWebAddress(text: string): URL | null {
  if (hasStrayCharacters(text) || !/^https?:\/\//i.test(text)) return null;
  return URL.parse(text);
}

/** URL parsers drop blanks at the ends, and line breaks anywhere; here they show a mistake. */
function hasStrayCharacters(text: string): boolean {
  return /[\s\p{Cc}]/u.test(text);
}

/** RFC 5321: 64 characters before the @, 254 in all. RFC 5322 dot-atoms only: quoted local parts invite injection. */
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domain =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/**
 * Reads `ops@example.com`, `Ops team <ops@example.com>` or `"Doe, Jane" <jane@example.com>`: exactly one address. Null for anything else,
 * above all for line breaks, lists, comments and groups, from which a mail library could make further recipients or headers. International
 * domains must be in their `xn--` form.
 */
export function parseMailbox(text: string): Mailbox | null {
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)) return null;
  const named = /^(.*)<([^<>]*)>$/.exec(text.trim());
  const address = (named?.[2] ?? text).trim();
  const name = readName(named?.[1]?.trim() ?? '');
  return name === null || !isAddress(address) ? null : { name, address };
}

function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  return (
    at > 0 &&
    text.length <= 254 &&
    local.length <= 64 &&
    localPart.test(local) &&
    domain.test(text.slice(at + 1))
  );
}

/** A quoted name may hold anything except bare quotes; an unquoted one nothing that has a meaning in an address list. */
function readName(text: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, '$1');
  return /[<>@",;:\\()[\]]/.test(text) ? null : text;
}
