import { type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import type { Tone } from '../../messages/item-wording.ts';
import { actionFor, dedupKey, latestOfEachAlert, nameOfAlert } from '../alert-key.ts';
import type { Attempt, PostedPart } from '../post-sender.ts';
import type { PostCode } from '../receiver.ts';
import type { Preset, PresetRequest, PresetTemplate } from './preset.ts';
import { writePresetText } from './preset-text.ts';

/** One request for a message: which one, and what of the message it is filled with. */
interface Order {
  readonly name: string;
  readonly request: PresetRequest;
  readonly fields: Fields;
}

/** What placeholders stand for. All are filled in one pass: a value that looks like a placeholder stays what it is. */
interface Fields {
  readonly values: Readonly<Record<string, string>>;
  readonly tone: Tone;
}

/** The most characters of a key: Opsgenie's alias takes 512, others more than this. */
const maxKeyLength = 255;

/** Secrets are filled in as a request leaves: what is shown to people holds none. */
export function codeOf(preset: Preset): PostCode<PostedPart & Order> {
  const fill = ({ request, fields }: Order, keys: readonly (readonly [string, string])[]): Attempt =>
    fillRequest(request, { ...fields, values: { ...Object.fromEntries(keys), ...fields.values } });
  return {
    render: (message, { keys, recipients }) =>
      ordersOf(preset, message, recipients).map((order) => ({
        ...order,
        body: fill(
          order,
          Object.keys(keys).map((key) => [key, `{{${key}}}`]),
        ).body,
      })),
    prepare: (part, { keys }) =>
      fill(
        part,
        Object.entries(keys).map(([key, value]) => [key, value.reveal()]),
      ),
  };
}

/** What is sent of a message: one request, or one for each recipient, or for an incident tool one for each alert. */
function ordersOf(preset: Preset, message: Message, recipients: readonly string[] | null): readonly Order[] {
  const { incident, send, each } = preset;
  if (incident !== undefined) {
    return message.kind === 'incidents'
      ? latestOfEachAlert(message.items).flatMap((item) => alertOrders(preset, message, item))
      : passingOrders(preset, message, message.id);
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

function alertOrders(preset: Preset, message: Message & { readonly kind: 'incidents' }, item: MessageItem) {
  const about = { ...message, items: [item] };
  if (stateOf(item) === 'event') return passingOrders(preset, about, nameOfAlert(item));
  const action = actionFor(item);
  const request = preset.incident?.[action];
  return request === undefined
    ? []
    : [{ name: nameOfAlert(item), request, fields: fieldsOf(preset, about, item) }];
}

/** What has no end by itself, such as a report, is opened and closed at once. */
function passingOrders(preset: Preset, message: Message, name: string): readonly Order[] {
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

function fieldsOf(preset: Preset, message: Message, item?: MessageItem): Fields {
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

const placeholder = /\{\{(\w+)\}\}/g;

/** A request of a preset with everything filled in, encoded for the place where it stands. */
function fillRequest(request: PresetRequest, { values, tone }: Fields): Attempt {
  const fill = (text: string, encode: (value: string) => string = (value) => value): string =>
    text.replace(placeholder, (_, name: string) => encode(values[name] ?? ''));
  /** A header or a field of which nothing is known is left out. */
  const isEmpty = (text: string): boolean =>
    [...text.matchAll(placeholder)].some(([, name = '']) => (values[name] ?? '') === '');
  const known = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => (isEmpty(text) ? [] : [[name, fill(text)]])),
    );
  const [, start = '', rest = ''] = /^(\{\{\w+\}\})?(.*)$/.exec(request.url) ?? [];
  const basic = request.basic?.map((text) => fill(text)).join(':');
  const contentType = request.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    url: fill(start) + fill(rest, encodeURIComponent),
    headers: {
      'content-type': contentType,
      ...known(request.headers),
      ...(basic === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
    body:
      request.form === undefined
        ? JSON.stringify(fillJson(request.json ?? {}, { fill, isEmpty, tone }))
        : new URLSearchParams(known(request.form)).toString(),
  };
}

interface Filling {
  readonly fill: (text: string) => string;
  readonly isEmpty: (text: string) => boolean;
  readonly tone: Tone;
}

function fillJson(template: PresetTemplate, filling: Filling): PresetTemplate | undefined {
  if (typeof template === 'string')
    return filling.isEmpty(template) ? undefined : filling.fill(template).toWellFormed();
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.flatMap((each) => fillJson(each, filling) ?? []);
  const byTone = template.$tone;
  if (typeof byTone === 'object' && byTone !== null && !Array.isArray(byTone))
    return byTone[filling.tone] ?? null;
  return Object.fromEntries(
    Object.entries(template).flatMap(([name, each]) => {
      const value = fillJson(each, filling);
      return value === undefined ? [] : [[filling.fill(name), value]];
    }),
  );
}
