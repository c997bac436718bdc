import { uncertainMessage } from '../domain/alert.ts';
import { maxRetryAfterMs } from '../domain/backoff.ts';
import { parseJsonObject } from '../domain/json.ts';
import { type Notification, retryDelayMs, wireId } from '../domain/outbox.ts';
import type { Delivery } from '../ports/channel.ts';
import { channelFailedRule } from '../rules/self-alert-kinds.ts';
import { sentences } from '../wording/phrase.ts';
import { withHidden } from './inhibit.ts';
import { putNotification, splitFresh } from './queue.ts';
import { clearOwnFailure, isOwnFailureRaised, raiseChannelFailed } from './self-alerts.ts';
import { forEachNotified, withdrawNotified } from './silencing.ts';
import type { MonitorState } from './state.ts';

/**
 * `needless`: there was nothing to send or nowhere to send it. `untried`: the daemon did not try, because it might not own the accounts.
 * Neither is a fault of the channel.
 */
export type DeliveryEnd = Delivery | { readonly kind: 'needless' | 'untried'; readonly reason: string };

/** Whether the channel was asked to take the message. */
export function wasTried(delivery: DeliveryEnd): delivery is Delivery {
  return delivery.kind !== 'needless' && delivery.kind !== 'untried';
}

/** A delivery that ended. `subject`: that of the mail thread; null without threads. */
export interface Sent {
  readonly message: Notification;
  readonly wasUncertain: boolean;
  readonly subject: string | null;
  readonly delivery: DeliveryEnd;
}

interface Ended<Kind extends DeliveryEnd['kind'] = DeliveryEnd['kind']> extends Sent {
  readonly delivery: Extract<DeliveryEnd, { kind: Kind }>;
  readonly now: number;
}

/** The reasons why nothing, or not everything, was sent. */
export const unsent = sentences('unsent', {
  channelRemoved: 'the channel was removed from the configuration',
  gaveUp: 'given up after {count, plural, one {# attempt} other {# attempts}}: {reason}',
  late: 'not delivered within a day; last: {reason}',
  refused: 'refused {recipients}; the rest was delivered',
  refusedBy: 'refused {recipients} ({reason}); the rest was delivered',
  refusedFirst: 'refused {recipients}; the rest is tried again',
  refusedFirstBy: 'refused {recipients} ({reason}); the rest is tried again',
  tooOld: 'too old when lowwater came back',
  forgotten: 'nothing is known any more of what it was about',
  unheard: 'this channel never heard of it, and need not any more',
  noDatabase: 'the database could not be read',
  unstorable: 'the database cannot be written, and a test that is not stored might never end',
  ended: 'lowwater ended before',
  configuredAgain: 'it was configured again before',
  notStored: 'the database cannot be written, so it was not sent',
  notOwned: 'another daemon may own the accounts soon, so it was not sent',
});

export function recordDelivery(state: MonitorState, sent: Sent, now: number): void {
  const message = state.messages.get(sent.message.id) ?? sent.message;
  state.underWay.delete(message.id);
  if (!state.settings.channels.some(({ name }) => name === message.channel)) {
    end(state, message, sent.delivery.kind === 'delivered' ? delivered(now) : dead(unsent.channelRemoved()));
    return;
  }
  const { delivery } = sent;
  const ended = { ...sent, message, now };
  noteDelivery(state, ended);
  if (delivery.kind === 'untried') giveBack(state, ended);
  else if (message.owed !== undefined && message.deliveredAt !== null) recordOwed(state, ended, message.owed);
  else if (delivery.kind === 'delivered') recordDelivered(state, { ...ended, delivery });
  else if (delivery.kind === 'retry') recordRetry(state, { ...ended, delivery });
  else if (delivery.kind === 'needless') end(state, message, dead(delivery.reason));
  else recordDead(state, ended, delivery.reason);
}

/** Notes with the last delivery of each channel, by the channel's name, for people who look. */
export const deliveryNote = 'delivery:';

interface LastDelivery {
  readonly lastDeliveredAt: number | null;
  readonly lastError: string | null;
}

