import { cleanText } from '../core/plain-text.ts';

/** Words of printable ASCII with single spaces between: nothing to clean. Usage headers are so, several in every answer. */
const alreadyClean = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Text that the provider sent, as it may be shown and stored: on one line, without what is invisible, cut to `limit` code
 * points, and without the account's secret where the provider echoes it.
 */
export function cleanProviderText(text: string, secret: string, limit: number): string {
  const hidden = secret !== '' && text.includes(secret) ? text.replaceAll(secret, '[secret]') : text;
  return hidden.length <= limit && alreadyClean.test(hidden) ? hidden : cleanText(hidden, limit);
}
