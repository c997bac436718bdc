import type { Micros } from '../../domain/money.ts';
import { answers } from '../answers.ts';
import { addDecimals, type Decimal, multiplyDecimals, parseDecimal, toMicros } from './decimal.ts';
import type { AmountDescription } from './description.ts';
import type { ExactJson, Found, Path } from './json-path.ts';
import { maxPatternInput } from './pattern.ts';

/** A value, or why there is none: a sentence that names the path and what stood there. */
export type Read<T> = { readonly value: T } | { readonly wrong: string };

export type Quote = (value: unknown) => string;

/** The amount that is left, exact: (amount + plus − minus) · scale, rounded once. */
export function readAmount(answer: ExactJson, how: AmountDescription, quote: Quote): Read<Micros> {
  let total: Decimal = { units: 0n, places: 0 };
  const terms = [[how.amount, 1n, how.sum] as const, [how.plus, 1n] as const, [how.minus, -1n] as const];
  for (const [path, sign, mayBeMany = false] of terms) {
    if (path === undefined) continue;
    const found = answer.find(path);
    if (found.length === 0 || (found.length > 1 && !mayBeMany))
      return { wrong: sayCount(path, found.length) };
    for (const each of found) {
      const decimal = readDecimal(each, how);
      if (decimal === null) return { wrong: answers.noAmount({ path: path.text, value: quote(each.value) }) };
      total = addDecimals(total, { ...decimal, units: sign * decimal.units });
    }
  }
  const micros = toMicros(how.scale === undefined ? total : multiplyDecimals(total, how.scale));
  return micros === null ? { wrong: answers.outOfRange({ path: how.amount.text }) } : { value: micros };
}

/** The part of a text that a pattern's group matches, and where it begins; null where it does not match or the text is too long to try. */
export function matchGroup(
  text: string,
  pattern: RegExp,
): { readonly part: string; readonly at: number } | null {
  const match = text.length > maxPatternInput ? null : pattern.exec(text);
  const [at, end] = match?.indices?.[1] ?? [];
  return at === undefined ? null : { part: text.slice(at, end), at };
}

/** Also with the currency or digits that were left out in between: `-$12.50`, `-€ 12.50`, `-KES 12.50`, `- 12.50`, `-1,234.50`. */
const minusBefore =
  /(?:[-−–－](?:\p{Sc}\s?)?|(?<!\S)[-−]\p{L}{1,4}\.?\p{Sc}?\s?|^\s*[-−–]\s+\p{Sc}?\s?|(?<![\p{L}\d])[-−]\p{Sc}?\d[\d.,'’]*)$/u;
/** As accountants write it: `12.50-`, `12.50 EUR-`, `(12.50)`. */
const minusAfter = /^(?:(?:\s?(?:\p{Sc}|[A-Z]{3}))?[-−–](?![\p{L}\d])|\s[-−]\s*$)/u;
const inBrackets = /^[A-Z\p{Sc}\s]*\([A-Z\p{Sc}\s]*\d[\d.,'’\s]*\)[A-Z\p{Sc}\s]*$/u;
const namesMinus =
  /[-−](?:\\[$s][*+?]?|[A-Z\p{Sc} ])*\((?!\?:)|(?<![\p{L}\d])[-−]\p{L}+(?:\\\.)? ?\((?!\?:)|\)[A-Z\p{Sc} ]*[-−](?![?*])|\\\(/u;

/** A debt must not pass for what is left: nothing is read where a pattern leaves out the minus of its group. */
function amountPart(text: string, pattern: RegExp): string | undefined {
  const match = matchGroup(text, pattern);
  if (match === null) return undefined;
  const { part, at } = match;
  const isOwed =
    minusBefore.test(text.slice(0, at)) ||
    minusAfter.test(text.slice(at + part.length)) ||
    inBrackets.test(text);
  return isOwed && !namesMinus.test(pattern.source) ? undefined : part;
}

export function sayCount({ text }: Path, count: number): string {
  return count === 0 ? answers.missing({ path: text }) : answers.many({ path: text, count: String(count) });
}

function readDecimal({ value, digits }: Found, how: AmountDescription): Decimal | null {
  const text = digits ?? (typeof value === 'string' ? amountText(value, how) : null);
  return text === null ? null : parseDecimal(text);
}

/** A text as the digits of a JSON number; null where it is none in the form that the description says. */
function amountText(text: string, { pattern, decimal, thousands }: AmountDescription): string | null {
  const part = (pattern === undefined ? text : amountPart(text, pattern))?.trim();
  if (part === undefined) return null;
  const places = part.split(decimal);
  const [whole = '', fraction] = places;
  if (places.length > 2) return null;
  const digits = thousands === undefined ? whole : withoutThousands(whole, thousands);
  if (digits === null || (decimal !== '.' && digits.includes('.'))) return null;
  // Some write ".50": it must not be unreadable just when less than one is left.
  return fraction === undefined ? digits : `${digits.replace(/^-?$/, '$&0')}.${fraction}`;
}

/** Groups of three digits, or of two before the last as in India; without any separator as well. `0,500` is less than one, not 500. */
function withoutThousands(whole: string, separator: string): string | null {
  const [first = '', ...groups] = whole.split(separator);
  const last = groups.at(-1);
  const areGroups =
    last === undefined ||
    (/^-?[1-9]\d{0,2}$/.test(first) &&
      /^\d{3}$/.test(last) &&
      groups.every((group) => /^\d{2,3}$/.test(group)));
  return areGroups ? first + groups.join('') : null;
}
