import { type Incident, matchSubject } from '../domain/alert.ts';
import { matches, matchesEverything } from '../domain/matcher.ts';
import { defaultGroupWaitMs, type Route, repeatEveryBySeverity } from '../domain/route.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { ChannelPlan } from './decide.ts';

/**
 * Which channels hear of an incident, and how. The first matching route wins; a route with `continue` adds to
 * it. An incident that no route matches goes to every channel: nothing is silenced by a gap in the routes.
 *
 * That lowwater cannot store, or that a channel refuses for good, every channel hears once: a route may lead
 * only to the channel that fails, and then nobody would know. A route that names the rule is obeyed.
 *
 * Channels that were told before and are named by no route any more (the severity moved, the routes were
 * edited) are in the plan without repeats: they still hear the end.
 */
export function planChannels(
  incident: Incident,
  routes: readonly Route[],
  channels: readonly string[],
): readonly ChannelPlan[] {
  const plans = new Map<string, ChannelPlan>();
  const taken = routesFor(incident, routes, channels);
  for (const route of taken) {
    const repeatEveryMs = route.repeatEveryMs ?? repeatEveryBySeverity[incident.severity];
    const paced = { ...route, repeatEveryMs };
    for (const channel of route.channels) addDirect(plans, channel, paced);
    for (const channel of route.escalate?.channels ?? []) addEscalation(plans, channel, paced);
  }
  const chosen =
    taken.some((route) => route.match.rule !== undefined) && channels.some((channel) => plans.has(channel));
  if (concernsEveryChannel(incident) && !chosen) for (const channel of channels) addOnce(plans, channel);
  for (const channel of Object.keys(incident.notified)) {
    if (!plans.has(channel)) plans.set(channel, { ...unasked, channel });
  }
  return [...plans.values()].filter((plan) => channels.includes(plan.channel));
}

/** With the fallback where none matches. */
export function routesFor(
  incident: Pick<Incident, 'account' | 'rule' | 'type' | 'severity' | 'labels'>,
  routes: readonly Route[],
  channels: readonly string[],
): readonly Route[] {
  const taken: Route[] = [];
  const subject = matchSubject(incident);
  for (const route of routes) {
    if (!matches(route.match, subject)) continue;
    taken.push(route);
    if (!route.continue) break;
  }
  return taken.length > 0 ? taken : [everyChannel(channels)];
}

/**
 * Channels that any incident may be notified on without escalating; all of them where something may match no
 * route.
 */
export function channelsOfRoutes(routes: readonly Route[], channels: readonly string[]): readonly string[] {
  const catchesAll = routes.some(({ match }) => matchesEverything(match));
  return catchesAll
    ? channels.filter((name) => routes.some((route) => route.channels.includes(name)))
    : channels;
}

/** Without routes, or where none matches: everything to every channel. */
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

type PacedRoute = Route & { readonly repeatEveryMs: number };

function addDirect(plans: Map<string, ChannelPlan>, channel: string, route: PacedRoute): void {
  const known = plans.get(channel);
  if (known?.direct) return;
  const { repeatEveryMs, groupWaitMs } = route;
  plans.set(channel, { ...unasked, ...known, channel, direct: true, repeatEveryMs, groupWaitMs });
}

function concernsEveryChannel(incident: Incident): boolean {
  return alertKindOf(incident).concernsEveryChannel === true;
}

/** Notified of beginning, worsening and end; reminded only as far as a route asks for it. */
function addOnce(plans: Map<string, ChannelPlan>, channel: string): void {
  const known = plans.get(channel);
  const repeatEveryMs = known?.repeatEveryMs ?? Number.POSITIVE_INFINITY;
  plans.set(channel, { ...unasked, ...known, channel, direct: true, repeatEveryMs });
}

function addEscalation(plans: Map<string, ChannelPlan>, channel: string, route: PacedRoute): void {
  const { repeatEveryMs, groupWaitMs } = route;
  const known = plans.get(channel) ?? { ...unasked, channel, repeatEveryMs, groupWaitMs };
  if (known.escalateAfterMs === null)
    plans.set(channel, { ...known, escalateAfterMs: route.escalate?.afterMs ?? null });
}
