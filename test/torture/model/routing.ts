import { type Alert, alertKey, type Incident } from '../../../src/domain/alert.ts';
import type { Silence } from '../../../src/domain/route.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Calendar } from '../../../src/ports/clock.ts';
import type { AlertBook } from './alert-book.ts';
import { fits, rank, type Subject } from './rules.ts';

/** What a route asks of a channel (contract 3.2). */
export interface Ask {
  readonly channel: string;
  readonly direct: boolean;
  readonly repeatEveryMs: number;
  readonly escalateAfterMs: number | null;
}

/** Reminders when a route does not say (contract 3.2). */
const usualRepeatMs = { info: Number.POSITIVE_INFINITY, warning: 86_400_000, critical: 14_400_000 } as const;

const ownAccount = '@lowwater';

export function subjectOf(incident: Incident): Subject {
  const { account, rule, type, severity, labels } = incident;
  return { account, rules: account === ownAccount ? [type, rule] : [rule], severity, labels };
}

export function asksOf(settings: Settings, incident: Incident): readonly Ask[] {
  const subject = subjectOf(incident);
  const names = settings.channels.map((channel) => channel.name);
  const fitting = settings.routes.filter((route) => fits(route.match, subject));
  const last = fitting.findIndex((route) => !route.continue);
  const taken = last < 0 ? fitting : fitting.slice(0, last + 1);
  const direct = new Map<string, number>();
  const escalations = new Map<string, { readonly afterMs: number; readonly repeatEveryMs: number }>();
  const usualMs = usualRepeatMs[incident.severity];
  for (const route of taken) {
    const repeatEveryMs = route.repeatEveryMs ?? usualMs;
    for (const channel of route.channels) {
      if (!direct.has(channel)) direct.set(channel, repeatEveryMs);
    }
    for (const channel of route.escalate?.channels ?? []) {
      const known = escalations.get(channel) ?? { afterMs: Number.POSITIVE_INFINITY, repeatEveryMs };
      escalations.set(channel, { ...known, afterMs: Math.min(known.afterMs, route.escalate?.afterMs ?? 0) });
    }
  }
  if (taken.length === 0) for (const name of names) direct.set(name, usualMs);
  return names
    .filter(
      (name) => (direct.has(name) || escalations.has(name)) && incident.rule !== `channel-failed:${name}`,
    )
    .map((name) => ({
      channel: name,
      direct: direct.has(name),
      repeatEveryMs: direct.get(name) ?? escalations.get(name)?.repeatEveryMs ?? 0,
      escalateAfterMs: escalations.get(name)?.afterMs ?? null,
    }));
}

export function silenced(
  state: Pick<MonitorState, 'settings'> & { readonly silences: { values(): Iterable<Silence> } },
  calendar: Calendar,
  incident: Incident,
  now: number,
): boolean {
  const subject = subjectOf(incident);
  for (const silence of state.silences.values()) {
    if (silence.startsAt <= now && now < silence.endsAt && fits(silence.match, subject)) return true;
  }
  return state.settings.silences.some((silence) => {
    if (!fits(silence.match, subject)) return false;
    const begun = calendar.previous(silence.cron, silence.timezone, now);
    return begun !== null && now < begun + silence.durationMs;
  });
}

/** Whether a silence muted it, also one that began and ended while nothing was stored, so that nobody saw it. */
export function wasSilencedSince({ silences }: MonitorState, incident: Incident, since: number): boolean {
  const subject = subjectOf(incident);
  return [...silences.values()].some(({ endsAt, match }) => endsAt > since && fits(match, subject));
}

