import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ruleKinds } from '../../src/rules/registry.ts';

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

it('what a program that does not start says is what the troubleshooting quotes', () => {
  const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
  const [, table = ''] = page.split('## It does not start');
  const sources = globSync('src/**/*.ts', { cwd: root })
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const quoted = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)`/gm)].map(
    ([, text = '']) => text,
  );
  expect(quoted.length).toBeGreaterThan(5);
  const parts = quoted.flatMap((text) => text.split(/…|\d+\.\d+/)).map((part) => part.trim());
  expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
});

it('the table of rules in the README names every type', () => {
  const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('### Rules');
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  expect(ruleKinds.map(({ type }) => type).filter((type) => !cells.join().includes(`\`${type}\``))).toEqual(
    [],
  );
});
