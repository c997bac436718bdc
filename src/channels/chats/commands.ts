import { dayMs, parseDuration } from '../../domain/duration.ts';
import { instantOfWall, isDay, isoDay } from '../../domain/moment.ts';
import type { Micros } from '../../domain/money.ts';
import type { Reader } from '../../wording/moments.ts';
import { readTypedAmount } from '../../wording/typed-amount.ts';

/** A text to the bot. `unknown` is one that is no command. */
export type Command =
  | { readonly kind: 'status' | 'pay' | 'help' | 'unknown' }
  /** A command, but for one word of it. */
  | { readonly kind: 'unclear'; readonly about: 'amount' | 'day' | 'time'; readonly said: string }
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

const unknown: Command = { kind: 'unknown' };

function notRead(about: 'amount' | 'day' | 'time', said: string): Command {
  return said === '' ? unknown : { kind: 'unclear', about, said };
}

/** Reads `quiet otp 2h load test`, `ordered otp 1400 by friday`, and so on, with or without a slash before it. */
export function readCommand(text: string, reader: Reader): Command {
  const [first = '', account = '', ...rest] = text.trim().split(/\s+/);
  const verb = first.replace(/^\//, '').replace(/@\w+$/, '').toLowerCase();
  if (verb === 'status' || verb === 'pay' || verb === 'help') return { kind: verb };
  if (verb === 'start' || verb === '') return { kind: 'help' };
  if (account === '') return unknown;
  if (verb === 'why' || verb === 'take') return { kind: verb, account, rule: rest[0] ?? null };
  if (verb === 'quiet') return readQuiet(account, rest);
  return verb === 'ordered' ? readOrdered(account, rest, reader) : unknown;
}

function readQuiet(account: string, [length = '', ...comment]: readonly string[]): Command {
  const forMs = parseDuration(length.toLowerCase());
  return forMs === null || forMs <= 0
    ? notRead('time', length)
    : { kind: 'quiet', account, forMs, comment: comment.join(' ') };
}

function readOrdered(account: string, [amount = '', ...rest]: readonly string[], reader: Reader): Command {
  const micros = readAmount(amount, reader);
  if (micros === null) return notRead('amount', amount);
  const isAgain = rest.at(-1)?.toLowerCase() === 'again';
  const words = isAgain ? rest.slice(0, -1) : rest;
  if (words[0]?.toLowerCase() !== 'by')
    return { kind: 'ordered', account, micros, by: null, isAgain, comment: words.join(' ') };
  const [, day = ''] = words;
  const by = readDay(day, reader);
  return by === null
    ? notRead('day', day)
    : { kind: 'ordered', account, micros, by, isAgain, comment: words.slice(2).join(' ') };
}

export function readAmount(text: string, { language }: Pick<Reader, 'language'>): Micros | null {
  const micros = readTypedAmount(text, language);
  return micros !== null && micros > 0 ? micros : null;
}

/** The end of a day: `friday`, `fri`, the reader's own word for it, `tomorrow` or `2026-11-27`; null for anything else. */
export function readDay(text: string, { now, timezone, language }: Reader): number | null {
  const word = text.toLowerCase();
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