/** Whether another firing alert of the account already says it. An alert that is silenced or refused itself says nothing. */
export function inhibited(
  it: {
    readonly state: MonitorState;
    readonly calendar: Calendar;
    readonly book: AlertBook;
    readonly now: number;
    /** Only alerts for which this is true count; if absent, all of them. */
    readonly counts?: (key: string) => boolean;
    /** A channel that knows of the incident: only alerts that it hears of count. */
    readonly channel?: string;
    /** Only if the contract says which of two alerts speaks. */
    readonly surely?: boolean;
  },
  incident: Incident,
): boolean {
  const { state, book } = it;
  const alert = state.alerts.get(incident.account, incident.rule);
  if (alert?.incident !== incident.id) return false;
  for (const other of state.accounts.get(incident.account)?.alerts.values() ?? []) {
    if (other.rule === incident.rule || other.state !== 'firing' || other.incident === null) continue;
    const rule = book.rule(other.account, other.rule);
    if (rule === undefined || it.counts?.(alertKey(other.account, other.rule)) === false) continue;
    const known = state.incidents.get(other.incident);
    if (known === undefined || isMute(it, known)) continue;
    if (incident.type === 'stale' && rule.type === 'auth-failed') return true;
    const saysMore = saysMoreOf(other, alert) > (it.surely === true ? 0 : -1);
    if (saysMore && hears(state.settings, known, it.channel)) return true;
  }
  return false;
}

/** Silenced, or refused for good by every channel that it is to be told on: whether it was so is not sure while nobody is notified. */
function isMute({ state, calendar, now, surely }: Parameters<typeof inhibited>[0], known: Incident): boolean {
  if (silenced(state, calendar, known, now)) return true;
  if (Object.keys(known.notified).length > 0) return false;
  const asked = asksOf(state.settings, known).filter(({ direct }) => direct);
  const isFailed = (channel: string): boolean =>
    state.alerts.get('@lowwater', `channel-failed:${channel}`)?.state === 'firing';
  return surely === true || asked.every(({ channel }) => isFailed(channel));
}

function hears(settings: Settings, incident: Incident, channel: string | undefined): boolean {
  if (channel === undefined) return true;
  const isAsked = asksOf(settings, incident).some((ask) => ask.direct && ask.channel === channel);
  return isAsked || incident.notified[channel] !== undefined;
}

const emptiness = ['runway', 'below', 'negative'];

/** Above 0: the first speaks for both (contract 4.3). 0: one of them does. Below 0: the second speaks for both, or each for itself. */
function saysMoreOf(one: Alert, other: Alert): number {
  const [mine, its] = [emptiness.indexOf(one.type), emptiness.indexOf(other.type)];
  if (one.balance === null || one.balance !== other.balance || mine < 0 || its < 0) return -1;
  return rank[one.severity] - rank[other.severity] || mine - its;
}

/** Whether one acknowledgement takes both alerts of the account. */
export function sharesVoice(one: Alert, other: Alert): boolean {
  const both = emptiness.includes(one.type) && emptiness.includes(other.type);
  return both && one.balance === other.balance && one.account === other.account;
}

export function acknowledged(incident: Incident): boolean {
  return incident.acknowledgement !== null && incident.acknowledgement.rises === incident.rises;
}

/** Whether an outage of the whole provider may be reported instead. */
export function maybeHeld(state: MonitorState, incident: Incident, now: number, intervalMs: number): boolean {
  if (incident.type !== 'stale') return false;
  const own = state.accounts.get(incident.account)?.settings;
  if (own === undefined) return false;
  const provider = own.baseUrl ?? own.provider;
  const accounts = [...state.accounts.values()].filter(
    ({ settings }) => (settings.baseUrl ?? settings.provider) === provider,
  );
  if (accounts.length < 3) return false;
  const outage = state.alerts.get(`@provider:${provider.replace(/^https:\/\//, '')}`, 'provider-down');
  if (outage?.state === 'firing') return true;
  const ended = outage?.changedAt.at(-1);
  if (ended !== undefined && now - ended < intervalMs + 60_000) return true;
  const alert = state.alerts.get(incident.account, incident.rule);
  const staleSince = Math.max(incident.firedAt, alert?.changedAt.at(-1) ?? 0);
  const failing = accounts.filter((it) => it.poll.consecutiveFailures > 0);
  return (
    failing.length >= 3 && failing.length * 2 >= accounts.length && now - staleSince < 2 * intervalMs + 60_000
  );
}
