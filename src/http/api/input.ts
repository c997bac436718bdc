import { createHash } from 'node:crypto';
import * as z from 'zod';
import { parseJson } from '../../domain/json.ts';
import { isRefusal, type Refusal } from '../../domain/operator.ts';
import { isDay, parseDuration } from '../../domain/time.ts';
import type { Views } from '../../views/create-views.ts';
import type { AccountView } from '../../views/views.ts';
import { RequestError, refusals } from '../refusal.ts';

/** Checks input against its schema. The refusal is one sentence that names each place and never quotes a value. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw refuseInput(parsed.error);
}

export function refuseInput(error: z.core.$ZodError): RequestError {
  return new RequestError('bad_request', error.issues.flatMap(describeIssue).join('; '));
}

function describeIssue(issue: z.core.$ZodIssue): readonly string[] {
  const at = (path: readonly PropertyKey[]): string =>
    path.length === 0 ? '' : `${z.core.toDotPath(path)}: `;
  // The message has a line for each key that is unknown.
  if (issue.code === 'unrecognized_keys')
    return issue.message
      .split('\n')
      .map((words, index) => `${at([...issue.path, issue.keys[index] ?? ''])}${words}`);
  return [`${at(issue.path)}${issue.message}`];
}

/** Reads ISO 8601 (UTC if it has no zone) or a duration before `now`, as milliseconds since 1970; null if absent. */
export function parseInstant(text: string | undefined, name: string, now: number): number | null {
  if (text === undefined || text === '') return null;
  const duration = parseDuration(text);
  if (duration !== null) return now - duration;
  const at = /^\d{12,14}$/.test(text) ? Number(text) : parseIso(text);
  if (!Number.isFinite(at))
    throw new RequestError('bad_request', refusals.field({ name, problem: refusals.instant() }));
  return at;
}

const isoForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** NaN for text that is not an instant, or a day that does not exist. */
function parseIso(text: string): number {
  // A plus sign that was not escaped has become a space.
  const given = text.replace(/(T[\d:.]+) (\d{2}:\d{2})$/, '$1+$2');
  const [, date, zone] = isoForm.exec(given) ?? [];
  if (date === undefined || !isDay(date)) return Number.NaN;
  return Date.parse(given.includes('T') && zone === undefined ? `${given}Z` : given);
}

/** A whole number of the query within bounds. */
export function count(least: number, most: number) {
  const error = refusals.wholeNumber({ least, most });
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error });
}

/** Returns what the views gave, or throws its refusal as an error. */
export function accept<T extends object | null>(result: T | Refusal): Exclude<T, Refusal> {
  if (!isRefusal(result)) return result as Exclude<T, Refusal>;
  const codes = {
    'not-found': 'not_found',
    invalid: 'bad_request',
    'not-now': 'not_now',
    changed: 'changed',
    repeated: 'changed',
  } as const;
  throw new RequestError(codes[result.refused], result.why);
}

export async function findAccount(views: Pick<Views, 'account'>, id: string): Promise<AccountView> {
  const account = await views.account(id);
  if (account === null) throw new RequestError('not_found', refusals.noAccount());
  return account;
}

export const maxItems = 1_000;

export const pagingQuery = {
  limit: count(1, maxItems).optional().describe('How many at most'),
  cursor: z.string().max(500).optional().describe('The `nextCursor` of the page before'),
};

/** The parameters of lists that are read from the newest item on. */
export const recentQuery = { ...pagingQuery, limit: count(1, maxItems).default(100) };

export const nextCursor = z
  .string()
  .nullable()
  .describe('Give it as `cursor` for the next page; null after the last one');

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const placeInList = z.tuple([z.int().positive(), z.string()], z.string());
const placeInTime = z.tuple([z.number(), z.int().nonnegative()]);

/** The number of items that a cursor remembers: if the last one has gone, the next page begins after the one before it. */
const maxKnown = 20;

/** All items if there is no limit. If everything that the cursor remembers has gone, the list begins again: better twice than not at all. */
export function pageOfList<T>(
  all: readonly T[],
  { limit, cursor }: PageQuery,
  keyOf: (item: T) => string,
): Page<T> {
  const markOf = (item: T) => createHash('sha1').update(keyOf(item)).digest('base64url').slice(0, 8);
  let start = 0;
  if (cursor != null) {
    const [end, ...known] = readCursor(cursor, placeInList);
    // The quick check: usually nothing has gone.
    const before = all.slice(end - 1, end).map(markOf);
    const marks = before[0] === known.at(-1) ? null : all.map(markOf);
    start = marks === null ? end : marks.indexOf(known.findLast((mark) => marks.includes(mark)) ?? '') + 1;
  }
  const end = Math.min(all.length, start + (limit ?? all.length));
  const known = all.slice(Math.max(0, end - maxKnown), end).map(markOf);
  return { items: all.slice(start, end), nextCursor: end < all.length ? writeCursor([end, ...known]) : null };
}

/** `read` returns the newest `limit` items before an instant. Several may share one instant, so the cursor counts those already given. */
export async function pageOfTime<T>(
  { limit, cursor }: PageQuery & { readonly limit: number },
  read: (query: { readonly limit: number; readonly before: number }) => Promise<readonly T[]>,
  atOf: (item: T) => number,
): Promise<Page<T>> {
  const [at, given] = cursor == null ? [null, 0] : readCursor(cursor, placeInTime);
  const before = at === null ? Number.MAX_SAFE_INTEGER : at + 1;
  const found = (await read({ limit: given + limit + 1, before })).slice(given);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || found.length <= limit) return { items, nextCursor: null };
  const lastAt = atOf(last);
  const same = items.filter((item) => atOf(item) === lastAt).length + (lastAt === at ? given : 0);
  return { items, nextCursor: writeCursor([lastAt, same]) };
}

export function writeCursor(place: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function readCursor<T>(cursor: string, schema: z.ZodType<T>): T {
  const place = parseCursor(cursor, schema);
  if (place !== null) return place;
  throw new RequestError('bad_request', refusals.field({ name: 'cursor', problem: refusals.cursor() }));
}

/** The content of a cursor; null if `writeCursor` did not write it with this schema. */
export function parseCursor<T>(cursor: string, schema: z.ZodType<T>): T | null {
  return schema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))).data ?? null;
}
