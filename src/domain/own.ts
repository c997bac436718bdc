/** Looks up a name of the outside: `constructor` is one like any other. A test finds lookups that do not come here. */
export function ownOf<T>(
  record: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined {
  return record != null && Object.hasOwn(record, name) ? record[name] : undefined;
}
