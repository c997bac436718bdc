import type { IncomingHttpHeaders } from 'node:http';
import { cleanProviderText } from './provider-text.ts';

/** The interface speaks of usage headers without naming them: these words find them. */
const speaksOfUsage = /limit|remaining|usage|quota|reset|used|count/;

const mostHeaders = 16;
const longestName = 64;
const longestValue = 100;

const none: Readonly<Record<string, string>> = {};

/**
 * The response's usage headers, names in lower case, at most 16, values cleaned and cut; `secret` is taken
 * out of them.
 */
export function pickUsageHeaders(
  headers: IncomingHttpHeaders,
  secret: string,
): Readonly<Record<string, string>> {
  let usage: Record<string, string> | undefined;
  let count = 0;
  for (const name in headers) {
    if (!speaksOfUsage.test(name) || name.length > longestName || (secret !== '' && name.includes(secret)))
      continue;
    if (count === mostHeaders) break;
    count += 1;
    usage ??= {};
    usage[name] = readValue(headers[name], secret);
  }
  return usage ?? none;
}

function readValue(value: string | readonly string[] | undefined, secret: string): string {
  const text = typeof value === 'string' ? value : (value?.join(', ') ?? '');
  return cleanProviderText(text, secret, longestValue);
}
