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
export function layoutWidth(output: Pick<Output, 'isTerminal' | 'columns'>): number | null {
  return output.isTerminal ? output.columns : null;
}

/** One JSON document on standard output: indented for a person, on one line for a program. */
export async function printJson({ stdout }: { readonly stdout: Output }, value: unknown): Promise<void> {
  await stdout.write(`${JSON.stringify(value, null, stdout.isTerminal ? 2 : undefined)}\n`);
}
