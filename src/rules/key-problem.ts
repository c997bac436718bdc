/** A place below a rule of the file: keys from the rule down. */
export type KeyPath = readonly string[];

/** Something wrong with, or doubtful in, one rule. An empty path is the rule as a whole. */
export interface KeyProblem {
  readonly path: KeyPath;
  readonly message: string;
}

/** One rule as it stands in the file, placeholders replaced, of which nothing else is known yet. */
export interface KeyReader {
  /** Undefined where there is nothing. */
  valueAt(path: KeyPath): unknown;
  /** True where a placeholder could not be replaced: the value there means nothing. */
  isBroken(path: KeyPath): boolean;
}
