/** Whether two names mean the same currency: compared trimmed and without case; `RMB` is CNY. */
export function isSameCurrency(one: string, other: string): boolean {
  return one === other || currencyCode(one) === currencyCode(other);
}

export function currencyCode(name: string): string {
  const code = name.trim().toUpperCase();
  return code === 'RMB' ? 'CNY' : code;
}

/**
 * Whether what a balance is counted in is no money but a unit such as `credits` or `messages`: a word of four lower-case
 * letters or more. Amounts of units are whole numbers for people.
 */
export function isUnit(currency: string): boolean {
  return unitPattern.test(currency);
}

/** What a unit looks like in the configuration and in readings. */
export const unitPattern = /^[a-z][a-z-]{3,15}$/;
