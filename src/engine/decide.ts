import {
  type Incident,
  isAcknowledged,
  knownSeverity,
  type LastNotified,
  matchSubject,
  type Routed,
  uncertainMessage,
} from '../domain/alert.ts';
import type { NotificationReason } from '../domain/outbox.ts';
import { defaultGroupWaitMs, type Route, repeatEveryBySeverity } from '../domain/route.ts';
import { matches, matchesEverything } from '../domain/rule.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { alertKindOf } from '../rules/registry.ts';

/** The way in which a channel is notified of an incident. Null times: never. */
export interface ChannelPlan {
  readonly channel: string;
  /** False for a channel that is only notified by escalation, or only because it was notified before. */
  readonly direct: boolean;
  readonly repeatEveryMs: number | null;
  readonly escalateAfterMs: number | null;
  readonly groupWaitMs: number;
}

export interface Suppression {
  readonly silenced: boolean;
  /** A worse alert on the same balance, a refused key or an outage of the provider already says it. */
  readonly inhibited: boolean;
  /** Paused until this instant, when it is known whether the whole provider is down. */
  readonly pausedUntil: number | null;
  /** The channel refuses for good and is retried at this instant. */
  readonly channelFailedUntil: number | null;
}

/** A named reason to notify or to stay quiet, and when time alone may change the decision. */
export type Decision =
  | { readonly kind: 'notify'; readonly item: NotificationReason }
  | { readonly kind: 'quiet'; readonly why: QuietReason; readonly until: number | null };

type QuietReason =
  | 'silenced'
  | 'inhibited'
  | 'paused'
  | 'channel failed'
  | 'acknowledged'
  | 'flapping'
  | 'not due'
  | 'still on its way'
  | 'never notified'
  | 'already notified';

/** Decides by its input alone: the end of a silence, a restart or a missed tick needs no case of its own. */
export function decide(input: {
  readonly incident: Incident;
  readonly plan: ChannelPlan;
  readonly notified: LastNotified | null;
  readonly suppression: Suppression;
  readonly waiting: () => boolean;
  /** The channel is about to read that an earlier incident of the alert is over: it hears of this one as well. */
  readonly endsEarlier: boolean;
  readonly now: number;
}): Decision {
  const { incident, notified } = input;
  if (incident.event) return decideEvent(input);
  if (incident.resolvedAt !== null) return decideEnd(input);
  const first = incident.flappingSince === null ? 'firing' : 'flapping';
  return notified === null ? decideFirst(input, first) : decideNext(input, notified);
}

type Input = Parameters<typeof decide>[0];

/** An event is notified once, by its routes; nothing escalates. */
function decideEvent(input: Input): Decision {
  if (input.notified !== null) return quiet('already notified');
  return input.plan.direct ? decideFirst(input, 'event') : quiet('never notified');
}

/** A channel that was notified of the firing is notified of the end; only a silence delays that. */
function decideEnd({ notified, suppression, now }: Input): Decision {
  if (notified === null) return quiet('never notified');
  if (notified.resolved) return quiet('already notified');
  return (
    decideSuppression({ ...suppression, inhibited: false, pausedUntil: null }, now) ?? notify('resolved')
  );
}

function decideFirst(input: Input, item: NotificationReason): Decision {
  const { plan, suppression, incident, endsEarlier } = input;
  if (!plan.direct && !endsEarlier) return decideEscalation(input, null) ?? quiet('never notified');
  const suppressed = decideSuppression(suppression, input.now);
  if (suppressed !== null) return suppressed;
  // A person has acknowledged it: a channel that joins late is not needed.
  if (isAcknowledged(incident)) return endsEarlier ? notify('acknowledged') : quiet('acknowledged');
  return notify(item);
}

