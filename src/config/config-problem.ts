import { quoteKey } from '../wording/lists.ts';
/** A place in the file: keys and indexes from the top. */
export type Path = readonly (string | number)[];

/**
 * Something wrong with, or doubtful in, the configuration. The message says what is allowed and never quotes a value of
 * the file: path and line lead to it, and it could be a secret.
 */
export interface ConfigProblem {
  /** The file of accounts in which it lies; absent for the configuration itself. */
  readonly file?: string;
  /** Such as `accounts[0].poll.every`; empty for the file as a whole. */
  readonly path: string;
  /** From 1; null where there is no file to point into. */
  readonly line: number | null;
  readonly message: string;
}

/** One line for people: `accounts[0].poll.every (line 12): must be …`. */
export function formatProblem(problem: ConfigProblem): string {
  const file = problem.file === undefined ? '' : `${problem.file}: `;
  const line = problem.line === null ? '' : `line ${problem.line}`;
  if (problem.path === '') return `${file}${line === '' ? '' : `${line}: `}${problem.message}`;
  return `${file}${problem.path}${line === '' ? '' : ` (${line})`}: ${problem.message}`;
}

/** `accounts[0].poll.every`; keys that are no plain names are quoted, cut and free of control characters. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$-]{0,99}$/.test(step)) text += `[${quoteKey(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
