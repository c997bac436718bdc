import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Lets the stack of an error, and those of its causes, say where in the sources each call stands, by the maps next to
 * the bundle. They are read for this alone: Node would read them at every start. Changes the error.
 */
export function nameSources(error: Error): void {
  const maps = new Map<string, SourceMap | null>();
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    if (next.stack === undefined) continue;
    next.stack = next.stack.replace(placePattern, (place, file: string, line: string, column: string) => {
      const map = maps.get(file) ?? readMap(file);
      maps.set(file, map);
      return findSource({ map, file, line: Number(line), column: Number(column) }) ?? place;
    });
  }
}

/** `file:///app/dist/serve-BG2ZDO80.js:12:34`, as V8 writes places in modules. */
const placePattern = /(file:\/\/[^\s()]+):(\d+):(\d+)/g;

/** Null where there is none, or where the process is in such a state that it cannot be read. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')));
  } catch {
    return null;
  }
}

interface Place {
  readonly map: SourceMap | null;
  readonly file: string;
  /** Both count from 1, as in a stack. */
  readonly line: number;
  readonly column: number;
}

function findSource({ map, file, line, column }: Place): string | null {
  const origin = map?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return null;
  return `${join(dirname(fileURLToPath(file)), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
}
