import type { Incident, LastNotified } from '../domain/alert.ts';
import { isStandalone, type NotificationReason } from '../domain/outbox.ts';
import { defaultRepeatEveryMs } from '../domain/route.ts';
import { alertKindOf } from '../rules/registry.ts';
import { channelFailed, channelFailedRule, providerDown } from '../rules/self-alert-kinds.ts';
import { type ChannelPlan, channelsOfRoutes, decide, planChannels, type Suppression } from './decide.ts';
import { heldUntil, staleIncidentsOf, suppressionByAlerts } from './inhibit.ts';
import { enqueue, putNotification, queueOf } from './queue.ts';
import { isOwnFailureRaised } from './self-alerts.ts';
import { type MonitorState, maxAtOnce, scheduleBy } from './state.ts';

/**
 * The step of a turn that decides, for every touched incident and each of its channels, whether to notify,
 * and queues that.
 */
export function decideTouched(state: MonitorState, now: number): void {
  if (state.touched.size === 0) return;
  const turn = { state, now, waiting: new WaitingIncidents(state) };
  let left = maxAtOnce;
  for (const id of state.touched) {
    if (left === 0) {
      scheduleBy(state, 'touched', now);
      return;
    }
    left -= 1;
    state.touched.delete(id);
    const incident = state.incidents.get(id);
    if (incident !== undefined) announce(turn, incident);
  }
}
interface Turn {
  readonly state: MonitorState;
  readonly now: number;
  readonly waiting: WaitingIncidents;
}

/** An incident after its notifications, and when to look at it again. */
interface Announced {
  readonly incident: Incident;
  readonly until: number;
}

function announce(turn: Turn, incident: Incident): void {
  const { state, now } = turn;
  const heldMs = alertKindOf(incident).heldMs?.(state.settings) ?? 0;
  const suppression = {
    ...suppressionByAlerts(state, incident, now),
    heldUntil: heldMs > 0 ? incident.firedAt + heldMs : heldUntil(state, incident, now),
  };
  const unnotified: Announced = { incident, until: Number.POSITIVE_INFINITY };
  const notified = plansOf(state, incident).reduce<Announced>((sofar, plan) => {
    const forChannel = { ...suppression, channelFailedUntil: channelFailedUntil(state, incident, plan) };
    const here = notifyAll(turn, { incident: sofar.incident, plan, suppression: forChannel });
    return { incident: here.incident, until: Math.min(sofar.until, here.until) };
  }, unnotified);
  if (notified.incident !== incident) state.incidents.set(incident.id, notified.incident);
  if (Number.isFinite(notified.until)) scheduleBy(state, `incident:${incident.id}`, notified.until);
}

/**
 * Notifies one channel until nothing is left: one notification may leave another, such as an escalation that
 * is due as well.
 */
function notifyAll(
  turn: Turn,
  input: { readonly incident: Incident; readonly plan: ChannelPlan; readonly suppression: Suppression },
): Announced {
  const { incident, plan, suppression } = input;
  const { now } = turn;
  const decision = decide({
    incident,
    plan,
    notified: incident.notified[plan.channel] ?? null,
    suppression,
    waiting: () => turn.waiting.has(plan.channel, incident.id),
    now,
  });
  if (decision.kind === 'quiet') return { incident, until: decision.until ?? Number.POSITIVE_INFINITY };
  const { item } = decision;
  const message = enqueue(turn.state, {
    channel: plan.channel,
    item: { incident: incident.id, account: incident.account, rule: incident.rule, kind: item, at: now },
    dueAt: now + plan.groupWaitMs,
    now,
  });
  const untried = isUntried(turn.state, incident);
  const next = markNotified(incident, { channel: plan.channel, item, message, untried, now });
  return notifyAll(turn, { ...input, incident: next });
}

