/** A place in the file: keys and indexes from the top. */
export type Path = readonly (string | number)[];

/**
 * Something wrong with, or doubtful in, the configuration. The message says what is allowed and never quotes a value of
 * the file: path and line lead to it, and it could be a secret.
 */
export interface ConfigProblem {
  /** Such as `accounts[0].poll.every`; empty for the file as a whole. */
  readonly path: string;
  /** From 1; null where there is no file to point into. */
  readonly line: number | null;
  readonly message: string;
}

/** One line for people: `accounts[0].poll.every (line 12): must be …`. */
export function formatProblem(problem: ConfigProblem): string {
  const line = problem.line === null ? '' : `line ${problem.line}`;
  if (problem.path === '') return line === '' ? problem.message : `${line}: ${problem.message}`;
  return `${problem.path}${line === '' ? '' : ` (${line})`}: ${problem.message}`;
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

/** A key as messages show it: quoted, cut at 60 characters, everything unprintable escaped. */
export function quoteKey(key: string): string {
  const characters = [...key];
  const cut = characters.length > 60 ? `${characters.slice(0, 59).join('')}…` : key;
  return JSON.stringify(cut).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** `"a", "b" or "c"`. */
export function listWords(words: readonly string[], joint: 'and' | 'or' = 'or'): string {
  const quoted = words.map(quoteKey);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} ${joint} ${last}`;
}
