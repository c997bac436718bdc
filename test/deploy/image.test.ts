import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** A script and all the scripts that it imports. */
function scriptsOf(script: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(script)) return seen;
  seen.add(script);
  for (const [, path] of readFileSync(join(root, script), 'utf8').matchAll(/from '(\.[^']+)'/g))
    scriptsOf(posix.join(posix.dirname(script), path ?? ''), seen);
  return seen;
}

it('the image is built from every script that builds the program', () => {
  const letIn = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  // All of `src` is let in.
  const scripts = [...scriptsOf('scripts/build.ts')].filter((path) => !path.startsWith('src/'));
  expect(scripts.length).toBeGreaterThan(2);
  expect(letIn).toEqual(expect.arrayContaining(scripts.map((script) => `!${script}`)));
});

it('the image is built from every folder outside src that the program imports', () => {
  const folders = new Set<string>();
  for (const file of globSync('src/**/*.ts', { cwd: root }))
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(
      /(?:from|import\()\s*'(\.[^']+)'/g,
    )) {
      const [top = ''] = posix.join(posix.dirname(file), path ?? '').split('/');
      if (top !== 'src') folders.add(top);
    }
  expect([...folders]).toContain('languages');
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n');
  const letIn = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  for (const folder of folders) {
    expect(letIn).toContain(`!${folder}`);
    expect(dockerfile).toContain(`COPY ${folder} ./${folder}`);
  }
});
