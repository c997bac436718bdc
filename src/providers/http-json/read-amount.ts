import type { Micros } from '../../domain/money.ts';
import { answers } from '../answers.ts';
import { addDecimals, type Decimal, multiplyDecimals, parseDecimal, toMicros } from './decimal.ts';
import type { AmountDescription } from './description.ts';
import type { ExactJson, Found, Path } from './json-path.ts';
import { maxPatternInput } from './pattern.ts';

/** A value, or the reason why there is none: a sentence with the path and what was found there. */
export type Read<T> = { readonly value: T } | { readonly wrong: string };

export type Quote = (value: unknown) => string;

/** The remaining amount, exact: (amount + plus − minus) · scale, rounded once. */
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
      if (typeof decimal === 'string')
        return { wrong: answers[decimal]({ path: path.text, value: quote(each.value) }) };
      total = addDecimals(total, { ...decimal, units: sign * decimal.units });
    }
  }
  const micros = toMicros(how.scale === undefined ? total : multiplyDecimals(total, how.scale));
  return micros === null ? { wrong: answers.outOfRange({ path: how.amount.text }) } : { value: micros };
}

interface Match {
  readonly part: string;
  readonly at: number;
}

/** The part of a text that a pattern's group matches, and where it begins; null if nothing matches, or if the text is too long to try. */
export function matchGroup(text: string, pattern: RegExp): Match | null {
  const match = text.length > maxPatternInput ? null : pattern.exec(text);
  const [at, end] = match?.indices?.[1] ?? [];
  return at === undefined ? null : { part: text.slice(at, end), at };
}

const currency = String.raw`(?:\p{Sc}|[A-Z]{3})`;
/** Digits of an amount that a pattern left out of its group. */
const digits = String.raw`[\d.,'’]*`;
const someOf = (...forms: readonly string[]) => new RegExp(`(?:${forms.join('|')})`, 'u');
/** A minus before an amount. A hyphen between spaces is a dash between words, unless nothing or a bare currency is before it. */
const minusBefore = someOf(
  // -12.50, -€12.50, -€ 12.50, -1,234.50
  String.raw`[-−–－](?:\p{Sc}\s?)?$`,
  String.raw`(?<![\p{L}\d])[-−]\p{Sc}?\d${digits}$`,
  // -KES 12.50, -kr 12.50, -CA$12.50
  String.raw`(?<!\S)[-−]\p{L}{1,4}\.?\p{Sc}?\s?$`,
  // - 12.50, EUR - 12.50, Left: - €12.50
  String.raw`(?:^|[:=])\s*${currency}?\s*[-–]\s+(?:${currency}\s?)?$`,
  String.raw`−\s+(?:${currency}\s?)?$`,
);
/** A minus after an amount, as accountants write it. */
const minusAfter = someOf(
  // 12.50-, 12.50 EUR-, 12.50 EUR -
  String.raw`^(?:\s?${currency})?[-−–](?![\p{L}\d])`,
  String.raw`^(?:\s?${currency})?\s[-−–]\s*$`,
  // 12.50-EUR, 12.50 DR
  String.raw`^\s?[-−–]${currency}(?!\p{L})`,
  String.raw`^(?:\s?${currency})?\s?D[Rr](?!\p{L})`,
);
const bracketBefore = someOf(String.raw`\(\s*(?:${currency}\s?)?${digits}$`);
const bracketAfter = someOf(String.raw`^${digits}(?:\s?${currency})?\s*\)`);
const namesMinus =
  /[-−](?:\\[$s][*+?]?|[A-Z\p{Sc} ])*\((?!\?:)|(?<![\p{L}\d])[-−]\p{L}+(?:\\\.)? ?\((?!\?:)|\)[A-Z\p{Sc} ]*(?:[-−]|D[Rr])(?![?*])|\\\((?![?*])/u;

/** The text with a usual hyphen and brackets of usual width in place of their look-alikes. */
function usual(text: string): string {
  return text.normalize('NFKC').replace(/[\u2010\u2012]/g, '-');
}

/** A debt must not pass for a remaining amount: nothing is read if a pattern leaves the minus out of its group. */
function isDebtLeftOut(text: string, { source }: RegExp, { part, at }: Match): boolean {
  const [before, after] = [usual(text.slice(0, at)), usual(text.slice(at + part.length))];
  const isOwed =
    minusBefore.test(before) ||
    minusAfter.test(after) ||
    (bracketBefore.test(before) && bracketAfter.test(after));
  return isOwed && !/^\s*[-−]/.test(part) && !namesMinus.test(usual(source.replaceAll('（', '\\(')));
}

export function sayCount({ text }: Path, count: number): string {
  return count === 0 ? answers.missing({ path: text }) : answers.many({ path: text, count: String(count) });
}

/** A decimal, or the key in `answers` of the reason why there is none. */
function readDecimal({ value, digits }: Found, how: AmountDescription): Decimal | 'noAmount' | 'debt' {
  if (typeof value !== 'string') return (digits === null ? null : parseDecimal(digits)) ?? 'noAmount';
  const { pattern } = how;
  const match = pattern === undefined ? { part: value, at: 0 } : matchGroup(value, pattern);
  if (match === null) return 'noAmount';
  if (pattern !== undefined && isDebtLeftOut(value, pattern, match)) return 'debt';
  const text = amountText(match.part.trim(), how);
  return (text === null ? null : parseDecimal(text)) ?? 'noAmount';
}

/** A text as the digits of a JSON number; null if it is no number in the form of the description. */
function amountText(part: string, { decimal, thousands }: AmountDescription): string | null {
  const places = part.split(decimal);
  const [whole = '', fraction] = places;
  if (places.length > 2) return null;
  const digits = thousands === undefined ? whole : withoutThousands(whole, thousands);
  if (digits === null || (decimal !== '.' && digits.includes('.'))) return null;
  // Some write ".50": it must not be unreadable just when less than one is left.
  return fraction === undefined ? digits : `${digits.replace(/^-?$/, '$&0')}.${fraction}`;
}

/** A number without its separators, between groups of three digits, or of two before the last as in India. `0,500` is less than one, not 500. */
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
