import { type Alert, alertKey, type Incident, providerAccountId, type Told } from '../../core/alert.ts';
import { type ChannelPlan, decide, type Suppression } from '../../core/decide.ts';
import { isInhibited } from '../../core/inhibition.ts';
import { kindsByIncident, type NoticeKind } from '../../core/outbox.ts';
import { planChannels } from '../../core/plan.ts';
import { outageHold, reviewOutage } from './outage.ts';
import { channelFailedRule, isOwnFailureRaised } from './own-alerts.ts';
import { enqueue, queueOf } from './queue.ts';
import { isSilenced } from './silencing.ts';
import { type MonitorState, wakeBy } from './state.ts';

/**
 * Ends a turn: decides for every incident that was touched, and every channel of it, whether something is to be said, and puts
 * that on the outbox. Doing it twice says nothing twice, because what was said is part of the incident.
 */
export function announceTouched(state: MonitorState, now: number): void {
  reviewOutages(state, now);
  for (const id of state.touched) {
    const incident = state.incidents.get(id);
    if (incident !== undefined) announce(state, incident, now);
  }
  state.touched.clear();
}

/** Whether a person would find the incident suppressed now, and how (for the API). */
export function suppressionOf(
  state: MonitorState,
  incident: Incident,
  now: number,
): { silenced: boolean; inhibited: boolean } {
  return { silenced: isSilenced(state, incident, now), inhibited: isIncidentInhibited(state, incident, now) };
}

/** Whether a queued message still has something to say about the incident. */
export function isQueued(state: MonitorState, incident: string): boolean {
  for (const message of state.messages.values()) {
    if (message.state === 'pending' && message.items.some((item) => item.incident === incident)) return true;
  }
  return false;
}

/** Forgets an ended incident once nobody has to be told anything about it. The database keeps it. */
export function settleIncident(state: MonitorState, incident: Incident): void {
  const ended = incident.resolvedAt !== null || incident.event;
  const owed = !incident.event && Object.values(incident.told).some((told) => !told.resolved);
  if (!ended || owed || isQueued(state, incident.id) || state.changes.incidents.has(incident.id)) return;
  state.incidents.delete(incident.id);
  state.due.delete(`incident:${incident.id}`);
}

function reviewOutages(state: MonitorState, now: number): void {
  const providers = new Set<string>();
  for (const id of state.touched) {
    const incident = state.incidents.get(id);
    const account = incident?.type === 'stale' ? state.accounts.get(incident.account) : undefined;
    if (account !== undefined) providers.add(account.settings.baseUrl);
  }
  for (const baseUrl of providers) {
    const before = outageState(state, baseUrl);
    reviewOutage(state, baseUrl, now);
    if (outageState(state, baseUrl) !== before) touchProvider(state, baseUrl);
  }
}

function outageState(state: MonitorState, baseUrl: string): Alert['state'] | undefined {
  return state.alerts.get(alertKey(providerAccountId(baseUrl), 'provider-down'))?.state;
}

function touchProvider(state: MonitorState, baseUrl: string): void {
  for (const incident of state.incidents.values()) {
    if (state.accounts.get(incident.account)?.settings.baseUrl === baseUrl) state.touched.add(incident.id);
  }
}

function announce(state: MonitorState, incident: Incident, now: number): void {
  const channels = state.settings.channels
    .map((channel) => channel.name)
    .filter((name) => !isAbout(incident, name));
  let next = Number.POSITIVE_INFINITY;
  let told = incident.told;
  const common = { ...suppressionOf(state, incident, now), heldUntil: heldUntil(state, incident, now) };
  for (const plan of planChannels(incident, state.settings.routes, channels)) {
    const suppression = { ...common, channelFailedUntil: channelFailedUntil(state, incident, plan) };
    const known = incident.told[plan.channel] ?? null;
    const decision = decide({ incident, plan, told: known, suppression, now });
    if (decision.kind === 'quiet') {
      next = Math.min(next, decision.until ?? next);
      continue;
    }
    if (decision.notice === 'reminder' && isWaiting(state, plan.channel, incident)) {
      // What is still on its way to the channel says everything that a reminder would.
      next = Math.min(next, now + (plan.repeatEveryMs ?? 0));
      continue;
    }
    told = { ...told, [plan.channel]: tell(state, { incident, plan, notice: decision.notice, known, now }) };
    next = Math.min(next, now + (plan.repeatEveryMs ?? Number.POSITIVE_INFINITY));
  }
  if (told !== incident.told) {
    state.incidents.set(incident.id, { ...incident, told });
    state.changes.incidents.add(incident.id);
  }
  const key = `incident:${incident.id}`;
  if (Number.isFinite(next)) wakeBy(state, key, next);
}

function tell(
  state: MonitorState,
  it: {
    readonly incident: Incident;
    readonly plan: ChannelPlan;
    readonly notice: NoticeKind;
    readonly known: Told | null;
    readonly now: number;
  },
): Told {
  const { incident, plan, notice, known, now } = it;
  const message = enqueue(state, {
    channel: plan.channel,
    item: { incident: incident.id, account: incident.account, rule: incident.rule, kind: notice, at: now },
    dueAt: now + plan.groupWaitMs,
    now,
  });
  return {
    at: now,
    severity: incident.severity,
    resolved: notice === 'resolved',
    flapping: incident.flappingSince !== null,
    firstMessage: known?.firstMessage ?? message,
    subject: known?.subject ?? null,
    escalatedAt: notice === 'escalated' ? now : (known?.escalatedAt ?? null),
  };
}

/** A channel is not asked to carry the news of its own failure. */
function isAbout(incident: Incident, channel: string): boolean {
  return incident.type === 'channel-failed' && incident.rule === channelFailedRule(channel);
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

function heldUntil(state: MonitorState, incident: Incident, now: number): Suppression['heldUntil'] {
  return incident.type === 'stale' ? outageHold(state, incident, now) : null;
}

/** A channel that refuses for good is tried again at the pace of reminders, not with every new alert's fate unknown. */
function channelFailedUntil(state: MonitorState, incident: Incident, plan: ChannelPlan): number | null {
  if (!isOwnFailureRaised(state, channelFailedRule(plan.channel))) return null;
  const lastTry = state.channelTries.get(`${plan.channel}/${incident.id}`);
  return lastTry === undefined || plan.repeatEveryMs === null ? null : lastTry + plan.repeatEveryMs;
}

function isWaiting(state: MonitorState, channel: string, incident: Incident): boolean {
  return queueOf(state, channel).some((message) => kindsByIncident(message.items).has(incident.id));
}
