/** Colours of a terminal. Each function gives its text back unchanged where there are none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  blue(text: string): string;
}

export function createStyle(colour: boolean): Style {
  const wrap = (open: number, close: number) => (text: string) =>
    colour && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    yellow: wrap(33, 39),
    green: wrap(32, 39),
    blue: wrap(34, 39),
  };
}

/**
 * Colours only on a terminal, never with `NO_COLOR` (https://no-color.org: set to anything but nothing),
 * never on a dumb terminal; `FORCE_COLOR` asks for them where a terminal cannot be seen, such as in a CI log.
 */
export function decideColour(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}
