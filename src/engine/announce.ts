import {
  type Incident,
  isAcknowledged,
  knownSeverity,
  type LastNotified,
  lastKeyOf,
  oneKey,
  type ToolKeys,
} from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import {
  incidentsOf,
  isStandalone,
  type NotificationItem,
  type NotificationReason,
} from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { defaultRepeatEveryMs } from '../domain/route.ts';
import { alertKindOf } from '../rules/registry.ts';
import { channelFailed, channelFailedRule, providerDown } from '../rules/self-alert-kinds.ts';
import { type ChannelPlan, channelsOfRoutes, type Decision, decide, planChannels } from './decide.ts';
import {
  isSaid,
  pausedUntil,
  retractSuppressed,
  staleIncidentsOf,
  suppressionByAlerts,
  wasRefused,
} from './inhibit.ts';
import { enqueue, isUnsent, putNotification, queueOf } from './queue.ts';
import { isOwnFailureRaised } from './self-alerts.ts';
import { type MonitorState, maxAtOnce, scheduleBy } from './state.ts';

interface Turn {
  readonly state: MonitorState;
  readonly now: number;
  /** Incidents that a pending notification is about, by channel. */
  readonly waiting: Map<string, ReadonlySet<string>>;
  readonly decided: string[];
}

/** The step of a turn that decides, for every touched incident and each of its channels, whether to notify, and queues the notification. */
export function decideTouched(state: MonitorState, now: number): void {
  // Called after every poll, mostly with nothing to decide.
  if (state.touched.size === 0) return;
  const turn: Turn = { state, now, waiting: new Map(), decided: [] };
  for (const id of state.touched) {
    if (turn.decided.length >= maxAtOnce) {
      scheduleBy(state, 'touched', now);
      break;
    }
    const incident = state.incidents.get(id);
    if (incident === undefined) state.touched.delete(id);
    else announceAlert(turn, incident);
  }
  retractSuppressed(state, turn.decided, now);
}

/** Announces the alert's touched incidents, ends first, and after an end also the open one: nobody should read an end last while the alert fires. */
function announceAlert(turn: Turn, { account, rule }: Incident): void {
  const { incidents, touched } = turn.state;
  const all = [...incidents.ofAlert(account, rule)].flatMap((id) => incidents.get(id) ?? []);
  let isEnd = false;
  for (const incident of all.sort((one, other) => Number(isOpen(one)) - Number(isOpen(other)))) {
    if (!touched.delete(incident.id) && !isEnd) continue;
    isEnd ||= !isOpen(incident);
    announce(turn, incident);
  }
}

function isOpen({ resolvedAt, event }: Incident): boolean {
  return resolvedAt === null && !event;
}

function announce(turn: Turn, incident: Incident): void {
  const { state, now } = turn;
  turn.decided.push(incident.id);
  const pausedMs = incident.firedAt > now ? 0 : (alertKindOf(incident).pausedMs?.(state.settings) ?? 0);
  const suppression = {
    ...suppressionByAlerts(state, incident, now),
    pausedUntil: pausedMs > 0 ? incident.firedAt + pausedMs : pausedUntil(state, incident, now),
  };
  let after = incident;
  let until = Number.POSITIVE_INFINITY;
  const ended = channelsOfEnds(state, incident);
  for (const plan of plansOf(state, incident, ended)) {
    const { channel } = plan;
    const inhibited = suppression.inhibited && isSaid(state, incident, channel, now);
    const failedUntil = channelFailedUntil(state, incident, plan);
    const next = (endsEarlier: boolean): Decision =>
      decide({
        incident: after,
        plan,
        notified: ownOf(after.notified, channel) ?? null,
        suppression: { ...suppression, inhibited, channelFailedUntil: failedUntil },
        waiting: () => isWaiting(turn, channel, incident.id),
        endsEarlier,
        now,
      });
    // One notification may leave another one due, such as an escalation.
    let decision = next(ended.has(channel));
    for (; decision.kind === 'notify'; decision = next(false))
      after = notify(turn, after, plan, decision.item);
    until = Math.min(until, decision.until ?? Number.POSITIVE_INFINITY);
  }
  if (after !== incident) state.incidents.set(incident.id, after);
  if (Number.isFinite(until)) scheduleBy(state, `incident:${incident.id}`, until);
}

