import * as z from 'zod';
import { languageIds } from '../wording/language.ts';
import { didYouMean, listWords } from '../wording/lists.ts';

/** Options for a file that a process reads once or twice: a parser compiled for it would cost more than it saves. */
export const once = { jitless: true } as const;

/** zod reports unknown keys in one issue; the message has one line for each, in the order of the issue's `keys`. */
export function shape<S extends z.core.$ZodLooseShape>(
  keys: S,
  hints: Readonly<Record<string, string>> = {},
) {
  return z.strictObject(keys, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => describeUnknownKey(key, Object.keys(keys), hints)).join('\n')
        : 'must be an object in braces',
  });
}

function describeUnknownKey(
  key: string,
  known: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
  if (hint !== undefined) return hint;
  if (known.length === 0) return 'unknown key; none is known here';
  return `unknown key; ${didYouMean(key.replace(/[-_\s]/g, ''), known) ?? `known here: ${known.join(', ')}`}`;
}

/** Refuses an object that says nothing. An object that has problems already says something. */
export function saying<T extends z.ZodObject>(
  schema: T,
  { saysNothing, error }: { readonly saysNothing: (value: z.output<T>) => boolean; readonly error: string },
) {
  return schema.check(({ value, issues }) => {
    if (issues.length === 0 && saysNothing(value))
      issues.push({ code: 'custom', message: error, input: value });
  });
}

export function choice<const T extends readonly [string, ...string[]]>(description: string, words: T) {
  return z.enum(words, { error: `must be ${listWords(words)}` }).describe(description);
}

export function languageKey(description: string) {
  return choice(description, languageIds);
}

export function flag(description: string) {
  return z.boolean({ error: 'must be true or false' }).describe(description);
}

export function wholeNumber(description: string, { min, max }: Record<'min' | 'max', number>) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).describe(description);
}

export function filledList<T extends z.ZodType>(description: string, element: T, error: string) {
  return z.array(element, { error }).min(1, { error }).describe(description);
}
