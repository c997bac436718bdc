import type { Notification } from '../../domain/outbox.ts';
import type { ChannelView } from '../../views/create-views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { pageOfTime } from '../api/input.ts';
import { known } from '../refusal.ts';
import { live } from './live.ts';
import { age, badge, ifReadable, subjectLink, table, unknown } from './markup.ts';
import { pager } from './pager.ts';
import { common, type Frame, pages, type Scope, withQuery } from './words.ts';

const shownItems = 3;
const messagesAPage = 40;

const says = phrases('messages', {
  none: 'No message has been sent yet. {command} sends one, and shows what its receiver says.',
  delivery: 'Delivery',
  channel: 'Channel',
  type: 'Type',
  created: 'Created',
  attempts: 'Attempts',
  noChannel: 'No channel is configured: nobody is notified. Add one under {key} of the configuration.',
  kind: 'Kind',
  waitingCount: 'Waiting',
  lastDelivered: 'Last delivered',
  lastError: 'Last error',
  noError: 'none',
  delivered: 'Delivered',
  refused: 'Refused',
  waiting: 'Waiting',
  again: 'Trying again',
  more: 'and {count} more',
});

const types = phrases('messageType', {
  report: 'report',
  test: 'test',
  firing: 'firing',
  worse: 'worse',
  reminder: 'reminder',
  escalated: 'escalated',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  flapping: 'flapping',
  event: 'event',
});

/** The messages, newest first, and the channels. */
export async function renderMessages(scope: Scope): Promise<Html> {
  const { views, query } = scope;
  const messages = await ifReadable(async () => {
    const cursor = query.get('cursor') || null;
    const { items, nextCursor } = await pageOfTime(
      { limit: messagesAPage, cursor },
      ({ limit, before }) => views.notifications(limit, before),
      ({ createdAt }) => createdAt,
    );
    return html`${messageTable(items, scope)}${pager((place) => withQuery('/messages', { cursor: place }), { cursor, nextCursor }, scope)}`;
  }, scope);
  return html`<h1>${say(pages.messages, scope)}</h1>${live('messages', messages)}
<section aria-labelledby="channels-heading"><h2 id="channels-heading">${say(common.channels, scope)}</h2>${live('channels', await listChannels(scope))}</section>`;
}

/** Messages with their delivery, newest first. */
export function messageTable(messages: readonly Notification[], scope: Scope): Html {
  if (messages.length === 0)
    return html`<p class="empty">${sayHtml(says.none, { command: html`<code>lowwater test-channel NAME</code>` }, scope)}</p>`;
  const names = new Map(scope.views.choices().accounts);
  const head = html`<th scope="col">${say(says.delivery, scope)}</th><th scope="col">${say(says.channel, scope)}</th><th scope="col">${say(says.type, scope)}</th><th scope="col">${say(pages.alerts, scope)}</th><th scope="col">${say(says.created, scope)}</th><th scope="col">${say(says.attempts, scope)}</th>`;
  const rows = messages.map((message) => messageRow(names, message, scope));
  return table(say(pages.messages, scope), 'cards compact messages', head, rows);
}

/** Whether no message to these channels waits, was refused, or is missing. */
export function channelsWork(channels: readonly ChannelView[]): boolean {
  return channels.length > 0 && channels.every(works);
}

function works({ pending, lastError }: ChannelView): boolean {
  return pending === 0 && lastError === null;
}

/** When the last message arrived, and the channels that have a problem. */
export function lastDelivery(channels: readonly ChannelView[], frame: Frame): Html {
  const at = Math.max(...channels.map(({ lastDeliveredAt }) => lastDeliveredAt ?? 0));
  return html`${at > 0 && html` ${badge('good', say(says.delivered, frame))} <span class="soft">${age(at, frame)}</span>`}${channels.filter((channel) => !works(channel)).map(({ name, pending }) => html` ${badge('warning', name)}${pending > 0 && html` <span class="soft">${say(says.waitingCount, frame)} ${pending}</span>`}`)}`;
}

export function listChannels(scope: Scope): Promise<Html> {
  return ifReadable(async () => channelTable(known(scope.views).channels(), scope), scope);
}

function channelTable(channels: readonly ChannelView[], frame: Frame): Html {
  if (channels.length === 0)
    return html`<p class="empty">${sayHtml(says.noChannel, { key: html`<code>channels</code>` }, frame)}</p>`;
  const head = html`<th scope="col">${say(says.channel, frame)}</th><th scope="col">${say(says.kind, frame)}</th><th scope="col">${say(says.waitingCount, frame)}</th><th scope="col">${say(says.lastDelivered, frame)}</th><th scope="col">${say(says.lastError, frame)}</th>`;
  const rows = channels.map(
    ({ name, type, pending, lastDeliveredAt, lastError }) =>
      html`<tr><th scope="row"><bdi>${name}</bdi></th><td data-label="${say(says.kind, frame)}">${type}</td><td data-label="${say(says.waitingCount, frame)}">${pending}</td>
<td data-label="${say(says.lastDelivered, frame)}">${lastDeliveredAt === null ? html`<span class="soft">${say(common.never, frame)}</span>` : age(lastDeliveredAt, frame)}</td>
<td data-label="${say(says.lastError, frame)}">${lastError === null ? html`<span class="soft">${say(says.noError, frame)}</span>` : sayAgain(lastError, frame)}</td></tr>`,
  );
  return table(say(common.channels, frame), 'cards compact', head, rows);
}

function messageRow(names: AccountNames, message: Notification, frame: Frame): Html {
  return html`<tr><td data-label="${say(says.delivery, frame)}">${deliveryBadge(message, frame)}${
    message.deliveredAt !== null && html` <span class="sub">${age(message.deliveredAt, frame)}</span>`
  }${message.state !== 'delivered' && message.lastError !== null && html` <span class="sub">${sayAgain(message.lastError, frame)}</span>`}</td>
<td data-label="${say(says.channel, frame)}"><bdi>${message.channel}</bdi></td><td data-label="${say(says.type, frame)}">${saying(message, frame)}</td><td data-label="${say(pages.alerts, frame)}">${about(names, message, frame)}</td>
<td class="created" data-label="${say(says.created, frame)}">${age(message.createdAt, frame)}</td><td class="attempts" data-label="${say(says.attempts, frame)}">${message.attempts}</td></tr>`;
}

function deliveryBadge({ state, attempts }: Notification, frame: Frame): Html {
  if (state === 'delivered') return badge('good', say(says.delivered, frame));
  if (state === 'dead') return badge('critical', say(says.refused, frame));
  return attempts === 0
    ? badge('pending', say(says.waiting, frame))
    : badge('warning', say(says.again, frame));
}

function saying({ items, report }: Notification, frame: Frame): string {
  if (report !== null) return say(types.report, frame);
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  return kinds.length === 0
    ? say(types.test, frame)
    : frame.language.list(kinds.map((kind) => say(types[kind], frame)));
}

type AccountNames = ReadonlyMap<string, string>;

function about(names: AccountNames, { items, report }: Notification, frame: Frame): Html {
  if (report !== null) return html`<bdi>${report.id}</bdi>`;
  if (items.length === 0) return unknown(frame);
  const more = items.length - shownItems;
  const links = items
    .slice(0, shownItems)
    .map(
      ({ account, rule }) =>
        html`<span class="line">${subjectLink(account, names)} <span class="soft">${rule}</span></span> `,
    );
  return html`${links}${more > 0 && html`<span class="soft">${say(says.more, { count: more }, frame)}</span>`}`;
}