/** Queues the notification, and returns the incident with what the channel is then notified of. */
function notify(
  { state, now }: Turn,
  incident: Incident,
  { channel, groupWaitMs }: ChannelPlan,
  item: NotificationReason,
): Incident {
  const { id, account, rule } = incident;
  const keys = keysAfter(state, incident, { channel, item });
  const known = ownOf(incident.notified, channel);
  const { severity = 'info', rises = 0, acknowledgedAt = null } = known ?? {};
  const before = known && { before: { severity, rises, acknowledgedAt } };
  const next = { incident: id, account, rule, kind: item, at: now, ...before };
  const message = enqueue(state, channel, next, now + groupWaitMs);
  const notified: LastNotified = {
    at: now,
    severity: incident.severity,
    rises: incident.rises,
    resolved: item === 'resolved',
    flapping: incident.flappingSince !== null,
    firstMessage: known?.firstMessage ?? message,
    subject: known?.subject ?? null,
    ...(known?.receipt === undefined ? {} : { receipt: known.receipt }),
    escalatedAt: item === 'escalated' ? now : (known?.escalatedAt ?? null),
    acknowledgedAt: incident.acknowledgement?.at ?? null,
    ...(isOneKey(keys) ? {} : { keys }),
  };
  const isUntried = Object.keys(incident.notified).length === 0 && !wasRefused(state, incident);
  return {
    ...incident,
    // Nobody could acknowledge an incident that was suppressed everywhere: the time to escalation begins now. A refused attempt counts.
    escalationSince: isUntried ? now : incident.escalationSince,
    notified: { ...incident.notified, [channel]: notified },
  };
}

/** The channels whose last queued message about the alert is the end of an earlier incident, without a word of this one. */
function channelsOfEnds(state: MonitorState, incident: Incident): ReadonlySet<string> {
  const { id, account, rule } = incident;
  const others = state.incidents.ofAlert(account, rule);
  if (others.size < 2 || !isOpen(incident)) return noChannels;
  const isEnd = ({ kind, incident: other }: NotificationItem): boolean =>
    kind === 'resolved' && other !== id && others.has(other);
  const isLastWord = (channel: string): boolean => {
    const last = queueOf(state, channel).findLast(({ items }) =>
      items.some((item) => others.has(item.incident)),
    );
    return last?.items.some(isEnd) === true && !last.items.some((item) => item.incident === id);
  };
  return new Set([...state.queues.keys()].filter(isLastWord));
}

const noChannels: ReadonlySet<string> = new Set();

function isOwnFailure({ type, rule }: Incident, channel: string): boolean {
  return type === channelFailed.type && rule === channelFailedRule(channel);
}

