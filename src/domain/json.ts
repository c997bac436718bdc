/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null for anything but an object. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** The value's own property; undefined where it has none. */
export function keyOf(value: unknown, key: string | number): unknown {
  const has = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return has ? Reflect.get(value, key) : undefined;
}
