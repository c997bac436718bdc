/** What a text holds as JSON; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same where it is an object, neither a list nor `null`; null otherwise. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** What stands at a key of a value of JSON; undefined where it has none of its own. */
export function keyOf(value: unknown, key: string | number): unknown {
  const has = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return has ? Reflect.get(value, key) : undefined;
}
