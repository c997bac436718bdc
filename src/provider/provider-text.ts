import { cleanText } from '../domain/plain-text.ts';

/**
 * Words of printable ASCII with single spaces between: nothing to clean. Usage headers are so, several in
 * every answer.
 */
const alreadyClean = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Text that the provider sent, as it may be shown and stored: on one line, without what is invisible, cut to
 * `limit` code points, and without the account's secret where the provider echoes it, be it as it is,
 * URL-encoded or in base64.
 */
export function cleanProviderText(text: string, secret: string, limit: number): string {
  const hidden = hideSecret(text, secret);
  return hidden.length <= limit && alreadyClean.test(hidden) ? hidden : cleanText(hidden, limit);
}

function hideSecret(text: string, secret: string): string {
  // No encoding is shorter than what it encodes: the usual header, a number, costs nothing here.
  if (secret === '' || text.length < secret.length) return text;
  return echoesOf(secret).reduce((rest, echo) => rest.replaceAll(echo, '[secret]'), text);
}

/** How an echo may be written, the longest first, so that none is hidden in part. */
function echoesOf(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const base64 = Buffer.from(wellFormed).toString('base64').replace(/=+$/, '');
  return [
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    secret,
  ];
}
