/**
 * Whether two names of currencies mean the same one: compared without the space around them and without case; `RMB` is
 * what people call the CNY.
 */
export function isSameCurrency(one: string, other: string): boolean {
  return one === other || codeOf(one) === codeOf(other);
}

function codeOf(name: string): string {
  const code = name.trim().toUpperCase();
  return code === 'RMB' ? 'CNY' : code;
}
