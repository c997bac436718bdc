import { currencyCode, isSameCurrency, type Micros } from '../../domain/money.ts';
import { cleanText, narrowed } from '../../domain/plain-text.ts';
import { dayMs, instantOfWall, isDay, isoDay, parseDuration } from '../../domain/time.ts';
import type { Reader } from '../../wording/moments.ts';
import type { Listener } from '../../wording/phrase.ts';
import { readTypedAmount } from '../../wording/typed-amount.ts';

/** A text to the bot; `unknown` if it is no command. */
export type Command =
  | { readonly kind: 'status' | 'pay' | 'help' | 'unknown' }
  | Unclear
  | { readonly kind: 'why' | 'take'; readonly account: string; readonly rule: string | null }
  | { readonly kind: 'quiet'; readonly account: string; readonly forMs: number; readonly comment: string }
  | {
      readonly kind: 'ordered';
      readonly account: string;
      readonly micros: Micros;
      /** Null: after the lead time. */
      readonly by: number | null;
      /** Another payment, although one is expected. */
      readonly isAgain: boolean;
      readonly comment: string;
    };

/** A command of which one word cannot be understood. `currency`: that of the account, if another one was written. */
export interface Unclear {
  readonly kind: 'unclear';
  readonly about: 'amount' | 'currency' | 'day' | 'time';
  readonly said: string;
  readonly currency?: string;
}

const unknown: Command = { kind: 'unknown' };

function notRead(about: 'amount' | 'day' | 'time', said: string): Command {
  return said === '' ? unknown : { kind: 'unclear', about, said };
}

/**
 * Reads commands such as `quiet otp 2h load test` or `ordered otp 1400 CNY by friday`, with or without a slash before them. `currencyOf`: the
 * currency in which the account of that name is paid; empty if unknown.
 */
