import { resolve } from 'node:path';
import { interpolate } from '../../config/interpolate.ts';
import { largestValueBytes, readFileSource } from '../../config/sources.ts';
import { ownOf } from '../../domain/own.ts';
import { listWords } from '../../wording/lists.ts';
import { CommandError, type CommandInput, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';

interface Question {
  readonly hidden?: boolean;
  /** May be answered with nothing. */
  readonly optional?: boolean;
  /** The answer typed with the command, where that is not the option of the question's name; null where none is. */
  readonly typed?: string | null;
  /** The problem of an answer; null where there is none. */
  readonly check?: (answer: string) => string | null | Promise<string | null>;
}

/** The answer that was typed with the command, else the person's, who is asked again while it cannot be taken; empty for none. */
export type Ask = (name: string, question: string, how?: Question) => Promise<string>;

/** `wasRefused`: the key that was typed with the command was, and the person is asked for it. */
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

/** The keys that `--credential` gives, by the names that the provider has for them. */
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
  // What stands there is never quoted: it may be a key.
  const takes =
    names.length === 0 ? '--key instead' : `NAME=KEY, once for each of ${listWords(names, 'and')}`;
  throw new UsageError(`--credential: this kind of provider takes ${takes}`);
}

/** The text in the file for an answer: a placeholder for what is named, else the text with its placeholders escaped. */
export function written(answer: string): string {
  return /^(?:env|file):./.test(answer) ? `\${${answer}}` : escapePlaceholders(answer);
}

/** A function gives the replacement: in a text, two dollars would stand for one. */
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
