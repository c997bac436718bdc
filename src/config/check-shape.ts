import type * as z from 'zod';
import { nearestWord } from '../domain/nearest-word.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Path } from './config-problem.ts';
import { type Draft, problemAt, replaceAt, textAt, valueAt } from './draft.ts';
import { type ConfigInput, configSchema } from './schema/config.ts';

/** A file is read once a process: a parser compiled for it would cost more than it saves. */
const once = { jitless: true } as const;

/** So many accounts are read at once; more are worth a parser that is compiled for them. */
const accountsAtOnce = 1000;

/**
 * Holds the draft against the schema: types, unknown keys, and everything that one value can tell about itself. Between
 * thousands of accounts others may have their turn.
 */
export function* checkShape(draft: Draft): Generator<
  undefined,
  {
    readonly config: ConfigInput | null;
    readonly problems: readonly ConfigProblem[];
  }
> {
  const first = yield* parse(draft.value);
  if (first.config !== null) return { config: first.config, problems: [] };
  const coerced = first.issues.filter((issue) => coerce(draft, issue)).length > 0;
  const { config, issues } = coerced ? yield* parse(draft.value) : first;
  return { config, problems: issues.flatMap((issue) => describeIssue(draft, issue)) };
}

interface Parsed {
  readonly config: ConfigInput | null;
  readonly issues: readonly z.core.$ZodIssue[];
}

function* parse(value: unknown): Generator<undefined, Parsed> {
  const listed: unknown = Reflect.get(Object(value), 'accounts');
  const all = Array.isArray(listed) ? listed : [];
  const isLong = all.length > accountsAtOnce;
  const first = isLong ? { ...Object(value), accounts: all.slice(0, accountsAtOnce) } : value;
  const whole = configSchema.safeParse(first, once);
  const issues = [...(whole.error?.issues ?? [])];
  const accounts = [...(whole.data?.accounts ?? [])];
  for (let from = accountsAtOnce; from < all.length; from += accountsAtOnce) {
    yield;
    const part = configSchema.shape.accounts.safeParse(all.slice(from, from + accountsAtOnce));
    for (const account of part.data ?? []) accounts.push(account);
    for (const { path, ...issue } of part.error?.issues ?? [])
      issues.push({ ...issue, path: ['accounts', from + Number(path[0]), ...path.slice(1)] });
  }
  return { config: whole.success && issues.length === 0 ? { ...whole.data, accounts } : null, issues };
}

/** A string that was one placeholder may stand for a number or a flag; any other string may not. */
function coerce(draft: Draft, issue: z.core.$ZodIssue): boolean {
  if (issue.code !== 'invalid_type') return false;
  const path = plainPath(issue.path);
  const text = textAt(draft, path);
  if (text === null || !draft.isWhole(path)) return false;
  if (issue.expected === 'boolean' && (text === 'true' || text === 'false')) {
    replaceAt(draft, path, text === 'true');
    return true;
  }
  if (issue.expected === 'number' && /^-?\d+(\.\d+)?$/.test(text)) {
    replaceAt(draft, path, Number(text));
    return true;
  }
  return false;
}

function describeIssue(draft: Draft, issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = plainPath(issue.path);
  if (draft.isBroken(path)) return [];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => problemAt(draft, [...path, key], messages[index] ?? 'unknown key'));
  }
  const isMissing = path.length > 0 && valueAt(draft, path) === undefined;
  const message = `${issue.message}${isMissing ? '' : adviseValue(draft, path, issue)}`;
  return [problemAt(draft, path, isMissing ? `is missing; ${message}` : message)];
}

/** What to write instead: `; did you mean "runway"?` where one of some words is asked for, `; write "300s"` for a bare number. */
function adviseValue(draft: Draft, path: Path, issue: z.core.$ZodIssue): string {
  const { message } = issue;
  const value = valueAt(draft, path);
  if (typeof value === 'number' && message.startsWith('must be a duration'))
    return `; write "${value}s" for seconds`;
  if (issue.code === 'invalid_type') return adviseQuotes(value, issue.expected);
  // Of a list the first that is none of the words.
  const words = message.match(quotedWords)?.[0].match(/[^"]+(?="(?:, | or |$))/g) ?? null;
  const typed = (Array.isArray(value) ? value : [value]).find((each) => !words?.includes(String(each)));
  if (typeof typed !== 'string' || words === null || draft.isInterpolated(path)) return '';
  const meant = nearestWord(typed, words);
  if (meant !== null) return `; did you mean "${meant}"?`;
  return path[0] === 'channels' && path.at(-1) === 'type'
    ? '; docs/recipes.md shows how to reach others'
    : '';
}

const quotedWords = /^must be ("[^"]+"(?:, | or )?)+(?=$|, or a list)/;

/** A value that would do with quotes, or without. It may be a secret, and is not repeated. */
function adviseQuotes(value: unknown, expected: string): string {
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return '; write it in double quotes';
  const isBare = expected === 'boolean' ? /^(?:true|false)$/ : /^-?\d+(?:\.\d+)?$/;
  const wants = expected === 'boolean' || expected === 'number' || expected === 'int';
  return wants && typeof value === 'string' && isBare.test(value) ? '; write it without quotes' : '';
}

/** JSON has no symbols for keys. */
function plainPath(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}
