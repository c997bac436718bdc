import * as z from 'zod';
import { parseJson } from '../../domain/json.ts';
import { RequestError } from '../refusal.ts';
import { count } from './input.ts';

export const maxItems = 1_000;

export const pagingQuery = {
  limit: count(1, maxItems).optional().meta({ description: 'How many at most' }),
  cursor: z.string().max(500).optional().meta({ description: 'The `nextCursor` of the page before' }),
};

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Give it as `cursor` for the next page; null after the last one' });

export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const placeInList = z.tuple([z.string(), z.int().nonnegative()]);
const placeInTime = z.tuple([z.number(), z.int().nonnegative()]);

/**
 * One page of what is in memory; everything without a limit. The cursor names the last item that was given,
 * and its number where that has gone meanwhile.
 */
export function pageOfList<T>(
  all: readonly T[],
  { limit, cursor }: PageQuery,
  keyOf: (item: T) => string,
): Page<T> {
  let start = 0;
  if (cursor !== undefined) {
    const [key, index] = readCursor(cursor, placeInList);
    const found = all.findIndex((item) => keyOf(item) === key);
    start = found < 0 ? index : found + 1;
  }
  const items = all.slice(start, start + (limit ?? all.length));
  const last = items.at(-1);
  const end = start + items.length;
  const more = last !== undefined && end < all.length;
  return { items, nextCursor: more ? writeCursor([keyOf(last), end]) : null };
}

/**
 * One page of what is read from the newest to the oldest. `read` gives the newest `limit` before an instant;
 * several items may share one, so the cursor counts those that were given.
 */
export async function pageOfTime<T>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (query: { readonly limit: number; readonly before: number }) => Promise<readonly T[]>,
  atOf: (item: T) => number,
): Promise<Page<T>> {
  const [at, given] = cursor === undefined ? [null, 0] : readCursor(cursor, placeInTime);
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
  throw new RequestError('bad_request', 'cursor: give the nextCursor of an answer');
}

/** What a cursor holds; null where `writeCursor` did not write it so. */
export function parseCursor<T>(cursor: string, schema: z.ZodType<T>): T | null {
  return schema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))).data ?? null;
}
