import { displayWidth, splitAtWidth } from './display-width.ts';

/**
 * The text in lines of at most `width` columns, broken at spaces and, where a word alone is wider, within it.
 * With null (a pipe, a file) it stays one line.
 */
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
