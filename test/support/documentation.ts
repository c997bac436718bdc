import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A page for people, by its path from the root of the project. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Every page. The guides of the channels are read where they end up, in docs/channels.md. */
export const pages: readonly Page[] = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], {
  cwd: root,
})
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

export interface Fence {
  readonly page: string;
  /** What stands behind the opening, such as `sh` or `sh elsewhere`. */
  readonly info: string;
  readonly body: string;
}

export const fences: readonly Fence[] = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)].map(([, indent = '', info = '', body = '']) => ({
    page: path,
    info,
    body: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  })),
);

/** The page without its fences. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^( *)```.*?^\1```$/gms, '');
}

/** The commands of a fence: whole lines, comments left out, those joined by `&&` one by one. */
export function commandsOf({ body }: Fence): readonly string[] {
  return body
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => line.replace(/(?:^|\s+)#.*$/, '').split(' && '))
    .map((command) => command.trim())
    .filter((command) => command !== '');
}
