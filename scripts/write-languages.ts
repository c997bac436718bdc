import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredPhrases } from '../src/wording/phrase.ts';

/** `languages/en.json`: everything that lowwater says to people, from top to bottom in the order of the sources. */
const root = join(import.meta.dirname, '..');

export async function englishCatalogue(): Promise<Readonly<Record<string, string>>> {
  for (const path of globSync('src/**/*.ts', { cwd: root }).toSorted()) {
    const source = join(root, path);
    if (readFileSync(source, 'utf8').includes(' = phrases(')) await import(source);
  }
  const byName = declaredPhrases().map(({ name, english }) => [name, english] as const);
  return Object.fromEntries(byName.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

if (import.meta.main) {
  const text = `${JSON.stringify(await englishCatalogue(), null, 2)}\n`;
  writeFileSync(join(root, 'languages', 'en.json'), text);
}
