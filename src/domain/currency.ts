/**
 * Whether two names of currencies mean the same one: compared without the space around them and without case; `RMB` is
 * what people call the CNY.
 */
export function isSameCurrency(one: string, other: string): boolean {
  return one === other || currencyCode(one) === currencyCode(other);
}

/** The one name under which amounts of the same currency are summed. */
export function currencyCode(name: string): string {
  const code = name.trim().toUpperCase();
  return code === 'RMB' ? 'CNY' : code;
}
