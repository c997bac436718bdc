import { maxRetryAfterMs, readRetryAfter as readRetryAfterHeader } from '../domain/backoff.ts';
import { parseJsonObject } from '../domain/json.ts';

/** What a receiver answered. Header names are in lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The connection was lost before the body's end: what is missing might have said something else. */
  readonly isCut?: boolean;
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The body as a JSON object; null where it is none. */
export function jsonOf({ body }: HttpAnswer): Readonly<Record<string, unknown>> | null {
  return parseJsonObject(body);
}

/** What the answer asks to wait, in milliseconds from now, at most an hour; null where it says nothing useful. */
export function readRetryAfter(answer: Pick<HttpAnswer, 'headers'>, now: number): number | null {
  return readRetryAfterHeader(answer.headers, { now, maxMs: maxRetryAfterMs });
}
