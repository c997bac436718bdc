import type { Secret } from './secret.ts';

/** Shorter ones could be guessed. */
const minLength = 16;

export function isShortToken(token: Secret): boolean {
  return token.reveal().length < minLength;
}

/** What is wrong with a short token and what to do, after the name of its key. */
export const shortTokenAdvice = `is shorter than ${minLength} characters and could be guessed; make one with: openssl rand -hex 24`;
