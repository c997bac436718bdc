import { type Message, stateOf } from '../../domain/message.ts';
import { ownOf } from '../../domain/own.ts';
import { cutSentence } from '../../domain/plain-text.ts';
import { mapEach } from '../../domain/reading.ts';
import { textBehind } from '../../domain/secret.ts';
import { type Tone, toneIcons } from '../../messages/item-wording.ts';
import { type Card, wordCard } from '../../messages/message-wording.ts';
import { renderFitting } from '../../messages/render-fitting.ts';
import { labelled } from '../../wording/lists.ts';
import { type KeyOrder, keyOrders, nameOfAlert, sourceOf } from '../alert-key.ts';
import type { MessagePart } from '../deliver-parts.ts';
import { breakMentions, cutBytes, cutUnits, fitFacts, literalMarkdown, lookAlike } from '../markdown.ts';
import type { Attempt, PostedPart } from '../post-sender.ts';
import type { PostCode } from '../receiver.ts';
import type { Preset, PresetRequest, PresetTemplate } from './preset.ts';

interface Order extends MessagePart {
  readonly request: PresetRequest;
  readonly fields: Fields;
}

/** The values of placeholders. All are filled in one pass: a value that looks like a placeholder stays what it is. */
interface Fields {
  readonly values: Readonly<Record<string, string>>;
  readonly tone: Tone;
}

/** The most characters of a key: Opsgenie's alias takes 512, others more than this. */
const maxKeyLength = 255;

/** The code of a preset. Secrets are filled in as a request leaves: texts that are shown to people hold none. */
export function codeOf(preset: Preset): PostCode<PostedPart & Order> {
  const fill = ({ request, fields }: Order, keys: Readonly<Record<string, string>>): Attempt =>
    fillRequest(request, { ...fields, values: { ...keys, ...fields.values } });
  return {
    render: (message, { keys, recipients }) =>
      ordersOf(preset, message, recipients).map((order) => ({
        ...order,
        body: fill(order, mapEach(keys, String)).body,
      })),
    prepare: (part, { keys }) => fill(part, mapEach(keys, textBehind)),
  };
}

/** The requests of a message: one request, or one for each recipient, or for an incident tool one for each alert. */
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
  const passing = (name: string, about: Message): Passing => {
    const dedupKey = `lowwater/${name.replaceAll(' ', '/')}`.slice(0, maxKeyLength);
    return { name, fields: fieldsOf(about, { dedupKey }), incident };
  };
  if (message.kind === 'report') return [];
  if (message.kind === 'test') return [closing(passing(message.id, message))];
  const alerts = message.items.filter((item) => stateOf(item) !== 'event');
  const raises = incident.raise !== undefined;
  return [
    ...keyOrders(alerts, { maxLength: maxKeyLength, raises }).flatMap((order) => {
      const more = { source: sourceOf(order.item), dedupKey: order.key };
      const fields = fieldsOf({ ...message, items: [order.item] }, more);
      return requestsFor(incident, order).map(([name, request]) => ({ name, request, fields }));
    }),
    // An alert without an end is opened and closed at once; good news is not worth waking anybody.
    ...message.items.flatMap((item) => {
      if (stateOf(item) !== 'event' || item.severity === 'info') return [];
      const event = passing(nameOfAlert(item), { ...message, items: [item] });
      return [{ name: event.name, request: incident.open, fields: event.fields }, closing(event)];
    }),
  ];
}

type IncidentRequests = NonNullable<Preset['incident']>;

interface Passing extends Omit<Order, 'request'> {
  readonly incident: IncidentRequests;
}

/** The request that closes. For a test it is the only one: it shows that the tool takes what it is sent, and there is nothing to close. */
function closing({ name, fields, incident }: Passing): Order {
  return { name: `${name}, closing`, after: name, request: incident.close, fields };
}

