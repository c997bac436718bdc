import { maxRetryAfterMs } from '../domain/backoff.ts';
import { type HttpAnswer, isSuccess, jsonOf } from '../net/http-answer.ts';
import { strangeSuccess } from './accept.ts';
import { type AnswerRow, type AnswerTable, commonAnswers } from './answers.ts';

/**
 * The answers of a robot that says in the JSON of its body how it went: 0 where it took the message, else one of the codes. What
 * stands in none of the rows is for good.
 */
export function robotAnswers(robot: {
  readonly receiver: string;
  /** Where the code and its text stand. */
  readonly keys: readonly [code: string, text: string];
  /** Who says what 0 means, and that every answer has a code. */
  readonly source: string;
  readonly rows: readonly ({ readonly codes: readonly number[] } & Omit<AnswerRow, 'answer' | 'fits'>)[];
  readonly others: Pick<AnswerRow, 'note' | 'source'>;
  readonly readWait?: AnswerTable['readWait'];
}): AnswerTable {
  const { receiver, source, readWait } = robot;
  const [key, textKey] = robot.keys;
  const codeOf = (answer: HttpAnswer): number | null => numberAt(answer, key);
  return {
    receiver,
    quote: (answer) => quoteCode(answer, key, textKey),
    ...(readWait === undefined ? {} : { readWait }),
    rows: [
      {
        answer: `200, \`${key}\` 0`,
        fits: (answer) => isSuccess(answer) && codeOf(answer) === 0,
        means: 'delivered',
        source,
      },
      ...robot.rows.map(({ codes, ...row }) => ({
        ...row,
        answer: `\`${key}\` ${codes.join(', ')}`,
        fits: (answer: HttpAnswer) => codes.includes(codeOf(answer) ?? 0),
      })),
      {
        answer: `any other \`${key}\``,
        fits: (answer) => (codeOf(answer) ?? 0) !== 0,
        means: 'dead',
        ...robot.others,
      },
      strangeSuccess({
        answer: `2xx without \`${key}\``,
        remedy: `the answer is not from ${receiver}; check the address`,
        source,
      }),
      ...commonAnswers,
    ],
  };
}

/** The whole number that stands at a key of the answer's JSON; null where none does. */
function numberAt(answer: HttpAnswer, key: string): number | null {
  const value = jsonOf(answer)?.[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

/** Code and text of an answer as people may look them up: `310000 keywords not in content`. */
function quoteCode(answer: HttpAnswer, codeKey: string, textKey: string): string {
  const code = numberAt(answer, codeKey);
  const text = jsonOf(answer)?.[textKey];
  return code === null ? '' : `${code}${typeof text === 'string' ? ` ${text}` : ''}`;
}

/** A wait that an answer gives in seconds; in milliseconds, at most an hour. */
export function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  if (typeof seconds !== 'number' || !(seconds > 0)) return null;
  return Math.min(Math.ceil(seconds * 1000), maxRetryAfterMs);
}
