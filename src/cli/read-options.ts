import { maxSaidLength } from '../domain/operator.ts';
import type { BalanceDefinition } from '../domain/reading.ts';
import { formatDuration, instantOfWall, isDay, maxDurationMs, parseDuration } from '../domain/time.ts';
import { didYouMean, listFirst } from '../wording/lists.ts';
import type { Names } from './backend.ts';
import { type CommandInput, type OptionSpec, UsageError } from './command.ts';

/** A duration such as `2h`, in milliseconds; null when the option was not given. */
export function readDuration(input: CommandInput, name: string): number | null {
  const text = input.option(name);
  if (text === null) return null;
  const durationMs = parseDuration(text);
  if (durationMs === null || durationMs <= 0)
    throw new UsageError(`--${name} ${text} is not a valid duration`, 'write it as 90s, 5m, 1h30m or 2d');
  if (durationMs > maxDurationMs)
    throw new UsageError(`--${name} must be at most ${formatDuration(maxDurationMs)}`);
  return durationMs;
}

/**
 * An instant: a duration before now (`7d`), or a date or time in ISO 8601 (`2026-11-01`,
 * `2026-11-01T08:00Z`). Without a zone it is in the configuration's zone; a date alone means its midnight. Null if the option
 * was not given.
 */
export function readInstant(
  input: CommandInput,
  name: string,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): number | null {
  const text = input.option(name);
  if (text === null) return null;
  const durationMs = parseDuration(text);
  // Limited to the first instant: nothing is older, and a date so long ago has no year of four digits.
  if (durationMs !== null && durationMs > 0) return Math.max(0, now - durationMs);
  const wall = parseWall(text);
  if (wall !== null) return wall.isInstant ? wall.at : instantOfWall(wall.at, timezone);
  throw new UsageError(
    `--${name} ${text} is neither a duration nor a date`,
    'write it as 7d, 12h, 2026-11-01 or 2026-11-01T08:00Z',
  );
}

/** A date of the wall clock or an instant, past or future. A date alone means its beginning, or with `isEnd` its end. */
export function readMoment(
  input: CommandInput,
  name: string,
  timezone: string,
  { isEnd = false }: { readonly isEnd?: boolean } = {},
): number | null {
  const text = input.option(name);
  if (text === null) return null;
  const wall = parseWall(text);
  if (wall === null)
    throw new UsageError(`--${name} ${text} is not a date`, 'write it as 2026-11-26 or 2026-11-26T17:00');
  if (wall.isInstant) return wall.at;
  return instantOfWall(wall.at + (wall.isDay && isEnd ? 86_399_000 : 0), timezone);
}

/** A date or time in ISO 8601. Without a zone, `at` is the local time as if it were UTC. Null for any other text. */
function parseWall(text: string) {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  const [, day = '', time, zone] = match ?? [];
  const at = isDay(day) ? Date.parse(`${day}T${time ?? '00:00'}${zone ?? 'Z'}`) : Number.NaN;
  return Number.isFinite(at) ? { at, isInstant: zone !== undefined, isDay: time === undefined } : null;
}

/** One of an account's balances, its first by default. */
export function readBalance(input: CommandInput, balances: readonly BalanceDefinition[]): BalanceDefinition {
  const text = input.option('balance');
  const balance = text === null ? balances[0] : balances.find(({ id }) => id === text);
  if (balance !== undefined) return balance;
  throw new UsageError(`--balance ${text}: the account has ${balances.map(({ id }) => id).join(' and ')}`);
}

export function readPort(input: CommandInput, fallback: number): number {
  const text = input.option('port');
  if (text === null) return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port ${text}: a port is a number from 0 to 65535, 0 takes any free one`);
}

/** One of the words that the option allows; null when it was not given. */
export function readChoice<Word extends string>(
  input: CommandInput,
  name: string,
  words: readonly Word[],
): Word | null {
  const text = input.option(name);
  if (text === null) return null;
  const word = words.find((known) => known === text);
  if (word === undefined) throw new UsageError(`--${name} ${text}: choose ${words.join(', ')}`);
  return word;
}

/** The words of a person with an order: daemon and database accept no longer ones. */
export function saidOption(value: 'NAME' | 'TEXT', summary: string): OptionSpec {
  return { value, summary, maxLength: maxSaidLength };
}

export const byOption = saidOption('NAME', 'who says so; default the user who types');

/** The name, if it is one of those that are known. Throws otherwise. */
export function requireKnown(what: string, known: readonly string[], name: string): string {
  if (known.includes(name)) return name;
  const hint = known.length === 0 ? 'the configuration has none' : suggest(name, known);
  throw new UsageError(`there is no ${what} "${name}"`, hint);
}

/** Throws for a rule that is neither configured nor about lowwater or a whole provider: it would match nothing. */
export async function requireRule(
  { rules, channels }: Pick<Names, 'rules' | 'channels'>,
  id: string,
): Promise<void> {
  const { selfAlertRules, severalSelfAlerts } = await import('../rules/registry.ts');
  if (!selfAlertRules(channels).includes(id) && !severalSelfAlerts.test(id)) requireKnown('rule', rules, id);
}

/** Says that an id is unknown, with the nearest of those that are known. */
export function unknownId(missing: string, known: readonly string[], id: string): string {
  return known.length === 0 ? missing : `${missing}: ${suggest(id, known)}`;
}

/** `did you mean "otp"?`, or all names if there are few. */
export function suggest(typed: string, known: readonly string[]): string {
  return didYouMean(typed, known) ?? `there are${known.length > 10 ? '' : ':'} ${listFirst(known)}`;
}
