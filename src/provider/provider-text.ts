import { cleanText } from '../core/plain-text.ts';

/**
 * Text that the provider sent, as it may be shown and stored: on one line, without what is invisible, cut to `limit` code
 * points, and without the account's secret where the provider echoes it.
 */
export function cleanProviderText(text: string, secret: string, limit: number): string {
  return cleanText(secret === '' ? text : text.replaceAll(secret, '[secret]'), limit);
}
