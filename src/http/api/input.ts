import * as z from 'zod';
import { parseDuration } from '../../domain/duration.ts';
import { isoText } from '../../domain/moment.ts';
import type { Refusal } from '../../domain/operator.ts';
import type { AccountView, Views } from '../../views/views.ts';
import { RequestError } from '../refusal.ts';

/** Checks input against its schema; refuses with one sentence that names each place and never quotes a value. */
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

/**
 * An instant given as ISO 8601 (UTC where it names no zone), as milliseconds since 1970, or as a duration
 * before `now`; null when absent.
 */
export function parseInstant(text: string | undefined, name: string, now: number): number | null {
  if (text === undefined || text === '') return null;
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
  if (Number.isNaN(midnight) || !isoText(midnight).startsWith(date)) return Number.NaN;
  return Date.parse(given.includes('T') && zone === undefined ? `${given}Z` : given);
}

/** A whole number of the query within bounds. */
export function count(least: number, most: number) {
  const error = `give a whole number from ${least} to ${most}`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error });
}

/** Hands on what the views gave, or its refusal as an error. */
export function accept<T extends object | null>(result: T | Refusal): Exclude<T, Refusal> {
  if (result === null || !('refused' in result)) return result as Exclude<T, Refusal>;
  const codes = {
    'not-found': 'not_found',
    invalid: 'bad_request',
    'not-now': 'not_now',
    changed: 'changed',
  } as const;
  throw new RequestError(codes[result.refused], result.why);
}

export async function findAccount(views: Pick<Views, 'account'>, id: string): Promise<AccountView> {
  const account = await views.account(id);
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}
