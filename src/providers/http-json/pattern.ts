/** The longest text that a pattern is tried on, in characters. */
export const maxPatternInput = 64;

/**
 * A regular expression of the configuration, safe to try on foreign text of at most `maxPatternInput` characters: without repeated groups,
 * backreferences and lookarounds, and with few repetitions, it takes at most a million steps. Returns a sentence if the text is no such
 * expression, or does not have exactly one group.
 */
export function parsePattern(text: string): RegExp | { readonly wrong: string } {
  if (text.length > 200) return { wrong: 'must be at most 200 characters long' };
  let pattern: RegExp;
  try {
    pattern = new RegExp(text, 'du');
  } catch {
    return { wrong: 'is not a valid regular expression' };
  }
  const groups = (new RegExp(`${text}|`, 'u').exec('')?.length ?? 1) - 1;
  if (groups !== 1) return { wrong: `must have exactly one group in parentheses; it has ${groups}` };
  const wrong = findUnbounded(text);
  return wrong === null ? pattern : { wrong };
}

/** The reason why a regular expression may take long; null if it cannot. */
export function findUnbounded(text: string): string | null {
  if (text === '' || text.length > 200) return 'must be a text of 1 to 200 characters';
  // A sign in a class or after a backslash is a plain character, except in a backreference.
  const bare = text.replace(/\\(?![1-9k])(?:[pP]\{[^}]*\}|u\{[^}]*\}|.)|\[(?:[^\]\\]|\\.)*\]/gu, 'x');
  if (/\\[1-9k]|\(\?<?[=!]/.test(bare)) return 'must not use backreferences or lookarounds';
  if (/\)[*+{]/.test(bare)) return 'must not repeat a group';
  const repetitions = bare.replace(/\(\?(?:<[^>]*>|:)/g, '(').match(/[*+{]|\?/g)?.length ?? 0;
  return repetitions > 4 ? 'must not have more than four of *, +, ? and {}' : null;
}
