import type { ChannelKind } from '../kind.ts';
import { postKind } from '../post-kind.ts';
import * as files from './all-presets.ts';
import type { Preset } from './preset.ts';

export interface PresetKind extends ChannelKind {
  readonly preset: Preset;
}

function presetKind(preset: Preset): PresetKind {
  const kind = postKind(preset, async () => (await import('./preset-parts.ts')).codeOf(preset));
  return { ...kind, preset };
}

/** Every receiver that is described by data. A test checks the files by their schema: doing so at each start would cost milliseconds. */
export const presetKinds = Object.values(files).map((data) => presetKind(data as Preset));
