import { type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { actionFor, dedupKey, latestOfEachAlert, nameOfAlert } from '../alert-key.ts';
import type { MessagePart } from '../deliver-parts.ts';
import type { FilledFields } from './fill-request.ts';
import type { Preset, PresetRequest } from './preset.ts';
import { writePresetText } from './preset-text.ts';

/** One request for a message: which one, and what of the message it is filled with. */
export interface PresetPart extends MessagePart {
  readonly request: PresetRequest;
  readonly fields: FilledFields;
}

/** The most characters of a key: Opsgenie's alias takes 512, others more than this. */
const maxKeyLength = 255;

/** What is sent of a message: one request, or one for each recipient, or for an incident tool one for each alert. */
export function partsOf(
  preset: Preset,
  message: Message,
  recipients: readonly string[] | null,
): readonly PresetPart[] {
  const { incident, send, each } = preset;
  if (incident !== undefined) {
    return message.kind === 'incidents'
      ? latestOfEachAlert(message.items).flatMap((item) => alertParts(preset, message, item))
      : passingParts(preset, message, message.id);
  }
  if (send === undefined) throw new Error(`the preset ${preset.type} sends nothing`);
  const fields = fieldsOf(preset, message);
  if (each === undefined || recipients === null) return [{ name: 'the message', request: send, fields }];
  return recipients.map((name) => ({
    name,
    request: send,
    fields: { ...fields, values: { ...fields.values, [each]: name } },
  }));
}

function alertParts(preset: Preset, message: Message & { readonly kind: 'incidents' }, item: MessageItem) {
  const about = { ...message, items: [item] };
  if (stateOf(item) === 'event') return passingParts(preset, about, nameOfAlert(item));
  const action = actionFor(item);
  const request = preset.incident?.[action];
  return request === undefined
    ? []
    : [{ name: nameOfAlert(item), request, fields: fieldsOf(preset, about, item) }];
}

/** What has no end by itself, such as a report, is opened and closed at once. */
function passingParts(preset: Preset, message: Message, name: string): readonly PresetPart[] {
  const { incident } = preset;
  if (incident === undefined) return [];
  const fields = fieldsOf(preset, message);
  const values = {
    ...fields.values,
    dedupKey: `lowwater/${name.replaceAll(' ', '/')}`.slice(0, maxKeyLength),
  };
  return [
    { name, request: incident.open, fields: { ...fields, values } },
    { name: `${name}, closing`, request: incident.close, fields: { ...fields, values } },
  ];
}

function fieldsOf(preset: Preset, message: Message, item?: MessageItem): FilledFields {
  const { tone, headline, text, details, link } = writePresetText(message, preset);
  return {
    tone,
    values: {
      headline,
      text,
      details,
      link,
      source: item?.accountName ?? 'lowwater',
      dedupKey: item === undefined ? message.id : dedupKey(item, maxKeyLength),
    },
  };
}
