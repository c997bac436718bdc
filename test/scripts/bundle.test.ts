import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { builtMain } from '../support/built-program.ts';

const folder = dirname(builtMain);

/** All that is loaded with a file of the bundle. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(join(folder, file), 'utf8').matchAll(/^import [^;]*?"\.\/([^"]+)";/gm);
  for (const [, imported = ''] of imports) loadedWith(imported, found);
  return found;
}

it('what each command loads before it knows which it is holds no schemas, rules or engine', () => {
  const start = readdirSync(folder).find((file) => /^start-.*\.js$/.test(file)) ?? '';
  const parts = [...loadedWith(start)].map((file) => file.replace(/-.{8}\.js$/, ''));
  expect(parts).toContain('words');
  expect(parts.filter((part) => /^(?:zod|rules|engine|draft|configuration)$/.test(part))).toEqual([]);
});
