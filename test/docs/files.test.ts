import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const names = new Set(
  globSync('{src,test,bench,scripts,languages}/**/*.*', { cwd: root }).map((path) => basename(path)),
);

/** Files named in backticks, from the root, from `src/`, or by their name alone; of `<kind>.ts` nobody knows. */
function findGone(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+\.(?:ts|json|css))`/g)]
    .map(([, path = '']) => path)
    .filter((path) =>
      path.includes('/')
        ? !['', 'src'].some((folder) => existsSync(join(root, folder, path)))
        : !names.has(path) && !existsSync(join(root, path)),
    );
}

describe('a file that is named for who changes the code', () => {
  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('exists: %s', (page) => {
    expect(findGone(readFileSync(join(root, page), 'utf8'))).toEqual([]);
  });

  it('is found where it is gone', () => {
    expect(findGone('`engine/turn.ts`, `engine/turns.ts`, `turn.ts`, `turns.ts`, `src/main.ts`')).toEqual([
      'engine/turns.ts',
      'turns.ts',
    ]);
  });
});