function plansOf(state: MonitorState, incident: Incident): readonly ChannelPlan[] {
  const channels = state.settings.channels
    .map((channel) => channel.name)
    .filter((name) => !isAbout(incident, name));
  const plans = planChannels(incident, state.settings.routes, channels);
  if (incident.type !== providerDown.type) return plans;
  // It replaces the notifications of the accounts, so it goes to all of their channels.
  const own = new Map(plans.map((plan) => [plan.channel, plan]));
  const isDirect = (channel: string): boolean => own.get(channel)?.direct === true;
  const reachable = channelsOfRoutes(state.settings.routes, channels);
  for (const stale of staleIncidentsOf(state, incident.account)) {
    if (reachable.every(isDirect)) break;
    for (const plan of planChannels(stale, state.settings.routes, channels)) {
      if (!plan.direct || isDirect(plan.channel)) continue;
      // The outage's own escalation still applies.
      const escalateAfterMs = own.get(plan.channel)?.escalateAfterMs ?? plan.escalateAfterMs;
      own.set(plan.channel, { ...plan, escalateAfterMs });
    }
  }
  return [...own.values()];
}

/** After a reload: what waits for its group waits no longer than the routes say now. */
export function shortenGroupWaits(state: MonitorState): void {
  for (const message of [...state.messages.values()]) {
    if (message.state !== 'pending' || message.attempts > 0 || isStandalone(message)) continue;
    const ends = message.items.flatMap(({ incident: id, at }) => {
      const incident = state.incidents.get(id);
      const plan = incident && plansOf(state, incident).find(({ channel }) => channel === message.channel);
      return plan === undefined ? [] : [at + plan.groupWaitMs];
    });
    const dueAt = Math.min(message.dueAt, ...ends);
    if (dueAt < message.dueAt) putNotification(state, { ...message, dueAt });
  }
}

/** True until the first channel is notified. For escalation, a refused attempt counts. */
function isUntried(state: MonitorState, incident: Incident): boolean {
  if (Object.keys(incident.notified).length > 0) return false;
  return !state.settings.channels.some(({ name }) => state.channelTries.has(`${name}/${incident.id}`));
}

/** A channel is not used to report its own failure. */
function isAbout(incident: Incident, channel: string): boolean {
  return incident.type === channelFailed.type && incident.rule === channelFailedRule(channel);
}

/** A channel that refuses for good is retried at the pace of reminders, not with every new alert. */
function channelFailedUntil(state: MonitorState, incident: Incident, plan: ChannelPlan): number | null {
  if (!isOwnFailureRaised(state, channelFailedRule(plan.channel))) return null;
  const lastTry = state.channelTries.get(`${plan.channel}/${incident.id}`);
  if (lastTry === undefined) return null;
  const { repeatEveryMs } = plan;
  const reminded = repeatEveryMs !== null && Number.isFinite(repeatEveryMs);
  return lastTry + (reminded ? repeatEveryMs : defaultRepeatEveryMs);
}
class WaitingIncidents {
  readonly #state: MonitorState;
  readonly #byChannel = new Map<string, ReadonlySet<string>>();

  constructor(state: MonitorState) {
    this.#state = state;
  }

  has(channel: string, incident: string): boolean {
    const known = this.#byChannel.get(channel);
    if (known !== undefined) return known.has(incident);
    // A retry for some recipients does not count: the others already have it.
    const items = queueOf(this.#state, channel).flatMap(({ items, owed }) =>
      owed === undefined ? items : [],
    );
    this.#byChannel.set(channel, new Set(items.map((item) => item.incident)));
    return this.has(channel, incident);
  }
}

/**
 * The incident after a channel was notified. `message` says it; `untried`: no channel was notified or tried
 * before.
 */
export function markNotified(
  incident: Incident,
  input: {
    readonly channel: string;
    readonly item: NotificationReason;
    readonly message: string;
    readonly untried: boolean;
    readonly now: number;
  },
): Incident {
  const { channel, item, message, untried, now } = input;
  const known = incident.notified[channel];
  const notified: LastNotified = {
    at: now,
    severity: incident.severity,
    rises: incident.rises,
    resolved: item === 'resolved',
    flapping: incident.flappingSince !== null,
    firstMessage: known?.firstMessage ?? message,
    subject: known?.subject ?? null,
    ...(known?.receipt === undefined ? {} : { receipt: known.receipt }),
    acknowledgedAt: incident.acknowledgement?.at ?? null,
    escalatedAt: item === 'escalated' ? now : (known?.escalatedAt ?? null),
  };
  return {
    ...incident,
    // Nobody could acknowledge what was suppressed everywhere: the time to escalation begins now.
    escalationSince: untried ? now : incident.escalationSince,
    notified: { ...incident.notified, [channel]: notified },
  };
}
