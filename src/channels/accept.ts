import * as z from 'zod';
import { keyOf, parseJson } from '../domain/json.ts';
import { type HttpAnswer, isSuccess } from '../net/http-answer.ts';
import { shape } from '../schema/shapes.ts';
import { textLeaf } from '../schema/texts.ts';
import type { AnswerRow } from './answers.ts';

/** How often a message is sent whose receiver answers with success and yet not with what was agreed. */
const triesWithoutAgreement = 3;

/** What a good answer says, in addition to a status of 2xx. */
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
    .meta({ description: 'What stands there when the message was taken.' }),
}).meta({
  description:
    'What a good answer says. Anything else is sent three times at most and then reported as channel-failed.',
});

export type Accept = z.output<typeof acceptSchema>;

/** The first rows of a table whose channel says what a good answer is; they fit nothing where it does not. */
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
      remedy: 'not what "accept" of the channel asks for',
      note: `sent ${triesWithoutAgreement} times at most`,
      tries: triesWithoutAgreement,
      source: 'your configuration',
    },
  ];
}

/** A success whose body is not the receiver's own: who answered is not known. */
export function strangeSuccess(row: Pick<AnswerRow, 'answer' | 'remedy' | 'source'>): AnswerRow {
  return {
    ...row,
    fits: isSuccess,
    means: 'unknown',
    note: `sent ${triesWithoutAgreement} times at most`,
    tries: triesWithoutAgreement,
  };
}

function says({ body }: HttpAnswer, { path, equals }: Accept): boolean {
  if (path === '') return body.trim() === String(equals ?? '');
  return path.split('.').reduce(keyOf, parseJson(body)) === equals;
}
