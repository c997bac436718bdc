import * as z from 'zod';
import { isFinerThanMicros, parseMicros } from '../domain/money.ts';
import type { AmountOrShare } from '../domain/rule.ts';
import { Secret } from '../domain/secret.ts';
import { formatDuration, maxDurationMs, parseDuration } from '../domain/time.ts';
import { sentences } from '../wording/phrase.ts';

/** The demands on a value that people may see in a form. */
const told = sentences('valueProblem', {
  duration: 'must be a duration such as "90s", "5m", "1h30m" or "2d"',
  atLeast: 'must be at least "{least}"',
  atMost: 'must be at most "{most}"',
  amount: 'must be an amount: a number, or a decimal in a string such as "12.50"',
  amountOrShare: 'must be an amount such as 50 or "12.50", or a percentage such as "10%"',
  bounded: '{allowed}; at most 9007199254 either way',
  atMostShare: 'must be at most {most} %',
  positive: 'must be more than 0',
  notNegative: 'must not be negative',
  sixDecimals: 'must have at most six decimals',
});

/** The result of reading a text: its value, or what is wrong with it. */
export type TextReading<T> = { readonly value: T } | { readonly wrong: string };

export interface TextLeaf<T> {
  readonly description: string;
  /** Said if the value is missing or no string: "must be …". */
  readonly allowed: string;
  /** For editors: the form of a literal text. Placeholders are always allowed too. */
  readonly pattern?: string;
  readonly examples?: readonly string[];
  /** A value that is never shown. This alone marks the keys of the configuration that are secrets. */
  readonly isSecret?: true;
  /** Null if the text is not what is allowed, and `allowed` says enough. */
  readonly read: (text: string) => TextReading<T> | null;
}

/** A string key that is read into a value. Every message is the leaf's own; none quotes the text. */
export function textLeaf<T>({ description, allowed, pattern, examples, isSecret, read }: TextLeaf<T>) {
  return z
    .string({ error: allowed })
    .transform((text, context): T => settle(read(text) ?? { wrong: allowed }, context))
    .meta({
      description,
      ...(pattern === undefined ? {} : { pattern: orPlaceholder(pattern) }),
      ...(examples === undefined ? {} : { examples }),
      // JSON Schema's mark for hidden values (draft 2020-12, Validation 9.4).
      ...(isSecret === undefined ? {} : { writeOnly: true }),
    });
}

function settle<T>(reading: TextReading<T>, context: z.RefinementCtx): T {
  if ('value' in reading) return reading.value;
  context.addIssue({ code: 'custom', message: reading.wrong });
  return z.NEVER;
}

/** A pattern for editors that also accepts placeholders, whose value is known only when the program starts. */
function orPlaceholder(pattern: string): string {
  return `${pattern}|\\$\\{`;
}

export const durationPattern = '^(?=.)(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$';

/** A duration in milliseconds within limits. */
export function duration(
  description: string,
  limits: { readonly minMs?: number; readonly maxMs?: number } = {},
) {
  return textLeaf({
    description,
    allowed: told.duration(),
    pattern: durationPattern,
    read(text) {
      const ms = parseDuration(text);
      return ms === null ? null : limitDuration(ms, limits);
    },
  });
}

export function limitDuration(
  ms: number,
  { minMs = 0, maxMs = maxDurationMs }: { readonly minMs?: number; readonly maxMs?: number },
): TextReading<number> {
  if (ms < minMs) return { wrong: told.atLeast({ least: formatDuration(minMs) }) };
  if (ms > maxMs) return { wrong: told.atMost({ most: formatDuration(maxMs) }) };
  return { value: ms };
}

/** The id of an account, rule or report, or the name of a channel. */
export const idPattern = '^[a-z0-9][a-z0-9-]{0,62}$';
export const idForm = 'must be 1 to 63 lower-case letters, digits and hyphens, with no hyphen at the start';

