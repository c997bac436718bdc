import { type IncidentMessage, type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { cleanText, cutText } from '../../domain/plain-text.ts';
import { textBehind } from '../../domain/secret.ts';
import { isoText } from '../../domain/time.ts';
import { type ItemWording, readerOf, wordItem } from '../../messages/item-wording.ts';
import { wordCard } from '../../messages/message-wording.ts';
import { joinSentences, labelled, withoutStop } from '../../wording/lists.ts';
import type { Reader } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { type KeyOrder, keyOrders, nameOfAlert, sourceOf } from '../alert-key.ts';
import type { Attempt } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

/** The most characters of a summary, and of a key (developer.pagerduty.com, Events API v2). */
const maxSummaryLength = 1024;
const maxGroupLength = 200;
const maxKeyLength = 255;

/**
 * A message as events: firing alerts trigger, acknowledged ones acknowledge, ended ones resolve, all under one key for an alert. The state
 * decides, not the reason of the message: a trigger that was delayed must not open again what is over. Events without an end, and reports,
 * are changes: they wake nobody.
 */
export function render(message: Message) {
  return eventsOf(message).map(({ name, event }) => ({ name, event, body: JSON.stringify(event) }));
}

function eventsOf(message: Message) {
  switch (message.kind) {
    case 'incidents':
      return incidentEvents(message);
    case 'report':
      return [{ name: 'the report', event: changeOf(message) }];
    case 'test':
      return [{ name: 'the test', event: changeOf(message) }];
  }
}

export function prepare(
  { event: { event_action, ...event } }: ReturnType<typeof render>[number],
  { address, keys }: PostSettings,
): Attempt {
  const isChange = event_action === 'change';
  return {
    url: `${address.reveal()}/v2/${isChange ? 'change/enqueue' : 'enqueue'}`,
    body: JSON.stringify({
      routing_key: textBehind(keys.routingKey),
      ...(isChange ? {} : { event_action }),
      ...event,
    }),
  };
}

export function show(event: {
  readonly event_action?: string;
  readonly dedup_key?: string;
  readonly payload?: { readonly summary: string; readonly custom_details: object };
}): readonly string[] {
  const { event_action, dedup_key, payload } = event;
  const action = event_action === undefined ? 'change' : `${event_action} ${dedup_key}`;
  if (payload === undefined) return [action];
  const details = Object.entries(payload.custom_details);
  return [action, payload.summary, ...details.map(([label, value]) => `${label}: ${value}`)];
}

function incidentEvents(message: IncidentMessage) {
  const isEvent = (item: MessageItem): boolean => stateOf(item) === 'event';
  const alerts = message.items.filter((item) => !isEvent(item));
  return [
    ...keyOrders(alerts, { maxLength: maxKeyLength, raises: true }).map((order) => ({
      name: order.name,
      event: eventOf(order, message),
    })),
    ...message.items.filter(isEvent).map((item) => ({
      name: nameOfAlert(item),
      event: changeOf({ ...message, items: [item] }),
    })),
  ];
}

function eventOf({ item, action, key: dedup_key }: KeyOrder, message: IncidentMessage) {
  if (action !== 'open') return { event_action: action === 'close' ? 'resolve' : 'acknowledge', dedup_key };
  const words = wordItem(item, message);
  const page = words.links.find(({ kind }) => kind === 'page')?.url;
  const team = item.account?.labels.team;
  return {
    event_action: 'trigger',
    dedup_key,
    client: 'lowwater',
    ...(page === undefined ? {} : { client_url: page }),
    links: words.links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: cutText(words.headline, maxSummaryLength),
      source: sourceOf(item),
      severity: item.severity,
      timestamp: isoText(item.firedAt),
      ...(item.balance === null ? {} : { component: item.balance }),
      ...(team === undefined ? {} : { group: cleanText(team, maxGroupLength) }),
      class: item.rule,
      custom_details: detailsOf(words, readerOf(message)),
    },
  };
}

const says = phrases('pagingDetail', {
  whatToDo: 'What to do',
  note: 'Note',
  since: 'Since',
  origin: 'Origin',
});

function detailsOf(words: ItemWording, reader: Reader): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(words.figures.map(({ label, value }) => [label, value])),
    ...(words.advice.length === 0 ? {} : { [say(says.whatToDo, reader)]: joinSentences(words.advice) }),
    ...(words.note === null ? {} : { [say(says.note, reader)]: words.note }),
    [say(says.since, reader)]: joinSentences(words.story),
    [say(says.origin, reader)]: words.origin,
  };
}

/** A change event: something happened, and nobody has to do anything. */
function changeOf(message: Message) {
  const card = wordCard(message, 20);
  const lines = card.parts.map((part, index) => [
    part.title ?? `${index + 1}`,
    [...part.lines.map(withoutStop), ...part.figures.map(({ label, value }) => labelled(label, value))].join(
      ' · ',
    ),
  ]);
  return {
    event_action: 'change',
    links: card.links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: cutText(card.headline, maxSummaryLength),
      source: 'lowwater',
      timestamp: isoText(message.at),
      custom_details: Object.fromEntries(lines),
    },
  };
}
