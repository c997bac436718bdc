import type { ChannelKind } from '../kind.ts';
import { postKind } from '../post-kind.ts';
import * as files from './all-presets.ts';
import { type Preset, presetSchema } from './preset.ts';

/** A kind of channel that is made of data alone. */
export interface PresetKind extends ChannelKind {
  readonly preset: Preset;
}

function presetKind(data: unknown): PresetKind {
  // Compiled parsing pays for data of many; each file is read once.
  const preset = presetSchema.parse(data, { jitless: true });
  const kind = postKind(preset, async () => (await import('./preset-parts.ts')).codeOf(preset));
  return { ...kind, preset };
}

/** Every receiver that is described by data. */
export const presetKinds: readonly PresetKind[] = Object.values(files).map(presetKind);