export function id(description: string) {
  const pattern = new RegExp(idPattern);
  return textLeaf({
    description,
    allowed: idForm,
    pattern: idPattern,
    read: (text) => (pattern.test(text) ? { value: text } : null),
  });
}

/** Text for people, such as a name or a comment: one line, without control characters. */
export function oneLine(description: string, { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {}) {
  return textLeaf({
    description,
    allowed: mayBeEmpty ? 'must be a string on one line' : 'must be a string on one line, not empty',
    ...(mayBeEmpty ? {} : { pattern: notBlank }),
    read: (text) =>
      /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !(mayBeEmpty || isVisible(text)) ? null : { value: text },
  });
}

/** For editors: most of what `isVisible` refuses. */
const notBlank = '\\S';

/** Whether a text is visible: blanks and characters without width are not. */
function isVisible(text: string): boolean {
  return /[^\p{C}\p{Z}]/u.test(text);
}

/** A value that is never shown. */
export function secret(description: string) {
  return textLeaf({
    description,
    allowed: 'must be a string, not empty',
    pattern: notBlank,
    isSecret: true,
    read: readSecret,
  });
}

/** Like `secret`, but an empty text means none. */
export function optionalSecret(description: string) {
  return textLeaf<Secret | null>({
    description,
    allowed: 'must be a string; an empty one stands for none',
    isSecret: true,
    read: (text) => (text === '' ? { value: null } : readSecret(text)),
  });
}

function readSecret(text: string): TextReading<Secret> {
  if (!isVisible(text)) return { wrong: 'must not be empty' };
  // A line break at the end of a pasted key is the usual cause; the provider would only answer that the key is wrong.
  if (/\p{Cc}/u.test(text)) return { wrong: 'must not hold line breaks or other control characters' };
  return { value: new Secret(text) };
}

const amountPattern = '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$';

interface AmountLimits {
  readonly sign?: 'positive' | 'not-negative';
}

/** Money in millionths, exact. Takes a number or the same digits in a string. */
export function amount(description: string, limits: AmountLimits = {}) {
  return numberLeaf(description, amountPattern, told.amount(), (text) => readAmount(text, limits));
}

/** Money, or a share such as "10%" of something that the description names. */
export function amountOrShare(description: string, limits: AmountLimits & { readonly maxPercent: number }) {
  const allowed = told.amountOrShare();
  const pattern = `${amountPattern}|^\\d+(\\.\\d+)?%$`;
  return numberLeaf(description, pattern, allowed, (text) => readAmountOrShare(text, limits, allowed));
}

function numberLeaf<T>(
  description: string,
  pattern: string,
  allowed: string,
  read: (text: string) => TextReading<T>,
) {
  return z
    .union([z.number(), z.string().meta({ pattern: orPlaceholder(pattern) })], { error: allowed })
    .transform((value, context): T => settle(read(String(value)), context))
    .describe(description);
}

function readAmountOrShare(
  text: string,
  limits: AmountLimits & { readonly maxPercent: number },
  allowed: string,
): TextReading<AmountOrShare> {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent === undefined) {
    const reading = readAmount(text, limits, allowed);
    return 'value' in reading ? { value: { kind: 'amount', micros: reading.value } } : reading;
  }
  const number = Number(percent);
  if (number > limits.maxPercent) return { wrong: told.atMostShare({ most: limits.maxPercent }) };
  if (limits.sign === 'positive' && number === 0) return { wrong: told.positive() };
  return { value: { kind: 'share', share: number / 100 } };
}

function readAmount(text: string, { sign }: AmountLimits, allowed = told.amount()): TextReading<number> {
  const micros = parseMicros(text);
  if (micros === null) return { wrong: told.bounded({ allowed }) };
  if (isFinerThanMicros(text)) return { wrong: told.sixDecimals() };
  if (sign === 'positive' && micros <= 0) return { wrong: told.positive() };
  if (sign === 'not-negative' && micros < 0) return { wrong: told.notNegative() };
  return { value: micros };
}
