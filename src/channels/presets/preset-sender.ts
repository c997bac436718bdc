import type { Secret } from '../../domain/secret.ts';
import type { AnswerTable } from '../answers.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { fillRequest } from './fill-request.ts';
import type { Preset } from './preset.ts';
import { type PresetPart, partsOf } from './preset-parts.ts';

export interface PresetSenderOptions extends SenderDependencies {
  readonly preset: Preset;
  readonly table: AnswerTable;
  readonly address: Secret;
  /** Values of the configuration's keys, secrets among them. */
  readonly keys: Readonly<Record<string, string>>;
  readonly recipients: readonly string[] | null;
}

/** Posts what a preset says. Secrets are filled in as it leaves: what is shown to people holds none. */
export function openPresetSender(options: PresetSenderOptions): Sender {
  const { preset, keys, recipients, ...rest } = options;
  const hidden = Object.fromEntries(Object.keys(keys).map((key) => [key, `{{${key}}}`]));
  const prepare = ({ request, fields }: PresetPart, values: Readonly<Record<string, string>>) =>
    fillRequest(request, { ...fields, values: { ...values, ...fields.values } });
  return openPostSender({
    ...rest,
    render: (message) =>
      partsOf(preset, message, recipients).map((part) => ({ ...part, body: prepare(part, hidden).body })),
    prepare: (part) => prepare(part, keys),
  });
}
