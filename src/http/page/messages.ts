import { displayName } from '../../domain/alert.ts';
import type { Notification } from '../../domain/outbox.ts';
import type { ChannelView } from '../../views/create-views.ts';
import { type Html, html } from '../../wording/html.ts';
import { live } from './live.ts';
import { accountLink, age, badge, type Frame, ifReadable, table, unknown, type Visit } from './words.ts';

const shownItems = 3;
const listedMessages = 200;

/** The last messages, and the channels. */
export async function renderMessages(visit: Visit): Promise<Html> {
  const messages = await ifReadable(() => messageTable(visit, listedMessages));
  return html`<h1>Messages</h1>${live('messages', messages)}
<section aria-labelledby="channels-heading"><h2 id="channels-heading">Channels</h2>${live('channels', channelTable(visit.views.channels(), visit))}</section>`;
}

/** Messages with their delivery, newest first. */
export async function messageTable(visit: Visit, limit: number): Promise<Html> {
  const { views } = visit;
  const messages = await views.notifications(limit);
  if (messages.length === 0)
    return html`<p class="empty">No message has been sent yet. <code>lowwater test-channel NAME</code> sends one, and shows what its receiver says.</p>`;
  const names = new Map(views.choices().accounts);
  const head = html`<th scope="col">Delivery</th><th scope="col">Channel</th><th scope="col">Type</th><th scope="col">Alerts</th><th scope="col">Created</th><th scope="col">Attempts</th>`;
  const rows = messages.map((message) => messageRow(names, message, visit));
  return table('Messages', 'cards compact messages', head, rows);
}

/** Channels with what they still owe. */
export function channelTable(channels: readonly ChannelView[], frame: Frame): Html {
  if (channels.length === 0)
    return html`<p class="empty">No channel is configured: nobody is notified. Add one under <code>channels</code> of the configuration.</p>`;
  const head = html`<th scope="col">Channel</th><th scope="col">Kind</th><th scope="col">Waiting</th><th scope="col">Last delivered</th><th scope="col">Last error</th>`;
  const rows = channels.map(
    ({ name, type, pending, lastDeliveredAt, lastError }) =>
      html`<tr><th scope="row"><bdi>${name}</bdi></th><td data-label="Kind">${type}</td><td data-label="Waiting">${pending}</td>
<td data-label="Last delivered">${lastDeliveredAt === null ? html`<span class="soft">never</span>` : age(lastDeliveredAt, frame)}</td>
<td data-label="Last error">${lastError === null ? html`<span class="soft">none</span>` : lastError}</td></tr>`,
  );
  return table('Channels', 'cards compact', head, rows);
}

function messageRow(names: AccountNames, message: Notification, frame: Frame): Html {
  return html`<tr><td data-label="Delivery">${deliveryBadge(message)}${
    message.deliveredAt !== null && html`<span class="sub">${age(message.deliveredAt, frame)}</span>`
  }${message.state !== 'delivered' && message.lastError !== null && html`<span class="sub">${message.lastError}</span>`}</td>
<td data-label="Channel"><bdi>${message.channel}</bdi></td><td data-label="Type">${saying(message)}</td><td data-label="Alerts">${about(names, message)}</td>
<td data-label="Created">${age(message.createdAt, frame)}</td><td data-label="Attempts">${message.attempts}</td></tr>`;
}

function deliveryBadge({ state, attempts }: Notification): Html {
  if (state === 'delivered') return badge('good', 'Delivered');
  if (state === 'dead') return badge('critical', 'Refused');
  return attempts === 0 ? badge('pending', 'Waiting') : badge('warning', 'Trying again');
}

function saying({ items, report }: Notification): string {
  if (report !== null) return 'report';
  return [...new Set(items.map(({ kind }) => kind))].join(', ') || 'test';
}

type AccountNames = ReadonlyMap<string, string>;

function about(names: AccountNames, { items, report }: Notification): Html {
  if (report !== null) return html`<bdi>${report.id}</bdi>`;
  if (items.length === 0) return unknown();
  const more = items.length - shownItems;
  const links = items.slice(0, shownItems).map(({ account, rule }, index) => {
    const known = names.get(account);
    const name =
      known === undefined
        ? html`<bdi>${displayName(account)}</bdi>`
        : accountLink({ id: account, name: known });
    return html`${index > 0 && html`<br>`}${name} <span class="soft">${rule}</span>`;
  });
  return html`${links}${more > 0 && html`<br><span class="soft">and ${more} more</span>`}`;
}
