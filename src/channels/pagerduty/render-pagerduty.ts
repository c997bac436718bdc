import { type IncidentMessage, type Message, type MessageItem, stateOf } from '../../domain/message.ts';
import { isoText } from '../../domain/moment.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Severity } from '../../domain/severity.ts';
import { type ItemWording, wordItem } from '../../messages/item-wording.ts';
import { wordCard } from '../../messages/message-wording.ts';
import { actionFor, dedupKey, latestOfEachAlert, nameOfAlert } from '../alert-key.ts';
import type { Attempt, PostedPart } from '../post-sender.ts';
import type { PostSettings } from '../receiver.ts';

interface Link {
  readonly href: string;
  readonly text: string;
}

/** An event as the API takes it, without the routing key (developer.pagerduty.com, Events API v2). */
export type PagerdutyEvent =
  | {
      readonly event_action: 'trigger';
      readonly dedup_key: string;
      readonly client: 'lowwater';
      readonly client_url?: string;
      readonly links: readonly Link[];
      readonly payload: {
        readonly summary: string;
        readonly source: string;
        readonly severity: Severity;
        readonly timestamp: string;
        readonly component?: string;
        readonly group?: string;
        readonly class: string;
        readonly custom_details: Readonly<Record<string, string>>;
      };
    }
  | { readonly event_action: 'acknowledge' | 'resolve'; readonly dedup_key: string }
  /** Something that happened and asks nothing of anybody. */
  | {
      readonly event_action: 'change';
      readonly links: readonly Link[];
      readonly payload: {
        readonly summary: string;
        readonly source: string;
        readonly timestamp: string;
        readonly custom_details: Readonly<Record<string, string>>;
      };
    };

/** An event, and the alert that it is about. */
interface NamedEvent {
  readonly name: string;
  readonly event: PagerdutyEvent;
}

/** The most characters of a summary, and of a key (developer.pagerduty.com, Events API v2). */
const maxSummaryLength = 1024;
const maxKeyLength = 255;

/**
 * A message as events: what fires triggers, what somebody took acknowledges, what ended resolves, all under one key for an alert.
 * The state decides, not what the message says it was written for: a trigger that was delayed must not open again what is over.
 * Events without an end, and reports, are changes: they wake nobody.
 */
export function renderPagerduty(message: Message): readonly NamedEvent[] {
  switch (message.kind) {
    case 'incidents':
      return latestOfEachAlert(message.items).map((item) => ({
        name: nameOfAlert(item),
        event: eventOf(item, message),
      }));
    case 'report':
      return [{ name: 'the report', event: changeOf(message) }];
    case 'test': {
      const dedup_key = `lowwater-test-${message.id}`;
      const { headline } = wordCard(message, 1);
      const payload = {
        summary: cutText(headline, maxSummaryLength),
        source: 'lowwater',
        severity: 'info',
        timestamp: isoText(message.at),
        class: 'test',
        custom_details: {},
      } as const;
      return [
        {
          name: 'trigger',
          event: { event_action: 'trigger', dedup_key, client: 'lowwater', links: [], payload },
        },
        { name: 'resolve', event: { event_action: 'resolve', dedup_key } },
      ];
    }
  }
}

/** Each event ends by itself. What is shown of it holds no key. */
export function render(message: Message): readonly PostedPart[] {
  return renderPagerduty(message).map(({ name, event }) => ({ name, body: JSON.stringify(event) }));
}

export function prepare({ body }: PostedPart, { address, keys }: PostSettings): Attempt {
  // What `render` above wrote.
  const { event_action, ...event }: PagerdutyEvent = JSON.parse(body);
  const isChange = event_action === 'change';
  return {
    url: `${address.reveal()}/v2/${isChange ? 'change/enqueue' : 'enqueue'}`,
    body: JSON.stringify({
      routing_key: keys.routingKey?.reveal(),
      ...(isChange ? {} : { event_action }),
      ...event,
    }),
  };
}

/** Nobody but the demo's own channel knows its address: it gets what `prepare` made. */
export function show(event: PagerdutyEvent): readonly string[] {
  if (!('payload' in event)) return [`${event.event_action} ${event.dedup_key}`];
  const { summary, custom_details: details } = event.payload;
  const action = 'dedup_key' in event ? `${event.event_action} ${event.dedup_key}` : 'change';
  return [action, summary, ...Object.entries(details).map(([label, value]) => `${label}: ${value}`)];
}

function eventOf(item: MessageItem, message: IncidentMessage): PagerdutyEvent {
  const words = wordItem(item, message);
  if (stateOf(item) === 'event') return changeOf({ ...message, items: [item] });
  const dedup_key = dedupKey(item, maxKeyLength);
  const action = actionFor(item);
  if (action !== 'open') return { event_action: action === 'close' ? 'resolve' : 'acknowledge', dedup_key };
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
      source: item.accountName,
      severity: item.severity,
      timestamp: isoText(item.firedAt),
      ...(item.balance === null ? {} : { component: item.balance }),
      ...(team === undefined ? {} : { group: team }),
      class: item.rule,
      custom_details: detailsOf(words),
    },
  };
}

function detailsOf(words: ItemWording): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(words.figures.map(({ label, value }) => [label, value])),
    ...(words.advice.length === 0 ? {} : { 'What to do': words.advice.join(' ') }),
    ...(words.note === null ? {} : { Note: words.note }),
    Since: words.story.join(' '),
    Origin: words.origin,
  };
}

function changeOf(message: Message): PagerdutyEvent {
  const card = wordCard(message, 20);
  const lines = card.parts.map((part, index) => [
    part.title ?? `${index + 1}`,
    [...part.lines, ...part.figures.map(({ label, value }) => `${label}: ${value}`)].join(' · '),
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
