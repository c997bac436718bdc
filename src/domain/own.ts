/**
 * What a record has under a name of the outside: `constructor` and `toString`, which every object has, are names like any other. A test
 * over the source finds lookups by such names that do not come here.
 */
export function ownOf<T>(
  record: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined {
  return record != null && Object.hasOwn(record, name) ? record[name] : undefined;
}
