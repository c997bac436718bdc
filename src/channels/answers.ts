import * as z from 'zod';
import { maxRetryAfterMs, readRetryAfter } from '../domain/backoff.ts';
import type { ForeignTexts } from '../domain/foreign-text.ts';
import { keyOf, parseJson } from '../domain/json.ts';
import { type HttpAnswer, isSuccess } from '../net/http-answer.ts';
import type { Delivery } from '../ports/channel.ts';
import { shape } from '../schema/shapes.ts';
import { textLeaf } from '../schema/texts.ts';
import { sentences } from '../wording/phrase.ts';

/** The meaning of an answer. After `refused` and `unknown` the message is sent again; only after `unknown` may it have arrived. */
type Meaning = 'delivered' | 'refused' | 'unknown' | 'dead';

const told = sentences('receiver', {
  answered: '{receiver} answered {answer}',
  remedied: '{receiver} answered {answer}: {remedy}',
  cut: '{receiver} answered {answer}, and the connection was lost before the end',
  redirect: 'a redirect, which is never followed; check the address',
});

export const remedies = sentences('remedy', {
  another: 'this is not what {receiver} answers; check "{key}"',
  notAccepted: 'not what "accept" of the channel asks for',
});

/** One line of a receiver's table of answers, for people. */
export interface DocumentedAnswer {
  readonly answer: string;
  readonly means: Meaning;
  /** Further advice: how long it waits, what to do about it. */
  readonly note?: string;
  /** The source that gives this answer this meaning. */
  readonly source: string;
}

interface AnswerRow extends DocumentedAnswer {
  readonly fits: (answer: HttpAnswer) => boolean;
  /** Advice that people see with the answer, if it helps. */
  readonly remedy?: string;
  /** The wait before the next try when the answer names none. */
  readonly waitMs?: number;
  /** The most tries of a message that gets this answer. */
  readonly tries?: number;
}

export interface AnswerTable {
  /** The receiver in a sentence: a proper name such as "Slack", otherwise a phrase of `sentences`. */
  readonly receiver: string;
  /** The first row that fits decides, so the last rows have to fit everything. */
  readonly rows: readonly AnswerRow[];
  /** The part of the body worth quoting: a code or a word, never a page. */
  readonly quote?: (answer: HttpAnswer) => string;
  /** Reads a wait that is not in `Retry-After`, in milliseconds. */
  readonly readWait?: (answer: HttpAnswer) => number | null;
}

/** The meaning of an answer by the table. Throws when no row fits: a table that has a hole is a defect. */
export function classifyAnswer(
  table: AnswerTable,
  answer: HttpAnswer,
  { now, texts }: { readonly now: number; readonly texts: ForeignTexts },
): Delivery {
  const row = table.rows.find(({ fits }) => fits(answer));
  if (row === undefined) throw new Error(`the answers of ${table.receiver} have a hole`);
  const quoted = texts.clean(table.quote?.(answer) ?? '', 120);
  const given = { receiver: table.receiver, answer: `${answer.status} ${quoted}`.trimEnd() };
  const said = told.answered(given);
  if (row.means === 'delivered') return { kind: 'delivered', said };
  // Such a row fits because the body lacks something. A cut body does not show that, and lost answers must not use up the tries.
  if (row.tries !== undefined && answer.isCut === true)
    return { kind: 'retry', certainty: 'unknown', reason: told.cut(given) };
  const reason = row.remedy === undefined ? said : told.remedied({ ...given, remedy: row.remedy });
  if (row.means === 'dead') return { kind: 'dead', reason };
  const asked = readRetryAfter(answer.headers, { now, maxMs: maxRetryAfterMs });
  const afterMs = asked ?? table.readWait?.(answer) ?? row.waitMs ?? null;
  return {
    kind: 'retry',
    certainty: row.means,
    reason,
    ...(afterMs === null ? {} : { afterMs, isForAll: true }),
    ...(row.tries === undefined ? {} : { tries: row.tries }),
  };
}

/** Statuses that mean the same at every receiver (RFC 9110); a table ends with them. */
export const commonAnswers: readonly AnswerRow[] = [
  {
    answer: '3xx',
    fits: ({ status }) => status >= 300 && status < 400,
    means: 'dead',
    remedy: told.redirect(),
    note: 'redirects are never followed: the address may be a credential',
    source: 'RFC 9110, 15.4',
  },
  {
    answer: '429',
    fits: ({ status }) => status === 429,
    means: 'refused',
    note: 'waits as `Retry-After` says',
    source: 'RFC 6585, 4',
  },
  {
    answer: '408, 425, 5xx',
    fits: ({ status }) => status === 408 || status === 425 || status >= 500,
    means: 'unknown',
    note: 'waits as `Retry-After` says',
    source: 'RFC 9110, 15.5.9 and 15.6',
  },
  { answer: 'other 4xx', fits: ({ status }) => status >= 400, means: 'dead', source: 'RFC 9110, 15.5' },
];

const triesWithoutAgreement = 3;

/** The words of a good answer, in addition to a status of 2xx. */
export const acceptSchema = shape({
  path: textLeaf({
    description:
      'Where in the JSON of the answer: keys with dots between, a number for the place in a list. "" is the whole body as text.',
    allowed: 'must be keys with dots between, such as "errcode" or "data.code", or "" for the whole body',
    examples: ['errcode', 'data.code', ''],
    read: (text) => (/^(?:[^.\s]+(?:\.[^.\s]+)*)?$/.test(text) ? { value: text } : null),
  }),
  equals: z
    .union([z.string(), z.number(), z.boolean(), z.null()], {
      error: 'must be a string, a number, true, false or null',
    })
    .describe('What stands there when the message was taken.'),
}).describe(
  'What a good answer says. Anything else is sent three times at most and then reported as channel-failed.',
);

export type Accept = z.output<typeof acceptSchema>;

/** The first rows of a table. They fit nothing unless the channel says, by `accept`, what a good answer is. */
export function acceptRows(accept: Accept | null): readonly AnswerRow[] {
  return [
    {
      answer: '2xx, and the body says what `accept` asks for',
      fits: (answer) => accept !== null && isSuccess(answer) && says(answer, accept),
      means: 'delivered',
      source: 'your configuration',
    },
    {
      answer: '2xx, and the body says something else than `accept`',
      fits: (answer) => accept !== null && isSuccess(answer),
      means: 'refused',
      remedy: remedies.notAccepted(),
      note: `sent ${triesWithoutAgreement} times at most`,
      tries: triesWithoutAgreement,
      source: 'your configuration',
    },
  ];
}

/** Whether the answer is a web page. No receiver answers with one: a login, a portal or a proxy stood in its place. */
export function isWebPage({ body }: HttpAnswer): boolean {
  return /^\s*<(?:!doctype html|html)\b/i.test(body);
}

/** A success whose body is not the receiver's own: it is unknown who answered. */
export function strangeSuccess(row: Pick<AnswerRow, 'answer' | 'remedy' | 'source'>): AnswerRow {
  return {
    ...row,
    fits: isSuccess,
    means: 'unknown',
    note: `sent ${triesWithoutAgreement} times at most`,
    tries: triesWithoutAgreement,
  };
}

function says(answer: HttpAnswer, { path, equals }: Accept): boolean {
  return valueAt(answer, path) === (path === '' ? String(equals ?? '') : equals);
}

/** The value in the JSON of an answer, by keys with dots between; "" is the whole body as text. */
export function valueAt({ body }: HttpAnswer, path: string): unknown {
  return path === '' ? body.trim() : path.split('.').reduce(keyOf, parseJson(body));
}
