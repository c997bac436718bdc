import type { Incident, Told } from '../../core/alert.ts';
import { type OutboxMessage, retryDelayMs, wireId } from '../../core/outbox.ts';
import type { Delivery } from '../ports.ts';
import { settleIncident } from './announce.ts';
import { channelFailedRule, clearOwnFailure, isOwnFailureRaised, raiseChannelFailed } from './own-alerts.ts';
import { absorbFollowers, putMessage } from './queue.ts';
import type { MonitorState } from './state.ts';

/** A message that was sent, and how that ended. `subject` is the mail thread's; null where the channel has none. */
export interface Sent {
  readonly message: OutboxMessage;
  /** An earlier attempt under the same id may have arrived. */
  readonly wasUncertain: boolean;
  readonly subject: string | null;
  readonly delivery: Delivery;
}

/** Records how sending a message ended, and what follows for its incidents and its channel. */
export function settleDelivery(state: MonitorState, sent: Sent, now: number): void {
  const { subject, delivery, wasUncertain } = sent;
  const message = state.messages.get(sent.message.id) ?? sent.message;
  state.underWay.delete(message.id);
  const deliveredAt = state.deliveries.get(message.channel)?.deliveredAt ?? null;
  state.deliveries.set(
    message.channel,
    delivery.kind === 'delivered'
      ? { deliveredAt: now, lastError: null }
      : { deliveredAt, lastError: delivery.reason },
  );
  switch (delivery.kind) {
    case 'delivered':
      settleDelivered(state, { message, subject, refused: delivery.refusedRecipients ?? [], now });
      break;
    case 'retry':
      settleRetry(state, { message, delivery, wasUncertain, now });
      break;
    case 'dead':
      settleDead(state, { message, reason: delivery.reason, now });
      break;
  }
}

function settleDelivered(
  state: MonitorState,
  it: {
    readonly message: OutboxMessage;
    readonly subject: string | null;
    readonly refused: readonly string[];
    readonly now: number;
  },
): void {
  const { message, now } = it;
  putMessage(state, { ...message, state: 'delivered', deliveredAt: now, uncertain: false, lastError: null });
  const rule = channelFailedRule(message.channel);
  if (it.refused.length > 0) {
    const reason = `refused ${it.refused.join(', ')}; the other recipients got the message`;
    raiseChannelFailed(state, { channel: message.channel, severity: 'warning', reason, now });
  } else if (isOwnFailureRaised(state, rule)) {
    clearOwnFailure(state, rule, now);
    // What the channel refused while it was broken is decided on again.
    for (const id of state.incidents.keys()) state.touched.add(id);
    forgetTries(state, message.channel);
  }
  forEachTold(state, message, (_, told) => {
    const first = told.firstMessage === message.id && told.subject === null;
    return {
      ...told,
      at: Math.max(told.at, now),
      firstMessage: first ? wireId(message) : told.firstMessage,
      subject: first ? it.subject : told.subject,
    };
  });
}

function settleRetry(
  state: MonitorState,
  it: {
    readonly message: OutboxMessage;
    readonly delivery: Extract<Delivery, { kind: 'retry' }>;
    readonly wasUncertain: boolean;
    readonly now: number;
  },
): void {
  const { message, delivery, now } = it;
  if (now >= message.giveUpAt) {
    settleDead(state, { message, reason: `not delivered within a day; last: ${delivery.reason}`, now });
    return;
  }
  const waiting: OutboxMessage = {
    ...message,
    uncertain: it.wasUncertain || delivery.certainty === 'unknown',
    dueAt: now + retryDelayMs(message.attempts, delivery.afterMs),
    lastError: delivery.reason,
  };
  putMessage(state, absorbFollowers(state, waiting));
}

/** What could not be told is not counted as told: it is tried again when the channel works, or at the pace of reminders. */
function settleDead(
  state: MonitorState,
  it: { readonly message: OutboxMessage; readonly reason: string; readonly now: number },
): void {
  const { message, reason, now } = it;
  putMessage(state, { ...message, state: 'dead', uncertain: false, lastError: reason });
  raiseChannelFailed(state, { channel: message.channel, severity: 'critical', reason, now });
  forEachTold(state, message, (incident) => {
    state.channelTries.set(`${message.channel}/${incident.id}`, now);
    return null;
  });
}

/** Lets a channel be tried again at once, because it worked or was configured anew. */
export function forgetTries(state: MonitorState, channel: string): void {
  for (const key of [...state.channelTries.keys()]) {
    if (key.startsWith(`${channel}/`)) state.channelTries.delete(key);
  }
}

/** Changes, or with null removes, what the message's channel counts as told of each incident in it. */
function forEachTold(
  state: MonitorState,
  message: OutboxMessage,
  change: (incident: Incident, told: Told) => Told | null,
): void {
  for (const id of new Set(message.items.map((item) => item.incident))) {
    const incident = state.incidents.get(id);
    const told = incident?.told[message.channel];
    if (incident === undefined || told === undefined) continue;
    const { [message.channel]: _, ...others } = incident.told;
    const next = change(incident, told);
    state.incidents.set(id, {
      ...incident,
      told: next === null ? others : { ...others, [message.channel]: next },
    });
    state.changes.incidents.add(id);
    state.touched.add(id);
  }
}

/** After a commit: messages that ended and incidents that nobody has to hear of any more leave the memory. */
export function forgetSettled(
  state: MonitorState,
  messages: Iterable<string>,
  incidents: Iterable<string>,
): void {
  for (const id of messages) {
    const message = state.messages.get(id);
    if (message !== undefined && message.state !== 'pending') state.messages.delete(id);
  }
  for (const id of incidents) {
    const incident = state.incidents.get(id);
    if (incident !== undefined) settleIncident(state, incident);
  }
}
