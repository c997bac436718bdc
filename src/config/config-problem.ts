import type { ConfigProblem } from '../domain/operator-error.ts';
import { quoteKey } from '../wording/lists.ts';

/** A place in the file: keys and indexes from the top. */
export type Path = readonly (string | number)[];

const maxNamed = 50;

/** The first fifty problems, and how many more there are: a file that a program wrote may have one in each line. */
export function nameProblems(problems: readonly ConfigProblem[]): readonly string[] {
  const named = problems.slice(0, maxNamed).map(formatProblem);
  return problems.length > maxNamed ? [...named, `${problems.length - maxNamed} more`] : named;
}

/** One line for people: `accounts[0].poll.every (line 12, column 5): must be …`. */
export function formatProblem(problem: ConfigProblem): string {
  const file = problem.file === undefined ? '' : `${problem.file}: `;
  const column = problem.column === undefined ? '' : `, column ${problem.column}`;
  const line = problem.line === null ? '' : `line ${problem.line}${column}`;
  if (problem.path === '') return `${file}${line === '' ? '' : `${line}: `}${problem.message}`;
  return `${file}${problem.path}${line === '' ? '' : ` (${line})`}: ${problem.message}`;
}

/** `accounts[0].poll.every`; other keys than plain names are quoted, cut and free of control characters. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$-]{0,99}$/.test(step)) text += `[${quoteKey(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