export function lastDelivery({ notes }: MonitorState, channel: string): LastDelivery {
  const { lastDeliveredAt, lastError } =
    parseJsonObject(notes.get(deliveryNote + channel)?.value ?? '') ?? {};
  return {
    lastDeliveredAt: typeof lastDeliveredAt === 'number' ? lastDeliveredAt : null,
    lastError: typeof lastError === 'string' ? lastError : null,
  };
}

/** How long the receiver takes nothing by any of its channels after this, in milliseconds; 0 when it takes messages. */
export function waitForAll(delivery: DeliveryEnd): number {
  const { isForAll = false, afterMs = 0 } =
    delivery.kind === 'retry' ? delivery : delivery.kind === 'delivered' ? (delivery.owed ?? {}) : {};
  return isForAll ? afterMs : 0;
}

/** Until when the receiver takes nothing, as it told this process or an earlier one; at most an hour from now, because clocks may be off. */
export function closedUntil({ notes }: MonitorState, channel: string, now: number): number {
  const { closedUntil: until } = parseJsonObject(notes.get(deliveryNote + channel)?.value ?? '') ?? {};
  return typeof until === 'number' ? Math.min(until, now + maxRetryAfterMs) : 0;
}

function noteDelivery(state: MonitorState, { message: { channel }, delivery, now }: Ended): void {
  if (!wasTried(delivery)) return;
  const last: LastDelivery =
    delivery.kind === 'delivered'
      ? { lastDeliveredAt: now, lastError: null }
      : { ...lastDelivery(state, channel), lastError: delivery.reason };
  const waitMs = waitForAll(delivery);
  const closed = waitMs === 0 ? {} : { closedUntil: now + waitMs };
  state.notes.write(deliveryNote + channel, JSON.stringify({ ...last, ...closed }));
}

type Ending = Pick<Notification, 'state' | 'lastError'> & Partial<Pick<Notification, 'deliveredAt'>>;

function end(state: MonitorState, message: Notification, ending: Ending): void {
  putNotification(state, { ...message, uncertain: false, ...ending });
}

function delivered(deliveredAt: number): Ending {
  return { state: 'delivered', lastError: null, deliveredAt };
}

function dead(lastError: string): Ending {
  return { state: 'dead', lastError };
}

function recordDelivered(state: MonitorState, ended: Ended<'delivered'>): void {
  const { message, delivery, now } = ended;
  const rule = channelFailedRule(message.channel);
  if (isOwnFailureRaised(state, rule)) {
    // Decide again on what the channel refused while it was broken.
    for (const id of state.incidents.keys()) state.touched.add(id);
    forgetTries(state, message.channel);
  }
  endForWhoHasIt(state, ended);
  // A delivery to owed recipients says nothing about those who refused it: they were not asked again.
  if ((delivery.refusedRecipients ?? []).length === 0 && message.owed === undefined)
    clearOwnFailure(state, rule, now);
  forEachNotified(state, message, (_, { pausedMs: _before, ...notified }) => {
    const first = [message.id, uncertainMessage].includes(notified.firstMessage) && notified.subject === null;
    return {
      ...notified,
      at: Math.max(notified.at, now),
      firstMessage: first ? wireId(message) : notified.firstMessage,
      subject: first ? ended.subject : notified.subject,
      ...(notified.receipt !== undefined || delivery.receipt === undefined
        ? {}
        : { receipt: delivery.receipt }),
    };
  });
}

/** Ends a delivered notification, except for refused recipients: those refused for now are retried, those refused for good are reported. */
function endForWhoHasIt(state: MonitorState, { message, delivery, now }: Ended<'delivered'>): void {
  const { owed, refusedRecipients: refused = [], refusal } = delivery;
  if (owed === undefined) end(state, message, delivered(now));
  else
    putNotification(state, {
      ...message,
      owed: owed.recipients,
      uncertain: false,
      deliveredAt: now,
      dueAt: now + retryDelayMs(message.owed === undefined ? 1 : message.attempts, owed.afterMs),
      lastError: owed.reason,
    });
  if (refused.length > 0) raiseRefused(state, message.channel, refused, { refusal, now });
}