function plansOf(
  state: MonitorState,
  incident: Incident,
  others: ReadonlySet<string> = noChannels,
): readonly ChannelPlan[] {
  const channels = state.settings.channels
    .map((channel) => channel.name)
    // A channel does not report its own failure. An event is about its earlier receiver, and a channel that was notified got the name later.
    .filter(
      (name) =>
        incident.event || !isOwnFailure(incident, name) || ownOf(incident.notified, name) !== undefined,
    );
  const plans = planChannels(incident, state.settings.routes, channels, others);
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

/** After a reload, a notification that waits for its group waits no longer than the routes now say. */
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

/** Until when a failed channel is not tried again: at the pace of reminders, not with every new alert; a rise or a due escalation at once. */
function channelFailedUntil(state: MonitorState, incident: Incident, plan: ChannelPlan): number | null {
  if (!isOwnFailureRaised(state, channelFailedRule(plan.channel))) return null;
  const tried = state.channelTries.get(`${plan.channel}/${incident.id}`);
  if (tried === undefined || tried.rises < incident.rises) return null;
  const { repeatEveryMs, escalateAfterMs } = plan;
  const reminded = repeatEveryMs !== null && Number.isFinite(repeatEveryMs);
  const retriedAt = tried.at + (reminded ? repeatEveryMs : defaultRepeatEveryMs);
  const escalatedAt = incident.escalationSince + (escalateAfterMs ?? Number.POSITIVE_INFINITY);
  return tried.at < escalatedAt ? Math.min(retriedAt, escalatedAt) : retriedAt;
}

/** Whether an open critical incident was refused for good wherever it was to go, so that nobody knows of it. */
export function isUnheard(state: MonitorState, incident: Incident, now: number): boolean {
  if (incident.severity !== 'critical' || incident.resolvedAt !== null || incident.event) return false;
  if (isAcknowledged(incident)) return false;
  const isKnown = (last: LastNotified): boolean => knownSeverity(incident, last) === 'critical';
  if (Object.values(incident.notified).some(isKnown)) return false;
  const isRefused = wasRefused(state, incident);
  // The failure of the only channel has nowhere to go, because the channel does not report it.
  const hasNowhere = incident.type === channelFailed.type && plansOf(state, incident).length === 0;
  if (!isRefused && !hasNowhere) return false;
  const { silenced, inhibited } = suppressionByAlerts(state, incident, now);
  return !silenced && !inhibited;
}

function isWaiting({ state, waiting }: Turn, channel: string, incident: string): boolean {
  // A retry for some recipients does not count: the others have it, or refused it for good and are tried again at this pace.
  const about = () => incidentsOf(queueOf(state, channel).filter(({ owed }) => owed === undefined));
  return getOrMake(waiting, channel, about).has(incident);
}

/**
 * The keys of an incident at a channel that is notified of it again. An incident tool wakes people for a key that it does not
 * have. So there is a new key for a rise, for what the incident fires for besides (the key before counts as taken), and for an incident that
 * was acknowledged and that nobody has any more.
 */
function keysAfter(
  state: MonitorState,
  incident: Incident,
  { channel, item }: { readonly channel: string; readonly item: NotificationReason },
): ToolKeys {
  const known = ownOf(incident.notified, channel);
  const isTaken = isAcknowledged(incident);
  if (known === undefined) {
    const first = freshKey(state, incident, channel);
    return { first, newest: first, taken: isTaken ? first : null };
  }
  const keys = known.keys ?? oneKey;
  if (isTaken) return { ...keys, taken: keys.newest };
  const isLost = keys.taken === keys.newest;
  const isAnother = item === 'firing' && (incident.anotherAt ?? Number.NEGATIVE_INFINITY) > known.rises;
  const isNews = (item === 'worse' || isAnother) && !isBeginningUnsent(state, incident, channel);
  if (!isLost && !isNews) return keys;
  const taken = isAnother ? keys.newest : keys.taken;
  return { ...keys, taken, newest: lastKeyOf(keys) + 1 };
}

/** The key after those of the alert's other incidents of which the channel may not know the end. */
function freshKey(state: MonitorState, { id, account, rule }: Incident, channel: string): number {
  const others = state.incidents.ofAlert(account, rule);
  // The usual case, which needs no search through thousands of messages.
  if (others.size === (others.has(id) ? 1 : 0)) return 0;
  const queued = incidentsOf(queueOf(state, channel));
  const newest = [...others].flatMap((other) => {
    const known = state.incidents.get(other);
    const last = ownOf(known?.notified, channel);
    const isKnownOver = known?.event === true || (last?.resolved === true && !queued.has(other));
    return other === id || last === undefined || isKnownOver ? [] : [lastKeyOf(last.keys ?? oneKey)];
  });
  return Math.max(-1, ...newest) + 1;
}

/** Whether the beginning has not left yet: the channel then hears of the incident as it is by that time. */
function isBeginningUnsent(state: MonitorState, { id }: Incident, channel: string): boolean {
  return queueOf(state, channel).some(
    (message) =>
      isUnsent(state, message) &&
      message.items.some(
        ({ incident, kind }) => incident === id && (kind === 'firing' || kind === 'flapping'),
      ),
  );
}

function isOneKey(keys: ToolKeys): boolean {
  return lastKeyOf(keys) === 0 && keys.taken === null;
}
