import type * as z from 'zod';
import { isObject } from '../domain/json.ts';
import { once } from '../schema/shapes.ts';
import { didYouMean } from '../wording/lists.ts';
import type { Position } from './draft.ts';
import { type ConfigInput, configSchema } from './schema/config.ts';

/** The accounts that are checked in one turn. For more accounts than that, compiling a parser pays. */
const accountsAtOnce = 1000;

/** Checks types, unknown keys, and each value by itself. Yields between thousands of accounts, so that other work has its turn. */
export function* checkShape(file: Position): Generator<undefined, ConfigInput | null> {
  const first = yield* parse(file.value);
  if (first.config !== null) return first.config;
  const coerced = first.issues.filter((issue) => coerce(positionOf(file, issue), issue)).length > 0;
  const { config, issues } = coerced ? yield* parse(file.value) : first;
  for (const issue of issues) report(positionOf(file, issue), issue);
  return config;
}

/** The position of an issue. JSON has no symbols as keys. */
function positionOf(file: Position, { path }: z.core.$ZodIssue): Position {
  return file.at(...path.map((step) => (typeof step === 'symbol' ? String(step) : step)));
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
function coerce(position: Position, issue: z.core.$ZodIssue): boolean {
  const { text } = position;
  if (issue.code !== 'invalid_type' || text === null || position.filling?.whole !== true) return false;
  const isFlag = issue.expected === 'boolean' && (text === 'true' || text === 'false');
  if (isFlag) position.replace(text === 'true');
  const isNumber = issue.expected === 'number' && /^-?\d+(\.\d+)?$/.test(text);
  if (isNumber) position.replace(Number(text));
  return isFlag || isNumber;
}

function report(position: Position, issue: z.core.$ZodIssue): void {
  if (position.isBroken) return;
  const meant = issue.code === 'invalid_union' ? meantForm(position, issue) : null;
  if (meant !== null) {
    for (const each of meant) report(positionOf(position, each), each);
    return;
  }
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    for (const [index, key] of issue.keys.entries())
      position.at(key).report(messages[index] ?? 'unknown key');
    return;
  }
  const isMissing = position.path.length > 0 && position.value === undefined;
  position.report(
    isMissing ? `is missing; ${issue.message}` : `${issue.message}${adviseValue(position, issue)}`,
  );
}

/** The problem of an object whose keys belong to one form only; null if they belong to several forms, or to none. */
function meantForm(
  { value }: Position,
  { errors }: z.core.$ZodIssueInvalidUnion,
): readonly z.core.$ZodIssue[] | null {
  if (!isObject(value)) return null;
  const [meant, another] = errors.filter((issues) => issues.every(({ path }) => path.length > 0));
  return another === undefined ? (meant ?? null) : null;
}

/** The text to write instead: `; did you mean "runway"?` if certain words are allowed, `; write "300s"` for a bare number. */
function adviseValue({ value, path, isFilled }: Position, issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (typeof value === 'number' && message.startsWith('must be a duration'))
    return `; write "${value}s" for seconds`;
  if (issue.code === 'invalid_type') return adviseQuotes(value, issue.expected);
  // In a list, the first value that is none of the words.
  const words = message.match(quotedWords)?.[0].match(/[^"]+(?="(?:, | or |$))/g) ?? null;
  const typed = (Array.isArray(value) ? value : [value]).find((each) => !words?.includes(String(each)));
  if (typeof typed !== 'string' || words === null || isFilled) return '';
  const meant = didYouMean(typed, words);
  if (meant !== null) return `; ${meant}`;
  return path[0] === 'channels' && path.at(-1) === 'type'
    ? '; docs/recipes.md shows how to reach others'
    : '';
}

const quotedWords = /^must be ("[^"]+"(?:, | or )?)+(?=$|, or a list)/;

/** Advice for a value that would be right with quotes, or without. The value may be a secret, and is not repeated. */
function adviseQuotes(value: unknown, expected: string): string {
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return '; write it in double quotes';
  const isBare = expected === 'boolean' ? /^(?:true|false)$/ : /^-?\d+(?:\.\d+)?$/;
  const wants = expected === 'boolean' || expected === 'number' || expected === 'int';
  return wants && typeof value === 'string' && isBare.test(value) ? '; write it without quotes' : '';
}
