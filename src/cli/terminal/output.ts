import type { Style } from './style.ts';

/** Standard output or standard error as commands see it. */
export interface Output {
  /** Resolves when the reader keeps up again; resolves also when the reader is gone. */
  write(text: string): Promise<void>;
  /** A person is looking: layout that fits the width, symbols. */
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
}

/** The width that tables and charts have to fit; null where text goes to a pipe or a file and is written in full. */
export function layoutWidth(output: Output): number | null {
  return output.isTerminal ? output.columns : null;
}
