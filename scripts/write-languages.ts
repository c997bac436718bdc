import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
// Receivers that are data keep their sentences.
import '../src/channels/registry.ts';
import { declareKeyMeanings } from '../src/rules/rule-schema.ts';
import { languageIds } from '../src/wording/language.ts';
import { declaredPhrases } from '../src/wording/phrase.ts';

/**
 * `languages/en.json`: everything that lowwater says to people, by the place where it is said. The other catalogues get what they lack in
 * English, to be translated, and lose what is said no more.
 */
const root = join(import.meta.dirname, '..');

export type Catalogue = Readonly<Record<string, string>>;

export async function englishCatalogue(): Promise<Catalogue> {
  for (const path of globSync('src/**/*.ts', { cwd: root }).toSorted()) {
    const source = join(root, path);
    if (/ = (?:phrases|sentences)\(/.test(readFileSync(source, 'utf8'))) await import(source);
  }
  declareKeyMeanings();
  const byName = declaredPhrases().map(({ name, english }) => [name, english] as const);
  return Object.fromEntries(byName.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

export function readCatalogue(id: string): Catalogue {
  return JSON.parse(readFileSync(pathOf(id), 'utf8'));
}

function pathOf(id: string): string {
  return join(root, 'languages', `${id}.json`);
}

if (import.meta.main) {
  const english = await englishCatalogue();
  for (const id of languageIds) {
    const known = id === 'en' ? {} : readCatalogue(id);
    const catalogue = Object.fromEntries(
      Object.entries(english).map(([name, sentence]) => [name, known[name] ?? sentence]),
    );
    writeFileSync(pathOf(id), `${JSON.stringify(catalogue, null, 2)}\n`);
  }
}
