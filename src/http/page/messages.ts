import { displayName } from '../../domain/alert.ts';
import type { OutboxMessage } from '../../domain/outbox.ts';
import type { ChannelView, Views } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { accountPath } from './forms.ts';
import { age, badge, type Frame, nameOf, unknown } from './words.ts';

const shownItems = 3;

/** Messages with their delivery, newest first. */
export function messageTable(
  views: Pick<Views, 'account'>,
  messages: readonly OutboxMessage[],
  frame: Frame,
): Html {
  if (messages.length === 0) return html`<p class="empty">No message has been sent yet.</p>`;
  return html`<div class="scroll" role="group" aria-label="Messages" tabindex="0"><table class="cards compact">
<thead><tr><th scope="col">Delivery</th><th scope="col">Channel</th><th scope="col">Says</th><th scope="col">About</th><th scope="col">Made</th><th scope="col">Attempts</th></tr></thead>
<tbody>${messages.map((message) => messageRow(views, message, frame))}</tbody></table></div>`;
}

/** Channels with what they still owe. */
export function channelTable(channels: readonly ChannelView[], frame: Frame): Html {
  if (channels.length === 0) return html`<p class="empty">No channel is configured.</p>`;
  return html`<div class="scroll" role="group" aria-label="Channels" tabindex="0"><table class="cards compact">
<thead><tr><th scope="col">Channel</th><th scope="col">Kind</th><th scope="col">Waiting</th><th scope="col">Last delivered</th><th scope="col">Last error</th></tr></thead>
<tbody>${channels.map(
    (
      channel,
    ) => html`<tr><th scope="row"><bdi>${channel.name}</bdi></th><td data-label="Kind">${channel.type}</td><td data-label="Waiting">${channel.pending}</td>
<td data-label="Last delivered">${channel.lastDeliveredAt === null ? html`<span class="soft">never</span>` : age(channel.lastDeliveredAt, frame)}</td>
<td data-label="Last error">${channel.lastError === null ? html`<span class="soft">none</span>` : channel.lastError}</td></tr>`,
  )}</tbody></table></div>`;
}

function messageRow(views: Pick<Views, 'account'>, message: OutboxMessage, frame: Frame): Html {
  return html`<tr><td data-label="Delivery">${deliveryBadge(message)}${
    message.deliveredAt !== null && html`<span class="sub">${age(message.deliveredAt, frame)}</span>`
  }${message.state !== 'delivered' && message.lastError !== null && html`<span class="sub">${message.lastError}</span>`}</td>
<td data-label="Channel"><bdi>${message.channel}</bdi></td><td data-label="Says">${saying(message)}</td><td data-label="About">${about(views, message)}</td>
<td data-label="Made">${age(message.createdAt, frame)}</td><td data-label="Attempts">${message.attempts}</td></tr>`;
}

function deliveryBadge({ state, attempts }: OutboxMessage): Html {
  if (state === 'delivered') return badge('good', 'Delivered');
  if (state === 'dead') return badge('critical', 'Refused');
  return attempts === 0 ? badge('pending', 'Waiting') : badge('warning', 'Trying again');
}

function saying({ items, report }: OutboxMessage): string {
  if (report !== null) return 'report';
  return [...new Set(items.map(({ kind }) => kind))].join(', ') || 'test';
}

function about(views: Pick<Views, 'account'>, { items, report }: OutboxMessage): Html {
  if (report !== null) return html`<bdi>${report.id}</bdi>`;
  if (items.length === 0) return unknown();
  const more = items.length - shownItems;
  const links = items.slice(0, shownItems).map(({ account, rule }, index) => {
    const view = views.account(account);
    const name =
      view === null
        ? html`<bdi>${displayName(account)}</bdi>`
        : html`<a href="${accountPath(account)}"><bdi>${nameOf(view.name)}</bdi></a>`;
    return html`${index > 0 && html`<br>`}${name} <span class="soft">${rule}</span>`;
  });
  return html`${links}${more > 0 && html`<br><span class="soft">and ${more} more</span>`}`;
}
