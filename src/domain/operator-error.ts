/** A failure that the operator can fix; the message is a sentence for that person. */
export class OperatorError extends Error {}

/**
 * Why the database could not be used; `kind` decides what a person reads. `unknown`: the data may have been
 * stored, and only storing it again, unchanged, finds out. `fenced`: this daemon does not own the accounts there,
 * and nothing was stored. `refused`: the database does not take a value. `unfit`: configuration and database do not fit, and waiting does not change that.
 */
export class StorageError extends OperatorError {
  readonly kind:
    | 'full'
    | 'read-only'
    | 'corrupt'
    | 'busy'
    | 'unknown'
    | 'fenced'
    | 'refused'
    | 'unfit'
    | 'other';

  constructor(kind: StorageError['kind'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** A handler for `catch` that returns `instead` if the database could not be used. Any other error is a bug and is thrown again. */
export function onStorageError<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof StorageError) return instead;
    throw error;
  };
}

/** The message never quotes a value of the file: it could be a secret. */
export interface ConfigProblem {
  /** The file of accounts that has the problem; absent for the configuration itself. */
  readonly file?: string;
  /** The path of the key, such as `accounts[0].poll.every`; empty for the whole file. */
  readonly path: string;
  /** From 1; null when no file is known. */
  readonly line: number | null;
  /** From 1, in UTF-16 code units as editors count; absent when no line is known. */
  readonly column?: number;
  readonly message: string;
}
