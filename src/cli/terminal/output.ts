import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { forTerminal } from '../../domain/plain-text.ts';
import type { Severity } from '../../domain/severity.ts';

/** Standard output or standard error as commands see it. */
export interface Output {
  /** Resolves when the reader keeps up again, and also when the reader is gone. */
  write(text: string): Promise<void>;
  /** Whether a person is looking: then layout fits the width, and symbols are used. */
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
}

/** The width that tables and charts have to fit; null for a pipe or a file, where text is written in full. */
export function layoutWidth(output: Pick<Output, 'isTerminal' | 'columns'>): number | null {
  return output.isTerminal ? output.columns : null;
}

/** Prints one JSON document on standard output: indented for a person, on one line for a program. */
export async function printJson({ stdout }: { readonly stdout: Output }, value: unknown): Promise<void> {
  await stdout.write(`${JSON.stringify(value, null, stdout.isTerminal ? 2 : undefined)}\n`);
}

const usualColumns = 80;

/** Why a command ends when its reader wants no more: that is not a failure. */
export const readerGone = new DOMException('the reader of standard output went away', 'AbortError');

/** If the reader goes away, as `| head` does, or the disk is full, the rest is dropped and `lost` gets the error. */
export function openOutput(stream: WriteStream, lost: (error: NodeJS.ErrnoException) => void): Output {
  let open = true;
  const isTerminal = stream.isTTY === true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    lost(error);
  });
  return {
    isTerminal,
    style: createStyle(hasColours(stream)),
    get columns() {
      // A terminal without a size reports 0.
      return stream.columns || usualColumns;
    },
    async write(text) {
      if (!open || stream.write(isTerminal ? forTerminal(text) : text)) return;
      await new Promise<void>((resolve) => {
        const settle = () => {
          for (const event of ['drain', 'close', 'error']) stream.off(event, settle);
          resolve();
        };
        for (const event of ['drain', 'close', 'error']) stream.on(event, settle);
      });
    },
  };
}

/** The colours of a terminal. If there are none, each function returns its text unchanged. */
export type Style = Readonly<
  Record<'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'blue', (text: string) => string>
>;

export function createStyle(colour: boolean): Style {
  const paint = (format: keyof Style) => (text: string) =>
    colour && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  const [bold, dim, red] = [paint('bold'), paint('dim'), paint('red')];
  return { bold, dim, red, yellow: paint('yellow'), green: paint('green'), blue: paint('blue') };
}

/**
 * Whether to use colours: if Node sees a terminal with colours, or `FORCE_COLOR` asks for them (a CI log); never with `NO_COLOR`
 * (https://no-color.org: set and not empty), for which `main.ts` removes `FORCE_COLOR`.
 */
export function hasColours(stream: WriteStream): boolean {
  return styleText('red', 'x', { stream }) !== 'x';
}

/** The word for a rule that does not fire. `isOld`: judged by a reading that is not recent. */
export function describeFine(isOld: boolean, style: Style) {
  return isOld
    ? { text: 'ok when last read', paint: (text: string) => text }
    : { text: 'ok', paint: style.green };
}

export function paintSeverity(style: Style, severity: Severity, text: string): string {
  if (severity === 'critical') return style.red(text);
  return severity === 'warning' ? style.yellow(text) : style.blue(text);
}
