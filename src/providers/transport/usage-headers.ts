import type { IncomingHttpHeaders } from 'node:http';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { formatExact } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { ProviderFacts } from '../../domain/reading.ts';

/** The interface speaks of usage headers without naming them: these words find them. */
const speaksOfUsage = /limit|remaining|usage|quota|reset|used|count/;

const maxHeaders = 16;
const maxNameLength = 64;
const maxValueLength = 100;

const none: Readonly<Record<string, string>> = {};

/** The response's usage headers: names in lower case, at most 16, values cleaned and cut, no secrets. */
export function pickUsageHeaders(
  headers: IncomingHttpHeaders,
  texts: ForeignTexts,
): Readonly<Record<string, string>> {
  let usage: Record<string, string> | undefined;
  let count = 0;
  for (const name in headers) {
    if (!speaksOfUsage.test(name) || name.length > maxNameLength || namesSecret(name, texts)) continue;
    if (count === maxHeaders) break;
    count += 1;
    usage ??= {};
    usage[name] = readValue(ownOf(headers, name), texts);
  }
  return usage ?? none;
}

/** Further facts of an answer, in the form of usage headers: both are shown with the latest poll. */
export function wordFacts(facts: ProviderFacts): Readonly<Record<string, string>> {
  const { autoRecharge, creditLimitMicros, pendingMicros, date } = facts;
  return {
    ...(autoRecharge === undefined ? {} : { 'automatic-recharge': autoRecharge ? 'on' : 'off' }),
    ...(creditLimitMicros === undefined ? {} : { 'credit-limit': formatExact(creditLimitMicros) }),
    ...(pendingMicros === undefined ? {} : { pending: formatExact(pendingMicros) }),
    ...(date === undefined ? {} : { date }),
  };
}

function readValue(value: string | readonly string[] | undefined, texts: ForeignTexts): string {
  const text = typeof value === 'string' ? value : (value?.join(', ') ?? '');
  return texts.clean(text, maxValueLength);
}

/** Names known to hold no secret: the same few come with every answer. */
const innocent = new WeakMap<ForeignTexts, Set<string>>();
const maxRemembered = 100;

function namesSecret(name: string, texts: ForeignTexts): boolean {
  const known = innocent.get(texts) ?? new Set();
  if (known.has(name)) return false;
  if (texts.holdsSecret(name)) return true;
  if (known.size < maxRemembered) innocent.set(texts, known.add(name));
  return false;
}
