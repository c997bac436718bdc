import stringWidth from 'string-width';
import { roughParts, zonedText } from '../../domain/time.ts';

/** Made at its first use: the first segmenter of a process takes 8 ms, and most commands do not need it. */
let segmenter: Intl.Segmenter | null = null;

function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Printable ASCII, and the characters that the commands draw with: each is one column wide. */
const narrow = /^[ -~\u2013\u2014\u2026\u2581-\u2588]*$/;

export function displayWidth(text: string): number {
  return narrow.test(text) ? text.length : stringWidth(text);
}

/** The text in at most `width` columns. A text that is cut ends in an ellipsis. Never cuts through a character. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return '';
  const [first = ''] = splitAtWidth(text, width - 1);
  return `${displayWidth(first) < width ? first.trimEnd() : ''}…`;
}

/** The text in pieces of at most `width` columns. A piece of one character may be wider. */
function splitAtWidth(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of segmentsOf(text)) {
    const more = displayWidth(segment);
    if (used + more > width && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += segment;
    used += more;
  }
  return [...pieces, piece];
}

export function padToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const fill = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? fill + text : text + fill;
}

/** Broken at spaces, and inside a word only if the word alone is too wide. Without a width (a pipe, a file) it stays one line. */
export function wrapToWidth(text: string, width: number | null): string[] {
  if (width === null || displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const parts = splitAtWidth(word, width);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? '';
  }
  return [...lines, line];
}

/** The width of an instant in minutes: `2026-11-29 14:50`. A table cuts the zone in the header before it drops the column. */
export const instantWidth = 16;

/** An instant in a time zone: `2026-11-20 14:03`, or with `seconds`. The zone is named next to it. */
export function formatInstant(at: number, timezone: string, { seconds = false } = {}): string {
  return zonedText(at, timezone).slice(0, seconds ? 19 : instantWidth);
}

/** A duration, rounded as in messages: `46m`, `5h20m`, `2d20h`, `34d`. */
export function formatShortLength(ms: number): string {
  return (
    roughParts(ms)
      .map(({ unit, count }) => `${count}${unit.charAt(0)}`)
      .join('') || '0s'
  );
}

/** The largest whole unit, for narrow columns: `12s`, `3m`, `4h`, `5d`. */
export function formatShortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Quoted for every shell: nothing inside is expanded. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The word as it is typed in a shell: quoted only if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : quoteForShell(text);
}
