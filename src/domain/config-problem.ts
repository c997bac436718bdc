/**
 * An error or a doubt in the configuration. The message says what is allowed and never quotes a value of the
 * file: it could be a secret.
 */
export interface ConfigProblem {
  /** The file of accounts in which it lies; absent for the configuration itself. */
  readonly file?: string;
  /** Such as `accounts[0].poll.every`; empty for the whole file. */
  readonly path: string;
  /** From 1; null where no file is known. */
  readonly line: number | null;
  /** From 1, in UTF-16 code units as editors count; absent where no line is known. */
  readonly column?: number;
  readonly message: string;
}
