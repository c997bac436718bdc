import type { Alert, Incident } from '../domain/alert.ts';
import type { NoticeKind } from '../domain/outbox.ts';
import { defaultRepeatEveryMs } from '../domain/route.ts';
import { channelFailed, channelFailedRule } from '../rules/channel-failed.ts';
import { providerDown } from '../rules/provider-down.ts';
import { alertKindOf } from '../rules/registry.ts';
import { type ChannelPlan, decide } from './decide.ts';
import { isInhibited } from './inhibition.ts';
import { isPartOfOutage, OutageHolds, reviewOutage, staleIncidentsOf } from './outage.ts';
import { isOwnFailureRaised } from './own-alerts.ts';
import { planChannels } from './plan.ts';
import { enqueue, queueOf } from './queue.ts';
import { isSilenced } from './silencing.ts';
import { type MonitorState, wakeBy } from './state.ts';
import { tellChannel } from './told.ts';

/**
 * Ends a turn: decides for every incident that was touched, and every channel of it, whether something is to
 * be said, and puts that on the outbox. Doing it twice says nothing twice, because what was said is part of
 * the incident.
 */
export function announceTouched(state: MonitorState, now: number): void {
  reviewOutages(state, now);
  const turn = { now, holds: new OutageHolds(state, now), waiting: new WaitingIncidents(state) };
  for (const id of state.touched) {
    const incident = state.incidents.get(id);
    if (incident !== undefined) announce(state, incident, turn);
  }
  state.touched.clear();
}

/** Whether a person would find the incident suppressed now, and how (for the API). */
export function suppressionOf(
  state: MonitorState,
  incident: Incident,
  now: number,
): { silenced: boolean; inhibited: boolean } {
  const { silenced, inhibited } = suppressionByAlerts(state, incident, now);
  return { silenced, inhibited: inhibited || isPartOfOutage(state, incident) };
}

function suppressionByAlerts(
  state: MonitorState,
  incident: Incident,
  now: number,
): { silenced: boolean; inhibited: boolean } {
  return { silenced: isSilenced(state, incident, now), inhibited: isIncidentInhibited(state, incident, now) };
}

function reviewOutages(state: MonitorState, now: number): void {
  const providers = new Set<string>();
  for (const id of state.touched) {
    const incident = state.incidents.get(id);
    const account =
      incident !== undefined && alertKindOf(incident).unread === 'means'
        ? state.accounts.get(incident.account)
        : undefined;
    if (account !== undefined) providers.add(account.settings.baseUrl);
  }
  for (const baseUrl of providers) reviewOutage(state, baseUrl, now);
}

/** What is looked up once for all decisions of a turn. */
interface Turn {
  readonly now: number;
  readonly holds: OutageHolds;
  readonly waiting: WaitingIncidents;
}

function announce(state: MonitorState, incident: Incident, turn: Turn): void {
  const { now } = turn;
  const common = {
    ...suppressionByAlerts(state, incident, now),
    heldUntil: turn.holds.heldUntil(incident),
  };
  let current = incident;
  let next = Number.POSITIVE_INFINITY;
  for (const plan of plansOf(state, incident)) {
    const suppression = { ...common, channelFailedUntil: channelFailedUntil(state, incident, plan) };
    let known = current.told[plan.channel] ?? null;
    // One thing said may leave another: an escalation that is due with the first message.
    for (;;) {
      const decision = decide({ incident: current, plan, told: known, suppression, now });
      if (decision.kind === 'quiet') {
        next = Math.min(next, decision.until ?? next);
        break;
      }
      const { notice } = decision;
      if (notice === 'reminder' && known !== null && turn.waiting.has(plan.channel, incident.id)) {
        // What is still on its way to the channel says everything that a reminder would.
        known = { ...known, at: now };
        continue;
      }
      current = tell(state, { incident: current, plan, notice, now });
      known = current.told[plan.channel] ?? null;
    }
  }
  if (current !== incident) state.incidents.set(incident.id, current);
  if (Number.isFinite(next)) wakeBy(state, `incident:${incident.id}`, next);
}