/** Records an attempt for recipients that were refused temporarily. The incidents count as notified, because others have the message. */
function recordOwed(state: MonitorState, ended: Ended, owed: readonly string[]): void {
  const { message, delivery, now } = ended;
  const { channel } = message;
  if (delivery.kind === 'delivered') {
    endForWhoHasIt(state, { ...ended, delivery });
  } else if (
    delivery.kind === 'retry' &&
    now < message.giveUpAt &&
    message.attempts < (delivery.tries ?? Number.POSITIVE_INFINITY)
  ) {
    recordRetry(state, { ...ended, delivery });
  } else {
    if (delivery.kind === 'retry' && now >= message.giveUpAt) splitFresh(state, message, now);
    end(state, message, delivered(message.deliveredAt ?? now));
    if (delivery.kind !== 'needless') raiseRefused(state, channel, owed, { refusal: delivery.reason, now });
  }
}

/** Reports the refused recipients; the rest was delivered, or is tried again. */
function raiseRefused(
  state: MonitorState,
  channel: string,
  refused: readonly string[],
  order: { readonly refusal: string | undefined; readonly isFirst?: boolean; readonly now: number },
): void {
  const { refusal: reason, isFirst = false, now } = order;
  const recipients = refused.join(', ');
  const text =
    reason === undefined
      ? unsent[isFirst ? 'refusedFirst' : 'refused']({ recipients })
      : unsent[isFirst ? 'refusedFirstBy' : 'refusedBy']({ recipients, reason });
  raiseChannelFailed(state, channel, { severity: 'warning', text, refused: refused.length }, now);
}

function recordRetry(state: MonitorState, ended: Ended<'retry'>): void {
  const { message, delivery, wasUncertain, now } = ended;
  const { attempts, giveUpAt } = message;
  if (now >= giveUpAt) {
    const spared = splitFresh(state, message, now);
    recordDead(state, ended, unsent.late({ reason: delivery.reason }), spared);
  } else if (delivery.tries !== undefined && attempts >= delivery.tries) {
    recordDead(state, ended, unsent.gaveUp({ count: attempts, reason: delivery.reason }));
  } else {
    const { refused } = delivery;
    const waiting: Notification = {
      ...message,
      ...(refused === undefined ? {} : { owed: refused.others }),
      uncertain: wasUncertain || delivery.certainty === 'unknown',
      dueAt: now + retryDelayMs(message.attempts, delivery.afterMs),
      lastError: delivery.reason,
    };
    putNotification(state, waiting);
    if (refused !== undefined) {
      const { recipients, refusal } = refused;
      raiseRefused(state, message.channel, recipients, { refusal, isFirst: true, now });
    }
    touchAll(state, waiting);
  }
}

/** An attempt that was not made puts off nothing: the message is due as before, and goes out once its daemon may send. */
function giveBack(state: MonitorState, { message, wasUncertain }: Ended): void {
  putNotification(state, { ...message, attempts: message.attempts - 1, uncertain: wasUncertain });
  touchAll(state, message);
}

/** Touches the incidents of a message: a silence may have begun meanwhile, or an alert that inhibits them. */
function touchAll(state: MonitorState, { items }: Notification): void {
  for (const { incident } of items) state.touched.add(incident);
}

/** The incidents count as not notified: tried again when the channel works, or as reminders. `spared` ones go on in another notification. */
function recordDead(
  state: MonitorState,
  { message, wasUncertain, delivery, now }: Sent & { readonly now: number },
  reason: string,
  spared: ReadonlySet<string> = new Set(),
): void {
  const isUnknown = delivery.kind === 'retry' && delivery.certainty === 'unknown';
  end(state, message, dead(reason));
  raiseChannelFailed(state, message.channel, { severity: 'critical', text: reason }, now);
  for (const { incident } of message.items) {
    if (spared.has(incident)) continue;
    const rises = state.incidents.get(incident)?.rises ?? 0;
    state.channelTries.set(`${message.channel}/${incident}`, { at: now, rises });
  }
  withdrawNotified(state, message, spared, isUnknown || wasUncertain || message.revision !== 0);
  // The incidents that these inhibit have to speak for themselves if nobody else heard of these.
  const ids = message.items.map(({ incident }) => incident);
  for (const id of withHidden(state, ids)) state.touched.add(id);
}

/** Allows a new try at once, because the channel worked or was reconfigured. */
export function forgetTries(state: MonitorState, channel: string): void {
  for (const key of [...state.channelTries.keys()])
    if (key.startsWith(`${channel}/`)) state.channelTries.delete(key);
}
