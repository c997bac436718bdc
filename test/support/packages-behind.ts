import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is loaded with a file: packages along imports that are neither of types nor put off until they are needed. */
export function packagesBehind(file: string, seen: Set<string> = new Set()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  const code = readFileSync(file, 'utf8');
  for (const [, specifier = ''] of code.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
    if (!specifier.startsWith('.')) packages.add(specifier);
    else for (const found of packagesBehind(join(dirname(file), specifier), seen)) packages.add(found);
  }
  return packages;
}
