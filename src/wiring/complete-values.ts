import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { keyOf } from '../domain/json.ts';
import { severities } from '../domain/severity.ts';

/**
 * Prints the names of a kind that shells complete, one a line: of the configuration as it stands in the file, whatever else is
 * wrong with it. Loaded in place of the command line, because a person waits for it at each press of the key.
 */
export function completeValues([, kind = '', file]: readonly string[], env: NodeJS.ProcessEnv): void {
  const named = file ?? env.LOWWATER_CONFIG;
  const places = named ? [named] : ['config.json', '/etc/lowwater/config.json'];
  const names =
    kind === 'severities'
      ? severities
      : listNames(
          kind,
          places.map((place) => resolve(place)),
        );
  process.stdout.write(names.map((name) => `${name}\n`).join(''));
}

function listNames(kind: string, places: readonly string[]): readonly string[] {
  for (const place of places) {
    try {
      const section: unknown = keyOf(parse(readFileSync(place, 'utf8')), kind);
      const ids = Array.isArray(section)
        ? section.map((item: unknown) => keyOf(item, 'id'))
        : Object.keys(Object(section));
      return ids.filter((id) => typeof id === 'string').filter((id) => /^[a-z0-9-]+$/.test(id));
    } catch {
      // The next place, or nothing to offer.
    }
  }
  return [];
}
