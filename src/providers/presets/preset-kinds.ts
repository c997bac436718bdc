import * as presets from './all-presets.ts';
import { type PresetKind, presetKind } from './preset.ts';

/** A kind of provider for each preset, in the order of their names. */
export const presetKinds: readonly PresetKind[] = Object.values(presets)
  .map(presetKind)
  .toSorted((one, other) => (one.type < other.type ? -1 : 1));
