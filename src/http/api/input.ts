import * as z from 'zod';
import { parseDuration } from '../../domain/duration.ts';
import type { Refusal, SilenceOrder } from '../../domain/operator.ts';
import type { Matcher } from '../../domain/rule.ts';
import type { Severity } from '../../domain/severity.ts';
import { longestSilenceMs } from '../../engine/operate.ts';
import { RequestError } from '../reply.ts';
import { type matchSchema, silenceOrderSchema } from './schema.ts';

/** Checks input against its schema; refuses with one sentence that names each place and never quotes a value. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`,
  );
  throw new RequestError('bad_request', problems.join('; '));
}

/** The silence that a body orders. Refuses windows that end before they begin, are over, or last longer than a year. */
export function parseSilenceOrder(body: unknown, now: number): SilenceOrder {
  const input = parseInput(silenceOrderSchema, body);
  const startsAt = input.startsAt === undefined ? now : Date.parse(input.startsAt);
  const endsAt = readEnd(input, startsAt);
  if (endsAt <= Math.max(startsAt, now))
    throw new RequestError('bad_request', 'The silence would be over already.');
  if (endsAt - startsAt > longestSilenceMs)
    throw new RequestError('bad_request', 'A silence may last a year at most.');
  return {
    match: toMatcher(input.match),
    startsAt,
    endsAt,
    by: input.by ?? 'api',
    comment: input.comment ?? '',
  };
}

/**
 * An instant given as ISO 8601 (UTC where it names no zone), as milliseconds since 1970, or as a duration
 * before `now`; null when absent.
 */
export function parseInstant(text: string | null, name: string, now: number): number | null {
  if (text === null || text === '') return null;
  const duration = parseDuration(text);
  if (duration !== null) return now - duration;
  const at = /^\d{12,14}$/.test(text) ? Number(text) : parseIso(text);
  if (!Number.isFinite(at))
    throw new RequestError('bad_request', `${name}: give an ISO 8601 time, or a duration ago such as "7d"`);
  return at;
}

const isoForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** NaN for what is no instant, days that no month has among them. */
function parseIso(text: string): number {
  // A plus that nobody escaped has become a space on the way.
  const given = text.replace(/(T[\d:.]+) (\d{2}:\d{2})$/, '$1+$2');
  const [, date, zone] = isoForm.exec(given) ?? [];
  if (date === undefined) return Number.NaN;
  const midnight = Date.parse(date);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return Number.NaN;
  return Date.parse(given.includes('T') && zone === undefined ? `${given}Z` : given);
}

/** A whole number of the query within bounds; the default when absent. */
export function parseCount(
  text: string | null,
  limits: {
    readonly name: string;
    readonly least: number;
    readonly most: number;
    readonly otherwise: number;
  },
): number {
  if (text === null || text === '') return limits.otherwise;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= limits.least && count <= limits.most) return count;
  throw new RequestError(
    'bad_request',
    `${limits.name}: give a whole number from ${limits.least} to ${limits.most}`,
  );
}

/** Hands on what the views gave, or its refusal as an error. */
export function accept<T extends object | null>(result: T | Refusal): Exclude<T, Refusal> {
  if (result === null || !('refused' in result)) return result as Exclude<T, Refusal>;
  const codes = { 'not-found': 'not_found', invalid: 'bad_request', 'not-now': 'not_now' } as const;
  throw new RequestError(codes[result.refused], result.why);
}

function readEnd(input: z.infer<typeof silenceOrderSchema>, startsAt: number): number {
  if ((input.for === undefined) === (input.endsAt === undefined)) {
    throw new RequestError('bad_request', 'Give either "for" (such as "2h") or "endsAt".');
  }
  if (input.endsAt !== undefined) return Date.parse(input.endsAt);
  const duration = parseDuration(input.for ?? '');
  if (duration === null || duration <= 0)
    throw new RequestError('bad_request', 'for: give a duration such as "90m" or "2h"');
  return startsAt + duration;
}

function toMatcher(match: z.infer<typeof matchSchema>): Matcher {
  return {
    ...(match.account === undefined ? {} : { account: list(match.account) }),
    ...(match.rule === undefined ? {} : { rule: list(match.rule) }),
    ...(match.severity === undefined ? {} : { severity: list<Severity>(match.severity) }),
    ...(match.labels === undefined
      ? {}
      : {
          labels: Object.fromEntries(Object.entries(match.labels).map(([key, value]) => [key, list(value)])),
        }),
  };
}

function list<T extends string>(value: T | readonly T[]): readonly T[] {
  return typeof value === 'string' ? [value] : value;
}
