import { longestRetryAfterMs } from '../domain/retry-after.ts';
import { type HttpAnswer, jsonOf } from './http-answer.ts';

/** The whole number that stands at a key of the answer's JSON; null where none does. */
export function numberAt(answer: HttpAnswer, key: string): number | null {
  const value = jsonOf(answer)?.[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

/** Code and text of an answer as people may look them up: `310000 keywords not in content`. */
export function quoteCode(answer: HttpAnswer, codeKey: string, textKey: string): string {
  const code = numberAt(answer, codeKey);
  const text = jsonOf(answer)?.[textKey];
  return code === null ? '' : `${code}${typeof text === 'string' ? ` ${text}` : ''}`;
}

/** A wait that an answer tells in seconds, in milliseconds and at most an hour. */
export function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  if (typeof seconds !== 'number' || !(seconds > 0)) return null;
  return Math.min(Math.ceil(seconds * 1000), longestRetryAfterMs);
}
