import { alertKey } from '../domain/alert.ts';
import {
  isStandalone,
  joinNotification,
  mayHaveArrived,
  type Notification,
  type NotificationItem,
  newNotification,
  retryDelayMs,
  retryForMs,
} from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import type { MonitorState } from './state.ts';

/** The limit of one stored notification: a burst of thousands is not rewritten with each item. Notifications are joined when they are sent. */
const maxItemsStored = 250;

/**
 * Adds an item to the channel's last notification that is not being sent: items that become due within the group
 * wait, or while the channel is down or busy, are one message. Returns the notification's id.
 */
export function enqueue(state: MonitorState, channel: string, item: NotificationItem, dueAt: number): string {
  // An item that waits for a poll and one that does not are not joined, or both would wait. Standalone messages in between are passed over.
  const paused = pausedForPoll(state, channel, item.at);
  const pausedAlerts = new Set(paused.flatMap(alertsOf));
  const waits = (one: NotificationItem): boolean =>
    isUnconfirmed(state, one, item.at) || pausedAlerts.has(alertKey(one.account, one.rule));
  const isPaused = waits(item);
  const queue = queueOf(state, channel);
  // Nobody should read an end before its beginning: an item joins no message that stands before one about its alert which it cannot join.
  const isOwn = ({ account, rule }: NotificationItem): boolean =>
    account === item.account && rule === item.rule;
  const mayJoin = (message: Notification): boolean => isOpen(message) && !state.underWay.has(message.id);
  const before = queue.findLastIndex(
    (message) => !isStandalone(message) && !mayJoin(message) && message.items.some(isOwn),
  );
  const last = queue.findLast(
    (message, place) =>
      place > before &&
      mayJoin(message) &&
      // Items that wait behind a full paused message stand together, too.
      (paused.includes(message) || message.items.slice(-1).some(waits)) === isPaused,
  );
  const message =
    last === undefined || last.items.length >= maxItemsStored
      ? newNotification({ id: state.random.id(), channel, items: [item], dueAt, now: item.at })
      : join(state, last, [item], dueAt);
  putNotification(state, message);
  return message.id;
}

/** A notification that a daemon may have sent before it died gets another id when it grows, because receivers drop repeated ids. */
function join(
  state: MonitorState,
  message: Notification,
  items: readonly NotificationItem[],
  dueAt: number,
): Notification {
  const uncertain = message.uncertain || state.inherited.delete(message.id);
  return joinNotification({ ...message, uncertain }, items, dueAt);
}

export function putNotification(state: MonitorState, message: Notification): void {
  state.messages.set(message.id, message);
  const queue = state.queues.get(message.channel) ?? [];
  const place = queue.indexOf(message.id);
  if (message.state === 'pending' && place < 0) state.queues.set(message.channel, [...queue, message.id]);
  if (message.state !== 'pending' && place >= 0) state.queues.set(message.channel, queue.toSpliced(place, 1));
}

/** The oldest notification about incidents, which no later one may overtake, and all standalone ones. */
export function sendable(queue: readonly Notification[]): readonly Notification[] {
  const first = queue.find((message) => !isStandalone(message));
  return queue.filter((message) => message === first || isStandalone(message));
}

/** The alerts of messages that are under way or paused, and of messages that wait behind those: another message about one of these alerts waits. */
export function busyAlerts(state: MonitorState, channel: string, now: number): ReadonlySet<string> {
  const paused = pausedForPoll(state, channel, now);
  if (state.underWay.size + paused.length === 0) return noAlerts;
  const busy = new Set<string>();
  for (const message of queueOf(state, channel))
    if (state.underWay.has(message.id) || paused.includes(message) || isAboutOneOf(message, busy))
      for (const alert of alertsOf(message)) busy.add(alert);
  return busy;
}

const noAlerts: ReadonlySet<string> = new Set();

function alertsOf({ items }: Notification): readonly string[] {
  return items.map(({ account, rule }) => alertKey(account, rule));
}

export function isAboutOneOf(message: Notification, alerts: ReadonlySet<string>): boolean {
  return alerts.size > 0 && alertsOf(message).some((alert) => alerts.has(alert));
}