function plansOf(state: MonitorState, incident: Incident): readonly ChannelPlan[] {
  const channels = state.settings.channels
    .map((channel) => channel.name)
    .filter((name) => !isAbout(incident, name));
  const plans = planChannels(incident, state.settings.routes, channels);
  if (incident.type !== providerDown.type) return plans;
  // Its message replaces those of the accounts, so whoever would have heard of one of them hears of it.
  const own = new Map(plans.map((plan) => [plan.channel, plan]));
  const replaced = staleIncidentsOf(state, incident.account)
    .flatMap((stale) => planChannels(stale, state.settings.routes, channels))
    .filter(({ direct, channel }) => direct && own.get(channel)?.direct !== true)
    // Where the outage itself escalates to, it still does.
    .map((plan) => ({
      ...plan,
      escalateAfterMs: own.get(plan.channel)?.escalateAfterMs ?? plan.escalateAfterMs,
    }));
  for (const plan of replaced) own.set(plan.channel, plan);
  return [...own.values()];
}

function tell(
  state: MonitorState,
  it: {
    readonly incident: Incident;
    readonly plan: ChannelPlan;
    readonly notice: NoticeKind;
    readonly now: number;
  },
): Incident {
  const { incident, plan, notice, now } = it;
  const message = enqueue(state, {
    channel: plan.channel,
    item: { incident: incident.id, account: incident.account, rule: incident.rule, kind: notice, at: now },
    dueAt: now + plan.groupWaitMs,
    now,
  });
  return tellChannel(incident, {
    channel: plan.channel,
    notice,
    message,
    untried: isUntried(state, incident),
    now,
  });
}

/** True until the first channel is told. One that refused for good was told as far as escalation goes. */
function isUntried(state: MonitorState, incident: Incident): boolean {
  if (Object.keys(incident.told).length > 0) return false;
  return !state.settings.channels.some(({ name }) => state.channelTries.has(`${name}/${incident.id}`));
}

/** A channel is not asked to carry the news of its own failure. */
function isAbout(incident: Incident, channel: string): boolean {
  return incident.type === channelFailed.type && incident.rule === channelFailedRule(channel);
}

function isIncidentInhibited(state: MonitorState, incident: Incident, now: number): boolean {
  const account = state.accounts.get(incident.account);
  const alert = account?.alerts.get(incident.rule);
  if (account === undefined || alert === undefined || alert.state !== 'firing') return false;
  return isInhibited(alert, heardAlerts(state, [...account.alerts.values()], now));
}

/** An alert that is itself silenced says nothing, so it must not keep others from speaking. */
function heardAlerts(state: MonitorState, alerts: readonly Alert[], now: number): Alert[] {
  return alerts.filter((alert) => {
    const incident = alert.incident === null ? undefined : state.incidents.get(alert.incident);
    return incident !== undefined && !isSilenced(state, incident, now);
  });
}

/** A channel that refuses for good is tried again at the pace of reminders, not with every new alert's fate unknown. */
function channelFailedUntil(state: MonitorState, incident: Incident, plan: ChannelPlan): number | null {
  if (!isOwnFailureRaised(state, channelFailedRule(plan.channel))) return null;
  const lastTry = state.channelTries.get(`${plan.channel}/${incident.id}`);
  if (lastTry === undefined) return null;
  const { repeatEveryMs } = plan;
  const reminded = repeatEveryMs !== null && Number.isFinite(repeatEveryMs);
  return lastTry + (reminded ? repeatEveryMs : defaultRepeatEveryMs);
}

/** The incidents that each channel's queue still speaks of, read when first asked for. */
class WaitingIncidents {
  readonly #state: MonitorState;
  readonly #byChannel = new Map<string, ReadonlySet<string>>();

  constructor(state: MonitorState) {
    this.#state = state;
  }

  has(channel: string, incident: string): boolean {
    const known = this.#byChannel.get(channel);
    if (known !== undefined) return known.has(incident);
    const items = queueOf(this.#state, channel).flatMap((message) => message.items);
    this.#byChannel.set(channel, new Set(items.map((item) => item.incident)));
    return this.has(channel, incident);
  }
}
