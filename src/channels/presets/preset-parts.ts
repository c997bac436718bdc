import { type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { cutText } from '../../domain/plain-text.ts';
import { type Tone, toneIcons } from '../../messages/item-wording.ts';
import { type Card, renderFitting, wordCard } from '../../messages/message-wording.ts';
import { actionFor, dedupKey, latestOfEachAlert, nameOfAlert } from '../alert-key.ts';
import { cutBytes, cutUnits, literalMarkdown } from '../markdown.ts';
import type { Attempt, PostedPart } from '../post-sender.ts';
import type { PostCode } from '../receiver.ts';
import type { Preset, PresetRequest, PresetTemplate } from './preset.ts';

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
  const fieldsOf = (about: Message, more: Readonly<Record<string, string>>): Fields => {
    const { tone, ...texts } = writePresetText(about, preset);
    return { tone, values: { ...texts, source: 'lowwater', dedupKey: message.id, ...more } };
  };
  if (incident === undefined) {
    if (send === undefined) throw new Error(`the preset ${preset.type} sends nothing`);
    const fields = fieldsOf(message, {});
    if (each === undefined || recipients === null) return [{ name: 'the message', request: send, fields }];
    return recipients.map((name) => ({
      name,
      request: send,
      fields: { ...fields, values: { ...fields.values, [each]: name } },
    }));
  }
  const alertOrders = (item: MessageItem, about: Message): readonly Order[] => {
    const request = incident[actionFor(item)];
    const more = { source: item.accountName, dedupKey: dedupKey(item, maxKeyLength) };
    return request === undefined ? [] : [{ name: nameOfAlert(item), request, fields: fieldsOf(about, more) }];
  };
  /** What has no end by itself, such as a report, is opened and closed at once. */
  const passingOrders = (name: string, about: Message): readonly Order[] => {
    const key = `lowwater/${name.replaceAll(' ', '/')}`.slice(0, maxKeyLength);
    const fields = fieldsOf(about, { dedupKey: key });
    return [
      { name, request: incident.open, fields },
      { name: `${name}, closing`, request: incident.close, fields },
    ];
  };
  if (message.kind !== 'incidents') return passingOrders(message.id, message);
  return latestOfEachAlert(message.items).flatMap((item) => {
    const about = { ...message, items: [item] };
    return stateOf(item) === 'event' ? passingOrders(nameOfAlert(item), about) : alertOrders(item, about);
  });
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
      ...known(request.headers ?? {}),
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

/**
 * A message as the largest text that the receiver takes, in which nothing but our own links is markup: `text` is the headline and all
 * the rest, `details` all the rest (the headline where there is nothing else), `link` where to act.
 */
function writePresetText(message: Message, preset: Preset) {
  const { limits, style } = preset;
  const literal = escaperOf(preset);
  const cut = limits.unit === 'bytes' ? cutBytes : cutUnits;
  const size = (text: string): number => (limits.unit === 'bytes' ? Buffer.byteLength(text) : text.length);
  const write = (card: Card) => ({
    card,
    headline: cut(literal(`${toneIcons[card.tone]} ${cutText(card.headline, 300)}`), limits.headline ?? 250),
    details: (style === 'brief' ? briefLines(card, literal) : wholeLines(card, literal)).join('\n'),
  });
  const fits = ({ headline, details }: ReturnType<typeof write>): boolean =>
    size(`${headline}\n${details}`) <= limits.text;
  const { headline, details, card } =
    style === 'brief' ? write(wordCard(message, 1)) : renderFitting(message, { render: write, fits });
  const whole = details === '' ? headline : `${headline}\n${details}`;
  return {
    tone: card.tone,
    headline,
    text: cut(whole, limits.text),
    details: cut(details === '' ? headline : details, limits.text),
    link: linksOf(card)[0]?.url ?? '',
  };
}

const escapes = {
  none: (text: string) => text,
  'look-alike': literalMarkdown,
  backslash: (text: string) => text.replace(/[\\*_~`|<>#[\]()!:@-]/g, '\\$&'),
};

function escaperOf({ escape: way = 'none', breaksMentions = false }: Preset): (text: string) => string {
  // A word joiner shows nothing, and no name begins with it.
  return (text) => (breaksMentions ? escapes[way](text).replaceAll('@', '@\u2060') : escapes[way](text));
}

function linksOf(card: Card): Card['links'] {
  return [...card.parts.flatMap(({ links }) => links), ...card.links];
}

function wholeLines(card: Card, escapeAll: (text: string) => string): readonly string[] {
  const literal = (text: string): string => escapeAll(cutText(text, 300));
  const linkLine = ({ label, url }: Card['links'][number]): string => `${literal(label)}: ${url}`;
  return [
    ...card.parts.flatMap((part) => [
      ...(part.title === null ? [] : ['', `${toneIcons[part.tone]} ${literal(part.title)}`]),
      ...part.lines.map(literal),
      ...part.figures.map(({ label, value }) => literal(`${label}: ${value}`)),
      ...part.advice.map((sentence) => `→ ${literal(sentence)}`),
      ...(part.noteLine === null ? [] : [literal(part.noteLine)]),
      ...part.links.map(linkLine),
      ...(part.origin === null ? [] : [literal(part.origin)]),
    ]),
    ...(card.more === null ? [] : [literal(card.more)]),
    ...card.links.map(linkLine),
  ];
}

function briefLines(card: Card, escapeAll: (text: string) => string): readonly string[] {
  const [part] = card.parts;
  const [advice] = part?.advice ?? [];
  const [link] = linksOf(card);
  return [
    ...(advice === undefined ? [] : [escapeAll(cutText(advice, 140))]),
    ...(link === undefined || link.url.length > 140 ? [] : [link.url]),
  ];
}
