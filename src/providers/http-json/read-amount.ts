import type { Micros } from '../../domain/money.ts';
import {
  addDecimals,
  type Decimal,
  multiplyDecimals,
  negateDecimal,
  parseDecimal,
  toMicros,
} from './decimal.ts';
import type { AmountDescription } from './description.ts';
import type { ExactJson, Found, Path } from './json-path.ts';
import { maxPatternInput } from './pattern.ts';

/** A value, or why there is none: a sentence that names the path and what stood there. */
export type Read<T> = { readonly value: T } | { readonly wrong: string };

/** Says what stands somewhere in an answer, short and without secrets. */
export type Quote = (value: unknown) => string;

/** The amount that is left, exact: (amount + plus − minus) · scale, rounded once. */
export function readAmount(answer: ExactJson, how: AmountDescription, quote: Quote): Read<Micros> {
  const read = (path: Path, mayBeMany: boolean): Read<Decimal> => {
    const found = answer.find(path);
    if (found.length === 0 || (found.length > 1 && !mayBeMany))
      return { wrong: sayCount(path, found.length) };
    return addAll(found.map((each) => readDecimal(each, path, { how, quote })));
  };
  const terms = [read(how.amount, how.sum)];
  if (how.plus !== undefined) terms.push(read(how.plus, false));
  if (how.minus !== undefined) terms.push(negated(read(how.minus, false)));
  const total = addAll(terms);
  if ('wrong' in total) return total;
  const micros = toMicros(how.scale === undefined ? total.value : multiplyDecimals(total.value, how.scale));
  return micros === null ? { wrong: `${how.amount.text} is out of range` } : { value: micros };
}

/** The part of a text that a pattern's group matches; null where it does not match or the text is too long to try. */
export function matchGroup(text: string, pattern: RegExp): string | null {
  return text.length > maxPatternInput ? null : (pattern.exec(text)?.[1] ?? null);
}

export function sayCount({ text }: Path, count: number): string {
  return count === 0
    ? `${text} is not in the answer`
    : `${text} stands in ${count} places of the answer; expected one`;
}

function addAll(terms: readonly Read<Decimal>[]): Read<Decimal> {
  let total: Decimal = { units: 0n, places: 0 };
  for (const term of terms) {
    if ('wrong' in term) return term;
    total = addDecimals(total, term.value);
  }
  return { value: total };
}

function negated(read: Read<Decimal>): Read<Decimal> {
  return 'wrong' in read ? read : { value: negateDecimal(read.value) };
}

function readDecimal(
  { value, digits }: Found,
  path: Path,
  { how, quote }: { readonly how: AmountDescription; readonly quote: Quote },
): Read<Decimal> {
  const text = digits ?? (typeof value === 'string' ? amountText(value, how) : null);
  const decimal = text === null ? null : parseDecimal(text);
  return decimal === null
    ? { wrong: `${path.text} is ${quote(value)}; expected an amount` }
    : { value: decimal };
}

/** A text as the digits of a JSON number; null where it is none in the form that the description says. */
function amountText(text: string, { pattern, decimal, thousands }: AmountDescription): string | null {
  const part = (pattern === undefined ? text : matchGroup(text, pattern))?.trim();
  if (part === undefined) return null;
  const places = part.split(decimal);
  const [whole = '', fraction] = places;
  if (places.length > 2) return null;
  const digits = thousands === undefined ? whole : withoutThousands(whole, thousands);
  if (digits === null || (decimal !== '.' && digits.includes('.'))) return null;
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** Groups of three digits, or of two before the last as in India; without any separator as well. */
function withoutThousands(whole: string, separator: string): string | null {
  const [first = '', ...groups] = whole.split(separator);
  const last = groups.at(-1);
  const areGroups =
    last === undefined ||
    (/^-?\d{1,3}$/.test(first) && /^\d{3}$/.test(last) && groups.every((group) => /^\d{2,3}$/.test(group)));
  return areGroups ? first + groups.join('') : null;
}