function decideNext(input: Input, notified: LastNotified): Decision {
  const { incident, plan, suppression, now } = input;
  // A tool that has it open would go on waking people, so it hears of an acknowledgement although another alert speaks for the incident.
  const inhibited = suppression.inhibited && !isTakenUnheard(incident, notified);
  const suppressed = decideSuppression({ ...suppression, inhibited }, now);
  if (suppressed !== null) return suppressed;
  const news = newsOf(input, notified);
  if (news !== null) return notify(news);
  if (plan.repeatEveryMs === null) return quiet('not due');
  if (incident.flappingSince !== null) return notified.flapping ? quiet('flapping') : notify('flapping');
  if (isAcknowledged(incident)) return quiet('acknowledged');
  const escalation = decideEscalation(input, notified);
  if (escalation?.kind === 'notify') return escalation;
  const repeatAt = notified.at + (notified.pausedMs ?? 0) + plan.repeatEveryMs;
  const orEscalation = (at: number) => Math.min(at, escalation?.until ?? at);
  if (now < repeatAt) return quiet('not due', orEscalation(repeatAt));
  if (!input.waiting()) return notify('reminder');
  // The pending notification says what a reminder would.
  return quiet('still on its way', orEscalation(now + plan.repeatEveryMs));
}

/** The news for a channel that knows of the incident: a rise; who acknowledged it, so that nobody else starts; that nobody has it any more. */
function newsOf({ incident, endsEarlier }: Input, notified: LastNotified): NotificationReason | null {
  const risen = whatRose(incident, notified);
  if (risen !== null) return risen;
  if (isAcknowledged(incident))
    return endsEarlier || isTakenUnheard(incident, notified) ? 'acknowledged' : null;
  const isGivenBack = incident.acknowledgement === null && notified.acknowledgedAt !== null;
  return endsEarlier || isGivenBack ? 'reminder' : null;
}

/** Whether somebody acknowledged it and the channel was not notified of that. */
function isTakenUnheard(incident: Incident, notified: LastNotified): boolean {
  return isAcknowledged(incident) && notified.acknowledgedAt !== incident.acknowledgement.at;
}

/** Null when the channel is not escalated to, or was already. */
function decideEscalation(input: Input, notified: LastNotified | null): Decision | null {
  const { incident, plan, suppression, now } = input;
  if (plan.escalateAfterMs === null || (notified?.escalatedAt ?? null) !== null) return null;
  const suppressed = decideSuppression(suppression, now);
  if (suppressed !== null) return suppressed;
  if (isAcknowledged(incident)) return quiet('acknowledged');
  const dueAt = incident.escalationSince + plan.escalateAfterMs;
  return now >= dueAt ? notify('escalated') : quiet('not due', dueAt);
}

function decideSuppression(suppression: Suppression, now: number): Decision | null {
  if (suppression.silenced) return quiet('silenced');
  if (suppression.inhibited) return quiet('inhibited');
  if (suppression.pausedUntil !== null && now < suppression.pausedUntil)
    return quiet('paused', suppression.pausedUntil);
  const failedUntil = suppression.channelFailedUntil;
  if (failedUntil !== null && now < failedUntil) return quiet('channel failed', failedUntil);
  return null;
}

function whatRose(incident: Incident, notified: LastNotified): NotificationReason | null {
  const { rises, anotherAt = Number.NEGATIVE_INFINITY, acknowledgement, severity } = incident;
  const isWorseNow = rises > notified.rises && isWorse(severity, knownSeverity(incident, notified));
  // Whoever acknowledged it knows of it, whichever channel was notified.
  if (!isWorseNow && anotherAt <= Math.max(notified.rises, acknowledgement?.rises ?? 0)) return null;
  return !isWorseNow || notified.firstMessage === uncertainMessage ? 'firing' : 'worse';
}

/** The incident for a receiver that forgets, no worse than it was notified: what got worse has its own message, which a silence may hold back. */
export function asNotified(incident: Incident, notified: LastNotified | undefined): Incident {
  // The person who acknowledged it knows how bad it was then; the receiver may not.
  const taken = { ...incident, acknowledgement: null };
  // Below zero: nobody knows what the receiver was notified of.
  if (notified === undefined || notified.rises < 0 || whatRose(taken, notified) !== 'worse') return incident;
  const severity = knownSeverity(taken, notified);
  return { ...incident, severity, worstSeverity: severity, rises: notified.rises };
}

