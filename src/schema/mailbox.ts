import type { Mailbox } from '../domain/settings.ts';

/** RFC 5321: 64 characters before the @, 254 in all. RFC 5322 dot-atoms only: quoted local parts invite injection. */
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domain =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/**
 * Reads `ops@example.com`, `Ops team <ops@example.com>` or `"Doe, Jane" <jane@example.com>`: exactly one
 * address. Null for anything else, above all for line breaks, lists, comments and groups, from which a mail
 * library could make further recipients or headers. International domains are written in their `xn--` form.
 */
export function parseMailbox(text: string): Mailbox | null {
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)) return null;
  const named = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(text);
  const address = (named?.[2] ?? text).trim();
  const name = readName(named?.[1] ?? '');
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

/** A quoted name may hold anything but bare quotes; an unquoted one nothing that has a meaning in an address list. */
function readName(text: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, '$1');
  return /[<>@",;:\\()[\]]/.test(text) ? null : text;
}