function requestsFor(
  { raise = {}, ...incident }: IncidentRequests,
  { item, action, name }: KeyOrder,
): readonly (readonly [string, PresetRequest])[] {
  const request = incident[action];
  // The alert may be open already, although this message says that it fires: an earlier attempt may have arrived before it got worse.
  const rose = action === 'open' && item.kinds.includes('worse');
  const raising = rose ? Object.entries(raise) : [];
  return [
    ...(request === undefined ? [] : [[name, request] as const]),
    ...raising.map(([what, raised]) => [`${name}, ${what}`, raised] as const),
  ];
}

const placeholder = /\{\{(\w+)\}\}/g;

/** A request of a preset with everything filled in, encoded for the place where it stands. */
function fillRequest(request: PresetRequest, { values, tone }: Fields): Attempt {
  const fill = (text: string, encode: (value: string) => string = (value) => value): string =>
    text.replace(placeholder, (_, name: string) => encode(ownOf(values, name) ?? ''));
  /** Whether a placeholder has no value: such a header or field is left out. */
  const isEmpty = (text: string): boolean =>
    [...text.matchAll(placeholder)].some(([, name = '']) => (ownOf(values, name) ?? '') === '');
  const known = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => (isEmpty(text) ? [] : [[name, fill(text)]])),
    );
  const [, start = '', rest = ''] = /^(\{\{\w+\}\})?(.*)$/.exec(request.url) ?? [];
  const basic = request.basic?.map((text) => fill(text)).join(':');
  const contentType = request.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    ...(request.method === undefined ? {} : { method: request.method }),
    url: joinAddress(fill(start), fill(rest, encodeURIComponent)),
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

