import { type Node, parseTree } from 'jsonc-parser';
import { hasEveryKey, keyOf } from '../domain/json.ts';

/** The value of a key that stands twice in one object with values that are written differently: nobody can tell which one is meant. */
export const ambiguous = Symbol('written twice, with different values');

/** Puts `ambiguous` into `parsed`, where `JSON.parse` kept the last of two values; false if no key has two. Throws if nested thousands deep. */
export function markAmbiguous(json: string, parsed: unknown): boolean {
  return !hasEveryKey(json, parsed) && markIn(parsed, parseTree(json), json);
}

function markIn(value: unknown, node: Node | undefined, json: string): boolean {
  let isFound = false;
  const written = new Map<string, string>();
  for (const [index, child] of (node?.children ?? []).entries()) {
    const [name, of] = child.type === 'property' ? (child.children ?? []) : [undefined, child];
    if (of === undefined) continue;
    const key = String(name?.value ?? index);
    const text = json.slice(of.offset, of.offset + of.length);
    if ((written.get(key) ?? text) === text) isFound = markIn(keyOf(value, key), of, json) || isFound;
    else if (keyOf(value, key) !== undefined) isFound = Reflect.set(Object(value), key, ambiguous);
    written.set(key, text);
  }
  return isFound;
}