function notify(item: NotificationReason): Decision {
  return { kind: 'notify', item };
}

function quiet(why: QuietReason, until: number | null = null): Decision {
  return { kind: 'quiet', why, until };
}

/**
 * Which channels are notified of an incident, and how. The first matching route wins; a route with `continue` adds to it. An
 * incident that no route matches goes to every channel: a gap in the routes silences nothing.
 *
 * Every channel is notified once if lowwater cannot store or a channel refuses for good, unless a route names the rule: the
 * route may lead only to the channel that fails. Channels that were notified before, but that no route names any more, are in the
 * plan without repeats: they are notified of what rose, of who has it, and of the end. So are `others`.
 */
export function planChannels(
  incident: Routed & Pick<Incident, 'notified'>,
  routes: readonly Route[],
  channels: readonly string[],
  others: ReadonlySet<string> = new Set(),
): readonly ChannelPlan[] {
  const plans = new Map<string, ChannelPlan>();
  const taken = routesFor(incident, routes, channels);
  for (const route of taken) addRoute(plans, route, incident.severity);
  const isChosen =
    taken.some((route) => route.match.rule !== undefined) && channels.some((channel) => plans.has(channel));
  // All are notified of beginning, worsening and end, but reminded only as far as a route asks for it.
  const concernsAll = !isChosen && alertKindOf(incident).concernsEveryChannel === true;
  for (const channel of concernsAll ? channels : [])
    add(plans, channel, {
      direct: true,
      repeatEveryMs: plans.get(channel)?.repeatEveryMs ?? Number.POSITIVE_INFINITY,
    });
  for (const channel of [...Object.keys(incident.notified), ...others]) add(plans, channel, {});
  return [...plans.values()].filter((plan) => channels.includes(plan.channel));
}

function add(plans: Map<string, ChannelPlan>, channel: string, part: Partial<ChannelPlan>): void {
  plans.set(channel, { ...unasked, ...plans.get(channel), ...part, channel });
}

function addRoute(plans: Map<string, ChannelPlan>, route: Route, severity: Severity): void {
  const { channels, groupWaitMs, escalate } = route;
  const paced = { repeatEveryMs: route.repeatEveryMs ?? repeatEveryBySeverity[severity], groupWaitMs };
  for (const channel of channels)
    if (!plans.get(channel)?.direct) add(plans, channel, { ...paced, direct: true });
  if (escalate === null) return;
  for (const channel of escalate.channels) {
    const known = plans.get(channel);
    const escalateAfterMs = Math.min(escalate.afterMs, known?.escalateAfterMs ?? Number.POSITIVE_INFINITY);
    add(plans, channel, { ...(known ?? paced), escalateAfterMs });
  }
}

/** The routes that the incident takes; one to every channel if none matches. */
export function routesFor(
  incident: Routed,
  routes: readonly Route[],
  channels: readonly string[],
): readonly Route[] {
  const subject = matchSubject(incident);
  const matching = routes.filter((route) => matches(route.match, subject));
  const last = matching.findIndex((route) => !route.continue);
  const taken = last < 0 ? matching : matching.slice(0, last + 1);
  return taken.length > 0 ? taken : [everyChannel(channels)];
}

/** The channels of routes, without those of escalations; all channels if something may match no route. */
export function channelsOfRoutes(routes: readonly Route[], channels: readonly string[]): readonly string[] {
  const catchesAll = routes.some(({ match }) => matchesEverything(match));
  return catchesAll
    ? channels.filter((name) => routes.some((route) => route.channels.includes(name)))
    : channels;
}

export function everyChannel(channels: readonly string[]): Route {
  return {
    match: {},
    channels,
    repeatEveryMs: null,
    groupWaitMs: defaultGroupWaitMs,
    escalate: null,
    continue: false,
    mention: true,
  };
}

const unasked = {
  direct: false,
  repeatEveryMs: null,
  escalateAfterMs: null,
  groupWaitMs: defaultGroupWaitMs,
} as const satisfies Omit<ChannelPlan, 'channel'>;
