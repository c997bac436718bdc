import { Secret } from '../domain/secret.ts';
import type { Settings } from '../domain/settings.ts';

/**
 * Every text that must not leave the process: each secret of the configuration, wherever it stands, and the parts of it that
 * libraries quote by themselves (the path of an address that is a credential, the password in one).
 */
export function listSecretTexts(settings: Settings): string[] {
  return secretsIn(settings)
    .flatMap(quotableTexts)
    .filter((text) => text !== '');
}

function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

function quotableTexts(secret: Secret): string[] {
  const text = secret.reveal();
  const url = /^[a-z]+:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return [text];
  const path = url.pathname + url.search;
  // A short path such as "/" or "/ping" is no credential, and hiding it would black out ordinary text.
  const quotable = path.length > 8 ? [path] : [];
  return [text, ...quotable, url.password, decode(url.password)];
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
