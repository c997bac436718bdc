/** Looks up a name of the outside: `constructor` is one like any other. A test finds lookups that do not come here. */
export function ownOf<T>(
  record: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined {
  const found = record?.[name];
  // Objects inherit no numbers, which are most of what is looked up: that takes half of the time.
  if (typeof found === 'number') return found;
  return record != null && Object.hasOwn(record, name) ? found : undefined;
}
