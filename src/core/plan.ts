import { type Incident, matchSubject } from './alert.ts';
import type { ChannelPlan } from './decide.ts';
import { matches } from './matcher.ts';
import { defaultGroupWaitMs, defaultRepeatEveryMs, type Route } from './route.ts';

/**
 * Which channels hear of an incident, and how. The first matching route wins; a route with `continue` adds to it. An
 * incident that no route matches goes to every channel: nothing is silenced by a gap in the routes.
 *
 * Channels that were told before and are named by no route any more (the severity moved, the routes were edited) are in the
 * plan without repeats: they still hear the end.
 */
export function planChannels(
  incident: Incident,
  routes: readonly Route[],
  channels: readonly string[],
): readonly ChannelPlan[] {
  const plans = new Map<string, ChannelPlan>();
  for (const route of routesFor(incident, routes, channels)) {
    for (const channel of route.channels) addDirect(plans, channel, route);
    for (const channel of route.escalate?.channels ?? []) addEscalation(plans, channel, route);
  }
  for (const channel of Object.keys(incident.told)) {
    if (!plans.has(channel)) {
      plans.set(channel, {
        channel,
        direct: false,
        repeatEveryMs: null,
        escalateAfterMs: null,
        groupWaitMs: defaultGroupWaitMs,
      });
    }
  }
  return [...plans.values()].filter((plan) => channels.includes(plan.channel));
}

/** The routes that an incident takes, the fallback for unmatched ones included. */
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

/** What holds where no route is configured, or none matches: everything to every channel. */
export function everyChannel(channels: readonly string[]): Route {
  return {
    match: {},
    channels,
    repeatEveryMs: defaultRepeatEveryMs,
    groupWaitMs: defaultGroupWaitMs,
    escalate: null,
    continue: false,
  };
}

function addDirect(plans: Map<string, ChannelPlan>, channel: string, route: Route): void {
  const known = plans.get(channel);
  if (known?.direct) return;
  plans.set(channel, {
    channel,
    direct: true,
    repeatEveryMs: route.repeatEveryMs,
    escalateAfterMs: known?.escalateAfterMs ?? null,
    groupWaitMs: route.groupWaitMs,
  });
}

function addEscalation(plans: Map<string, ChannelPlan>, channel: string, route: Route): void {
  const known = plans.get(channel);
  const afterMs = route.escalate?.afterMs ?? null;
  if (known === undefined) {
    plans.set(channel, {
      channel,
      direct: false,
      repeatEveryMs: route.repeatEveryMs,
      escalateAfterMs: afterMs,
      groupWaitMs: route.groupWaitMs,
    });
  } else if (known.escalateAfterMs === null) {
    plans.set(channel, { ...known, escalateAfterMs: afterMs });
  }
}