function isOpen(message: Notification): boolean {
  return !isStandalone(message) && message.except === undefined;
}

/** Whether nobody can have any of it: no attempt was made, nor is one under way. */
export function isUnsent(state: MonitorState, message: Notification): boolean {
  return !mayHaveArrived(message) && !state.underWay.has(message.id);
}

/** Messages about an incident that may be over since lowwater last ran: they wait for a poll, until `unconfirmedUntil` at most. */
export function pausedForPoll(state: MonitorState, channel: string, now: number): readonly Notification[] {
  if (state.unconfirmed.size === 0 || now >= state.unconfirmedUntil) return [];
  return queueOf(state, channel).filter(({ items }) => items.some((item) => isUnconfirmed(state, item, now)));
}

function isUnconfirmed(
  { unconfirmed, unconfirmedUntil, incidents }: MonitorState,
  { account, incident }: NotificationItem,
  now: number,
): boolean {
  const wasOpen = now < unconfirmedUntil && unconfirmed.get(account)?.includes(incident) === true;
  return wasOpen && incidents.get(incident)?.resolvedAt === null;
}

/** Until when a receiver that refused a message for now is left alone; in the past when it takes messages. */
export function refusedUntil(state: MonitorState, channel: string): number {
  const waiting = queueOf(state, channel).filter(
    ({ id, lastError, owed }) => lastError !== null && owed === undefined && !state.underWay.has(id),
  );
  return Math.max(Number.NEGATIVE_INFINITY, ...waiting.map(({ dueAt }) => dueAt));
}

/**
 * Joins everything queued behind a notification that is about to be sent: what happened while the channel was
 * down is one message, in order. A message about an alert under way waits.
 */
export function absorbFollowers(
  state: MonitorState,
  message: Notification,
  underWay: ReadonlySet<string> = noAlerts,
): Notification {
  if (!isOpen(message)) return message;
  const busy = new Set(underWay);
  let whole = message;
  for (const id of state.queues.get(message.channel) ?? []) {
    const follower = state.messages.get(id);
    if (follower === undefined || id === message.id || isStandalone(follower) || state.underWay.has(id))
      continue;
    // A message that may have arrived is known to its receivers by its id, and nothing joins one that is not for all recipients.
    if (!isOpen(follower) || follower.uncertain || isAboutOneOf(follower, busy)) {
      for (const alert of alertsOf(follower)) busy.add(alert);
      continue;
    }
    whole = join(state, whole, follower.items, whole.dueAt);
    removeNotification(state, follower);
    for (const { incident } of follower.items) followFirstMessage(state, incident, follower, message);
  }
  return whole;
}

/**
 * Messages owed to some recipients are one queue in order. If a message about to be sent is about the same alerts, these recipients hear of
 * it with what they are owed, and it goes to the others alone. Returns the message as it is to be sent.
 */
export function joinOwed(state: MonitorState, message: Notification): Notification {
  if (message.report !== null) return message;
  let whole = message;
  for (const other of queueOf(state, message.channel)) {
    if (state.underWay.has(other.id) || !isAboutOneOf(other, new Set(alertsOf(whole)))) continue;
    const [forAll, forSome] = whole.owed === undefined ? [whole, other] : [other, whole];
    if (forAll.owed === undefined && forSome.owed !== undefined && forSome.deliveredAt === null)
      whole = joinUnheard(state, whole, other);
    else whole = whole.owed === undefined ? exceptOwed(state, whole, other) : takeIn(state, whole, other);
  }
  return whole;
}

/** For two messages of which nobody has one: both go to everybody as one message, so that nobody reads an end without its beginning. */
function joinUnheard(state: MonitorState, message: Notification, other: Notification): Notification {
  const { owed, except: _, ...forAll } = message;
  const [first, next] = owed === undefined ? [other, message] : [message, other];
  removeNotification(state, other);
  for (const { incident } of other.items) followFirstMessage(state, incident, other, message);
  const { except } = next;
  const { items, createdAt, giveUpAt } = first;
  const uncertain = mayHaveArrived(message) || mayHaveArrived(other);
  const whole = { ...forAll, ...(except && { except }), items, createdAt, giveUpAt, uncertain };
  return withItems(state, whole, next);
}

