import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Severity } from '../../domain/severity.ts';

/** Colours of a terminal. Each function gives its text back unchanged where there are none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  blue(text: string): string;
}

/** Colours as Node writes them, or none. */
export function createStyle(colour: boolean): Style {
  const paint = (format: 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'blue') => (text: string) =>
    colour && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    yellow: paint('yellow'),
    green: paint('green'),
    blue: paint('blue'),
  };
}

/**
 * Colours where Node sees a terminal that has them, or `FORCE_COLOR` asks for them (a CI log); never with `NO_COLOR`
 * (https://no-color.org: set to anything but nothing), which Node alone would let `FORCE_COLOR` overrule.
 */
export function decideColour(
  env: Readonly<Record<string, string | undefined>>,
  stream: WriteStream,
): boolean {
  return !env.NO_COLOR && styleText('red', 'x', { stream }) !== 'x';
}

/** The colour of a severity. */
export function paintSeverity(style: Style, severity: Severity, text: string): string {
  if (severity === 'critical') return style.red(text);
  return severity === 'warning' ? style.yellow(text) : style.blue(text);
}
