/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, neither a list nor null. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a JSON text; null for anything else. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text);
  return isObject(value) ? { ...value } : null;
}

/** The value's own property; undefined when it has none. */
export function keyOf(value: unknown, key: string | number): unknown {
  const has = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return has ? Reflect.get(value, key) : undefined;
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The same value with each of its texts changed; the names of members stay as they are. */
export function mapTexts(value: Json, change: (text: string, key: string) => string, key = ''): Json {
  if (typeof value === 'string') return change(value, key);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change, key));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change, key)]));
}

type Reviver = (this: object, key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** `JSON.parse` with the reviver's third argument, the number as it was written, which TypeScript's library does not know. */
export const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** The end of a key. A string may contain one too, so that there are as many as keys or more. */
const keyEnd = /"\s*:/g;

/** Whether each key of the text is in what `JSON.parse` made of it. May be false although all are, but is never true if one was lost. */
export function hasEveryKey(json: string, parsed: unknown): boolean {
  let ends = 0;
  for (keyEnd.lastIndex = 0; keyEnd.test(json); ) ends++;
  return ends === countKeysOf(parsed);
}

/** JSON that is nested deeper is refused, or read in a slower way, because its readers recurse. */
export const deepestNesting = 64;

/** The number of keys, too low if a key stands twice in the text; NaN if a key is `__proto__`, or the value is nested too deep. */
function countKeysOf(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > deepestNesting) return Number.NaN;
  if (Array.isArray(value))
    return value.reduce<number>((sum, child) => sum + countKeysOf(child, depth + 1), 0);
  const keys = Object.keys(value);
  let count = keys.length;
  for (const key of keys) {
    if (key === '__proto__') return Number.NaN;
    count += countKeysOf(Reflect.get(value, key), depth + 1);
  }
  return count;
}

/** RFC 8259, 8.1: a parser may ignore a byte order mark. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
