import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { forTerminal } from '../../domain/plain-text.ts';
import type { Severity } from '../../domain/severity.ts';

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

const usualColumns = 80;

/** Why a command ends whose reader wants no more: that is no failure. */
export const readerGone = new DOMException('the reader of standard output went away', 'AbortError');

/** When the reader went away, as `| head` does, or the disk is full, the rest is dropped and `lost` hears why. */
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
      // A terminal that nobody gave a size says 0.
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

/** Colours of a terminal. Each function gives its text back unchanged where there are none. */
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
 * Colours where Node sees a terminal that has them, or `FORCE_COLOR` asks for them (a CI log); never with `NO_COLOR`
 * (https://no-color.org: set to anything but nothing), for which `main.ts` takes `FORCE_COLOR` away.
 */
export function hasColours(stream: WriteStream): boolean {
  return styleText('red', 'x', { stream }) !== 'x';
}

/** A rule that does not fire: `isOld` by a reading that is not of now. */
export function describeFine(isOld: boolean, style: Style) {
  return isOld
    ? { text: 'ok when last read', paint: (text: string) => text }
    : { text: 'ok', paint: style.green };
}

export function paintSeverity(style: Style, severity: Severity, text: string): string {
  if (severity === 'critical') return style.red(text);
  return severity === 'warning' ? style.yellow(text) : style.blue(text);
}
