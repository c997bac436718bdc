import { resolve } from 'node:path';
import { interpolate } from '../../config/interpolate.ts';
import { largestValueBytes, readFileSource } from '../../config/sources.ts';
import { ownOf } from '../../domain/own.ts';
import { listWords } from '../../wording/lists.ts';
import { CommandError, type CommandInput, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';

interface Question {
  readonly hidden?: boolean;
  /** Whether the answer may be empty. */
  readonly optional?: boolean;
  /** The answer given with the command, if its option is not named as the question is; null if there is none. */
  readonly typed?: string | null;
  /** The problem with an answer; null if there is none. */
  readonly check?: (answer: string) => string | null | Promise<string | null>;
}

/** The answer given with the command, else the person's, who is asked again until it is acceptable; empty for none. */
export type Ask = (name: string, question: string, how?: Question) => Promise<string>;

/** `wasRefused`: whether the provider refused the key given with the command, so that the person is asked for another. */
export function createAsker(
  { ask, signal, stderr }: Pick<CommandContext, 'ask' | 'signal' | 'stderr'>,
  input: Pick<CommandInput, 'option'>,
  wasRefused: () => boolean,
): Ask {
  const hint = ask === null ? 'without a terminal, options say everything' : null;
  const readTyped = (name: string, { hidden, typed = input.option(name) }: Question): string | null =>
    hidden && wasRefused() ? null : typed;
  return async (name, question, how = {}) => {
    const option = readTyped(name, how);
    for (;;) {
      const answer = (option ?? (await ask?.(question, how.hidden ?? false)) ?? '').trim();
      if (signal.aborted) throw stopped();
      const problem = await findProblem(name, answer, how);
      if (problem === null) return answer;
      if (option !== null || hint !== null) throw new UsageError(problem, hint);
      await stderr.write(`${problem}\n`);
    }
  };
}

export function stopped(): CommandError {
  return new CommandError('stopped; nothing was written');
}

async function findProblem(name: string, answer: string, { optional, check }: Question) {
  if (answer === '') return optional === true ? null : `--${name} is missing`;
  return (await check?.(answer)) ?? null;
}

/** The keys given by `--credential`, by the provider's names for them. */
export function typedCredentials(
  { options }: Pick<CommandInput, 'options'>,
  asked: readonly { readonly name: string }[],
): ReadonlyMap<string, string> {
  const names = asked.map(({ name }) => name);
  const pairs = options('credential').map((pair) => pair.split(/=(.*)/s));
  const typed = new Map(pairs.map(([name = '', key = '']) => [name, key]));
  const isGood =
    typed.size === pairs.length && [...typed].every(([name, key]) => names.includes(name) && key);
  if (isGood) return typed;
  // The text is never quoted: it may be a key.
  const takes =
    names.length === 0 ? '--key instead' : `NAME=KEY, once for each of ${listWords(names, 'and')}`;
  throw new UsageError(`--credential: this kind of provider takes ${takes}`);
}

/** The text in the file for an answer: a placeholder for a name, else the text with its placeholders escaped. */
export function written(answer: string): string {
  return /^(?:env|file):./.test(answer) ? `\${${answer}}` : escapePlaceholders(answer);
}

/** The replacement is a function, because in a text two dollar signs would mean one. */
export function escapePlaceholders(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** The value of the variable or the file that an answer names, else the answer itself. */
export async function resolveNamed({ env, cwd }: Pick<CommandContext, 'env' | 'cwd'>, answer: string) {
  const path = /^file:(.+)$/.exec(answer)?.[1] ?? '';
  const { content } = await readFileSource(resolve(cwd, path), largestValueBytes);
  return interpolate(written(answer), {
    env: (name) => ownOf(env, name),
    names: () => Object.keys(env),
    file: () => content,
  });
}
