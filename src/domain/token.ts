import type { Secret } from './secret.ts';

const minLength = 16;

export function isShortToken(token: Secret): boolean {
  return token.reveal().length < minLength;
}

/** Follows the name of the key. */
export const shortTokenAdvice = `is shorter than ${minLength} characters and could be guessed; make one with: openssl rand -hex 24`;