/** If `other` is owed to some recipients, they get the items with it, and `message` goes to the others. */
function exceptOwed(state: MonitorState, message: Notification, other: Notification): Notification {
  if (other.owed === undefined) return message;
  putNotification(state, withItems(state, other, message));
  return { ...message, except: [...new Set([...(message.except ?? []), ...other.owed])] };
}

/** Adds the items of `other`. `message` is owed to some recipients, `other` to the same ones, or to everybody. */
function takeIn(state: MonitorState, message: Notification, other: Notification): Notification {
  const { owed = [] } = message;
  if (other.id === message.id || other.report !== null) return message;
  if (other.owed !== undefined) {
    if (other.owed.length !== owed.length || other.owed.some((name) => !owed.includes(name))) return message;
    removeNotification(state, other);
    // Items that nobody has are not lost with the other message, and those that others have are not taken back.
    if (other.deliveredAt === null || message.deliveredAt === null) {
      const uncertain = mayHaveArrived(message) || mayHaveArrived(other);
      return withItems(state, { ...message, deliveredAt: null, uncertain }, other);
    }
  } else {
    putNotification(state, { ...other, except: [...new Set([...(other.except ?? []), ...owed])] });
  }
  return withItems(state, message, other);
}

/** The message with the items of another that it does not have. */
function withItems(state: MonitorState, message: Notification, { items }: Notification): Notification {
  const fresh = items.filter((item) => !message.items.some((known) => isSameItem(known, item)));
  return fresh.length === 0 ? message : join(state, message, fresh, message.dueAt);
}

function isSameItem(one: NotificationItem, other: NotificationItem): boolean {
  return one.incident === other.incident && one.kind === other.kind && one.at === other.at;
}

/** Of a message that is given up after a day, the items that joined later go on in a message with its own day. Returns the ids of their incidents. */
export function splitFresh(state: MonitorState, message: Notification, now: number): ReadonlySet<string> {
  const triedMs = message.giveUpAt - message.createdAt;
  const fresh = message.items.filter((item) => now < item.at + triedMs);
  const spared = new Set(fresh.map((item) => item.incident));
  const first = fresh[0];
  if (first === undefined) return spared;
  const next = {
    ...newNotification({
      id: state.random.id(),
      channel: message.channel,
      items: message.items.filter((item) => spared.has(item.incident)),
      now: first.at,
      dueAt: now + retryDelayMs(message.attempts),
    }),
    // `triedMs` includes clock changes and time without a daemon, perhaps from before the first item: a day from now is enough.
    giveUpAt: Math.min(first.at + triedMs, now + retryForMs),
    // It was tried with the others.
    attempts: 1,
    ...(message.owed === undefined ? {} : { owed: message.owed, deliveredAt: message.deliveredAt }),
  };
  putNotification(state, next);
  // Once it was delivered to some recipients, they have the first message.
  if (message.deliveredAt === null)
    for (const incident of spared) followFirstMessage(state, incident, message, next);
  return spared;
}

/** The pending notifications of a channel, oldest first. */
export function queueOf(state: MonitorState, channel: string): readonly Notification[] {
  return (state.queues.get(channel) ?? []).flatMap((id) => state.messages.get(id) ?? []);
}

export function removeNotification(state: MonitorState, message: Notification): void {
  state.messages.delete(message.id);
  state.queues.set(
    message.channel,
    (state.queues.get(message.channel) ?? []).filter((id) => id !== message.id),
  );
}

/** Replies refer to an incident's first message, also after that was joined into another. */
function followFirstMessage(state: MonitorState, id: string, from: Notification, to: Notification): void {
  const incident = state.incidents.get(id);
  const notified = ownOf(incident?.notified, from.channel);
  if (incident === undefined || notified?.firstMessage !== from.id) return;
  const moved = { ...notified, firstMessage: to.id };
  state.incidents.set(id, { ...incident, notified: { ...incident.notified, [from.channel]: moved } });
}
