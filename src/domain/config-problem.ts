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
