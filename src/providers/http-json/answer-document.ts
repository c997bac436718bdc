import { withoutByteOrderMark } from '../../domain/json.ts';
import { answers } from '../answers.ts';
import type { ProviderAnswer } from '../kind.ts';
import type { Description } from './description.ts';
import { type ExactJson, parseExactly } from './json-path.ts';

export type AnswerForm = Pick<Description, 'format' | 'separator'>;

/** The document that a description's paths look at; null if the body is not in the format of the description. */
export function parseAnswer({ format, separator }: AnswerForm, { body }: ProviderAnswer): ExactJson | null {
  if (body === null) return null;
  if (format === 'json') return parseExactly(body);
  const text = withoutByteOrderMark(body).trim();
  if (text === '' || isMarkup(text)) return null;
  const lines = text.split(/\r?\n/).map((line) => line.split(separator).map((field) => field.trim()));
  return parseExactly(JSON.stringify({ text, lines }));
}

/** The reason why `parseAnswer` returned null. */
export function describeBadBody({ format }: AnswerForm, { body, problem }: ProviderAnswer): string {
  if (body === null) return problem === 'too-large' ? answers.tooLarge() : answers.compressed();
  if (body.trim() === '') return answers.empty();
  const wanted = format === 'json' ? 'JSON' : 'plain text';
  return answers[isMarkup(body) ? 'markup' : 'not']({ wanted });
}

export function isMarkup(text: string): boolean {
  return /^\s*</.test(text);
}
