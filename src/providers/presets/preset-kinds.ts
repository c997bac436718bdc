import { httpJsonKind } from '../http-json/http-json-kind.ts';
import type { ProviderKind } from '../kind.ts';
import * as presets from './all-presets.ts';
import { type PresetKind, presetKind } from './preset.ts';

/** A kind of provider for each preset, in the order of their names. */
export const presetKinds: readonly PresetKind[] = Object.values(presets)
  .map(presetKind)
  .toSorted((one, other) => (one.type < other.type ? -1 : 1));

/** Every kind that is described as data, by the configuration or by a preset. */
export const describedKinds: readonly ProviderKind[] = [httpJsonKind, ...presetKinds];
