import { Secret } from '../domain/secret.ts';

/**
 * Every text that must not leave the process: each secret of the configuration, and its parts that others may
 * quote: the path of a credential address, its key-like segments, its password.
 */
export function listSecretTexts(settings: object): string[] {
  const texts: string[] = [];
  gatherFrom(settings, texts);
  return texts;
}

function gatherFrom(value: object, texts: string[]): void {
  if (value instanceof Secret) {
    for (const text of quotableTexts(value)) if (text !== '') texts.push(text);
    return;
  }
  // What the kind of a provider compiled is no part of the file, and may hold itself.
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return;
  for (const held of Object.values(value))
    if (typeof held === 'object' && held !== null) gatherFrom(held, texts);
}

function quotableTexts(secret: Secret): string[] {
  const text = secret.reveal();
  const url = /^[a-z]+:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return [text];
  const path = url.pathname + url.search;
  // A short path such as "/ping" is no credential, and hiding it would black out ordinary text.
  const quotable = path.length > 8 ? [path] : [];
  const keys = [
    ...url.pathname.split('/').filter(isKeyLike),
    ...[...url.searchParams.values()].filter(isLong),
  ];
  return [text, ...quotable, ...keys, ...keys.map(decode), url.password, decode(url.password)];
}

/** True for a generated segment, unlike the fixed ones of a service such as `incoming-webhook`. */
function isKeyLike(part: string): boolean {
  return part.length >= 24 || (isLong(part) && /\d/.test(part) && /[a-z]/i.test(part));
}

function isLong({ length }: string): boolean {
  return length >= 12;
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