export function readCommand(text: string, reader: Reader, currencyOf: (account: string) => string): Command {
  const [first = '', called = '', ...rest] = text.trim().split(/\s+/);
  const verb = narrow(first).replace(/^\//, '').replace(/@\w+$/, '').toLowerCase();
  const account = narrow(called);
  if (verb === 'status' || verb === 'pay' || verb === 'help') return { kind: verb };
  if (verb === 'start' || verb === '') return { kind: 'help' };
  if (account === '') return unknown;
  if (verb === 'why' || verb === 'take')
    return { kind: verb, account, rule: rest[0] === undefined ? null : narrow(rest[0]) };
  if (verb === 'quiet') return readQuiet(account, rest);
  return verb === 'ordered' ? readOrdered(account, rest, reader, currencyOf(account)) : unknown;
}

function readQuiet(account: string, [length = '', ...comment]: readonly string[]): Command {
  const forMs = parseDuration(narrow(length).toLowerCase());
  return forMs === null || forMs <= 0
    ? notRead('time', length)
    : { kind: 'quiet', account, forMs, comment: comment.join(' ') };
}

function readOrdered(account: string, given: readonly string[], reader: Reader, currency: string): Command {
  const { isAgain, words } = readAgain(given);
  const money = readMoney(words, reader, currency);
  if ('kind' in money) return money.said === '' ? unknown : money;
  const { micros, rest } = money;
  const dayAt = rest.findIndex((word, index) => isBy(word) && (index === 0 || dayIn(index + 1) !== null));
  const ordered = { kind: 'ordered', account, micros, isAgain } as const;
  if (dayAt < 0) return { ...ordered, by: null, comment: rest.join(' ') };
  const by = dayIn(dayAt + 1);
  return by === null
    ? notRead('day', rest[1] ?? '')
    : { ...ordered, by, comment: rest.toSpliced(dayAt, 2).join(' ') };

  function dayIn(index: number): number | null {
    return readDay(rest[index] ?? '', reader);
  }
}

/** Whether the text ends with `again`, which asks for another payment although one is expected. */
export function readAgain(given: readonly string[]): {
  readonly isAgain: boolean;
  readonly words: readonly string[];
} {
  const isAgain = given.length > 1 && narrow(given.at(-1) ?? '').toLowerCase() === 'again';
  return { isAgain, words: isAgain ? given.slice(0, -1) : given };
}

function isBy(word = ''): boolean {
  return narrow(word).toLowerCase() === 'by';
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const yuan = '元';
const isSign = new RegExp(`^(?:\\p{Sc}|${yuan})$`, 'u');

/** Splits a currency sign from its amount: `¥500` and `500元` are written without a space too, and with full-width digits. */
function signApart(word: string): readonly string[] {
  const parts = /^(\p{Sc}?)(\d.*?)(\p{Sc}|元)?$/u.exec(cleanText(narrowed(word), maxWord))?.slice(1);
  return parts?.filter(Boolean) ?? [word];
}

const maxWord = 4096;

/** The text without the full width that a Chinese keyboard gives letters, and without the invisible marks that a phone puts around pasted text. */
export function narrow(text: string): string {
  return cleanText(text.normalize('NFKC'), maxWord);
}

/** An amount above 0 with the words after it. The currency of its account may stand before or after it, as messages print it. */
export function readMoney(
  [given = '', ...following]: readonly string[],
  { language }: Listener,
  currency: string,
): { readonly micros: Micros; readonly rest: readonly string[] } | Unclear {
  const words = [...signApart(given), ...following];
  const isOwn = (word: string): boolean => isSameCurrency(word === yuan ? 'CNY' : word, currency);
  const isCurrency = (word = ''): boolean =>
    word !== '' && (isOwn(word) || currencies.has(currencyCode(word)) || isSign.test(word));
  const isFirst = isCurrency(words[0]) && /^\d/.test(words[1] ?? '');
  const [amount = '', next = '', ...others] = isFirst ? words.slice(1) : words;
  const said = /^\d{1,3}$/.test(amount) && /^\d{3}\b/.test(next) ? `${amount} ${next}` : amount;
  const micros = readTypedAmount(said, language);
  if (micros === null || micros <= 0) return { kind: 'unclear', about: 'amount', said };
  // `TOP` is a currency, but the `top` of a top-up is not.
  const isWhole = isOwn(next) || next === next.toUpperCase() || others.length === 0 || isBy(others[0]);
  const isAfter = isCurrency(next) && isWhole;
  const written = [...words.slice(0, isFirst ? 1 : 0), ...(isAfter ? [next] : [])];
  const other = currency === '' ? undefined : written.find((word) => !isOwn(word));
  if (other !== undefined) return { kind: 'unclear', about: 'currency', said: other, currency };
  return { micros, rest: isAfter || next === '' ? others : [next, ...others] };
}

/** The end of a day: `friday`, `fri`, the reader's own word for it, `tomorrow` or `2026-11-27`; null for anything else. */
export function readDay(text: string, { now, timezone, language }: Reader): number | null {
  const word = narrow(text).toLowerCase();
  const today = Date.parse(isoDay(now, timezone));
  const endOf = (day: number): number => instantOfWall(day + dayMs - 60_000, timezone);
  if (/^\d{4}-\d{2}-\d{2}$/.test(word)) return isDay(word) ? endOf(Date.parse(`${word}T00:00Z`)) : null;
  const ahead = ['today', 'tomorrow'].indexOf(word);
  if (ahead >= 0) return endOf(today + ahead * dayMs);
  const names = (id: string, day: number) =>
    (['short', 'long'] as const).map((weekday) =>
      new Intl.DateTimeFormat(id, { weekday, timeZone: 'UTC' }).format(day).toLowerCase(),
    );
  const days = Array.from({ length: 7 }, (_, index) => today + (index + 1) * dayMs);
  const found = days.find((day) => [...names('en', day), ...names(language.id, day)].includes(word));
  return found === undefined ? null : endOf(found);
}