/** An address may have a query of its own. */
function joinAddress(address: string, rest: string): string {
  const isQuery = rest.startsWith('?') && address.includes('?');
  return address + (isQuery ? `&${rest.slice(1)}` : rest);
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
 * A message as the largest text that the receiver takes. Only lowwater's own links are markup in it. `text` is the headline and all the rest,
 * `details` all the rest (the headline if there is nothing else), `link` where to act.
 */
function writePresetText(message: Message, preset: Preset) {
  const { limits, style } = preset;
  const literal = escaperOf(preset, 'text');
  const cut = limits.unit === 'bytes' ? cutBytes : cutUnits;
  const size = (text: string): number => (limits.unit === 'bytes' ? Buffer.byteLength(text) : text.length);
  const writeHeadline = (card: Card, field: EscapedField): string => {
    const literal = escaperOf(preset, field);
    const written = (text: string): string =>
      style === 'brief' ? inShortMessage(literal(text)) : literal(`${toneIcons[card.tone]} ${text}`);
    const facts = cutSentence(card.headline);
    const fits = (text: string): boolean => size(written(text)) <= (limits.headline ?? 250);
    if (style !== 'brief') return written(fitFacts(facts, fits));
    const short = fitFacts(facts, (text) => fits(text) && isOneMessage(written(text)));
    return written(short.startsWith(nameIn(facts)) ? short : fitFacts(facts, fits));
  };
  const write = (card: Card) => ({
    card,
    headline: writeHeadline(card, 'headline'),
    details: (style === 'brief' ? briefLines(card) : wholeLines(card, literal)).join('\n'),
  });
  const fits = ({ headline, details }: ReturnType<typeof write>): boolean =>
    size(`${headline}\n${details}`) <= limits.text;
  const { headline, details, card } =
    style === 'brief' ? write(wordCard(message, 1)) : renderFitting(message, { render: write, fits });
  const first = writeHeadline(card, 'text');
  const whole = details === '' ? first : `${first}\n${details}`;
  return {
    tone: card.tone,
    headline,
    text: cut(whole, limits.text),
    details: cut(details === '' ? first : details, limits.text),
    link: linksOf(card)[0]?.url ?? '',
  };
}

const escapes = {
  'look-alike': literalMarkdown,
  backslash: (text: string) => text.replace(/[\\*_~`|<>#[\]()!:@-]/g, '\\$&'),
  // The library marked takes a backslash only before these; `<` begins mentions, and a word between colons is an icon.
  marked: (text: string) =>
    text
      .replace(/[\\*_~`|>#[\]]|^\s*[+-]/g, '\\$&')
      .replaceAll('<', lookAlike)
      .replace(/:(?=[\w+\\-]+:)/g, ':\u2060'),
};

type EscapedField = keyof NonNullable<Preset['escape']>;

function escaperOf(
  { escape: ways = {}, breaksMentions = false }: Preset,
  field: EscapedField,
): (text: string) => string {
  const way = ownOf(ways, field);
  const literal = (text: string): string => (way === undefined ? text : escapes[way](text));
  return (text) => (breaksMentions ? breakMentions(literal(text)) : literal(text));
}

/** The page of all comes before the links of several alerts, because the link of one alert says nothing about the others. */
function linksOf(card: Card): Card['links'] {
  return [...card.links, ...card.parts.flatMap(({ links }) => links)];
}

function wholeLines(card: Card, escapeAll: (text: string) => string): readonly string[] {
  const literal = (text: string): string => escapeAll(cutSentence(text));
  const linkLine = ({ label, url }: Card['links'][number]): string => labelled(literal(label), url);
  return [
    ...card.parts.flatMap((part) => [
      ...(part.title === null ? [] : ['', `${toneIcons[part.tone]} ${literal(part.title)}`]),
      ...part.lines.map(literal),
      ...part.figures.map(({ label, value }) => literal(labelled(label, value))),
      ...part.advice.map((sentence) => `→ ${literal(sentence)}`),
      ...(part.noteLine === null ? [] : [literal(part.noteLine)]),
      ...part.links.map(linkLine),
      ...(part.origin === null ? [] : [literal(part.origin)]),
    ]),
    ...(card.more === null ? [] : [literal(card.more)]),
    ...card.links.map(linkLine),
  ];
}

/** The advice, if it still fits into one message with the headline, and where to act. */
function briefLines(card: Card): readonly string[] {
  const [advice] = card.parts[0]?.advice ?? [];
  const link = linksOf(card).find(({ url }) => url.length <= 140);
  const urls = link === undefined ? [] : [link.url];
  const whole = [...(advice === undefined ? [] : [inShortMessage(advice)]), ...urls];
  const fits = isOneMessage([inShortMessage(card.headline), ...whole].join('\n'));
  return fits || urls.length === 0 ? whole : urls;
}

/** The beginning of a headline that names its subject, to the eighth letter. A shorter message that loses it costs less and says nothing. */
function nameIn(headline: string): string {
  return /^(?:[^:：]*(?: · |】))?[^:：]{0,8}/.exec(headline)?.[0] ?? '';
}

/** A character outside the alphabet of short messages (GSM 03.38): one such character halves what a message holds. */
const outside = /[^\n\r -_a-~£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà€]/u;

/** Whether the network sends it as one message: 160 places, of which those of the extension take two, or 70 in UCS-2. */
function isOneMessage(text: string): boolean {
  const places = text.replace(/[\^{}\\[~\]|€]/g, '  ').length;
  return outside.test(text) ? text.length <= 70 : places <= 160;
}

/** Characters of the alphabet for marks that it lacks. */
const shortMessageMarks: Readonly<Record<string, string>> = {
  '·': '-',
  '–': '-',
  '…': '...',
  '’': "'",
  '“': '"',
  '”': '"',
  '\u00a0': ' ',
};

/** The text in the alphabet, without the accents that it lacks; unchanged if that is not enough, as in Chinese. */
function inShortMessage(text: string): string {
  const plain = text.replace(
    new RegExp(outside, 'gu'),
    (mark) => ownOf(shortMessageMarks, mark) ?? mark.normalize('NFD').replace(/\p{M}/gu, ''),
  );
  return outside.test(plain) ? text : plain;
}
