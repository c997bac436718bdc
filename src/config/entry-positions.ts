import { defaultEntry } from '../domain/provider-entry.ts';
import type { Position } from './draft.ts';

/** Where the provider entries of a file stand, the default one first, whether it is written or not. */
export function entryPositions(file: Position) {
  return [{ name: defaultEntry, position: file.at(defaultEntry) }, ...file.at('providers').entries()];
}

export function entryPosition(file: Position, name: string): Position {
  return name === defaultEntry ? file.at(name) : file.at('providers', name);
}
