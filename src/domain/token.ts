import type { Secret } from './secret.ts';

/** Shorter ones could be guessed. */
const leastLength = 16;

export function isShortToken(token: Secret): boolean {
  return token.reveal().length < leastLength;
}

/** What is wrong with a short token and what to do, after the name of its key. */
export const shortTokenAdvice = `is shorter than ${leastLength} characters and could be guessed; make one with: openssl rand -hex 24`;
