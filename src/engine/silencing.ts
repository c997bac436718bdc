import {
  type Incident,
  type LastNotified,
  matchSubject,
  notifiedOfLittle,
  uncertainMessage,
} from '../domain/alert.ts';
import type { Muted } from '../domain/operator.ts';
import type { Notification, NotificationItem, NotificationReason } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { keptAfterEndMs, type RecurringSilence, type Silence } from '../domain/route.ts';
import { type Matcher, matches, mayMatchAlertsOf } from '../domain/rule.ts';
import type { Calendar } from '../ports/clock.ts';
import { isUnsent, putNotification, queueOf, removeNotification } from './queue.ts';
import { type MonitorState, scheduleBy } from './state.ts';

/** [startsAt, endsAt). */
export type SilenceWindow = Pick<Silence, 'startsAt' | 'endsAt'>;

/** The ends of the silences that mute the incident at `now`: those made by people, then those from the configuration. */
function* silenceEnds(state: MonitorState, incident: Incident, now: number): Generator<number, void> {
  const subject = matchSubject(incident);
  for (const { startsAt, endsAt, match } of state.silences.values())
    if (startsAt <= now && now < endsAt && matches(match, subject)) yield endsAt;
  for (const silence of state.settings.silences) {
    const window = matches(silence.match, subject) ? currentWindow(state.calendar, silence, now) : null;
    if (window !== null) yield window.endsAt;
  }
}

export function isSilenced(state: MonitorState, incident: Incident, now: number): boolean {
  return silenceEnds(state, incident, now).next().done !== true;
}

/** The most silences that are followed, each beginning before the one before it ends; a recurring one may have no gap at all. */
const maxInRow = 20;

/** The instant from which messages about the incident are sent again, as things are; null when it is not silenced. */
export function silencedUntil(state: MonitorState, incident: Incident, now: number): number | null {
  let until = now;
  for (let count = 0; count < maxInRow; count += 1) {
    const before = until;
    for (const end of silenceEnds(state, incident, before)) until = Math.max(until, end);
    if (until === before) break;
  }
  return until > now ? until : null;
}

export function mutedBy(state: MonitorState, match: Matcher): Muted {
  const firing = [...state.incidents.values()].filter(
    (incident) => incident.resolvedAt === null && matches(match, matchSubject(incident)),
  );
  return {
    alerts: firing.map((incident) => ({ account: incident.account, rule: incident.rule })),
    accounts: [...state.accounts.values()].flatMap(({ id, settings }) =>
      mayMatchAlertsOf(match, settings) ? [id] : [],
    ),
  };
}

/** The window of a recurring silence that holds `now`; null outside. */
function currentWindow(calendar: Calendar, silence: RecurringSilence, now: number): SilenceWindow | null {
  const startsAt = calendar.previous(silence.cron, silence.timezone, now);
  const endsAt = startsAt === null ? now : startsAt + silence.durationMs;
  return startsAt !== null && now < endsAt ? { startsAt, endsAt } : null;
}

/** The window of a recurring silence that holds `now`, and those to come. */
export function* windowsFrom(
  calendar: Calendar,
  silence: RecurringSilence,
  now: number,
): Generator<SilenceWindow, void> {
  const { cron, timezone, durationMs } = silence;
  const current = currentWindow(calendar, silence, now);
  if (current !== null) yield current;
  let startsAt = calendar.next(cron, timezone, current?.startsAt ?? now);
  for (; startsAt !== null; startsAt = calendar.next(cron, timezone, startsAt))
    yield { startsAt, endsAt: startsAt + durationMs };
}

/** More windows would add nothing about a long time. */
const maxWindows = 400;

/** The windows of a recurring silence that lie in [since, until), at least in part; if there are a great many, the first ones. */
export function windowsBetween(
  calendar: Calendar,
  silence: RecurringSilence,
  { since, until }: { readonly since: number; readonly until: number },
): readonly SilenceWindow[] {
  const windows: SilenceWindow[] = [];
  for (const window of windowsFrom(calendar, silence, since).take(maxWindows)) {
    if (window.startsAt >= until) break;
    windows.push(window);
  }
  return windows;
}

/** Wakes the monitor when a silence next begins or ends, and forgets those that are long over. */
function scheduleSilences(state: MonitorState, now: number): void {
  for (const silence of [...state.silences.values()]) {
    if (silence.endsAt > now) {
      scheduleBy(state, 'silences', silence.startsAt > now ? silence.startsAt : silence.endsAt);
    } else if (silence.endsAt + keptAfterEndMs <= now) {
      state.silences.forget(silence.id);
    }
  }
  for (const silence of state.settings.silences) {
    const [window] = windowsFrom(state.calendar, silence, now);
    if (window !== undefined)
      scheduleBy(state, 'silences', window.startsAt > now ? window.startsAt : window.endsAt);
  }
}

type IsQuiet = (incident: string) => boolean;

function mutedAt(state: MonitorState, now: number): IsQuiet {
  return (id) => {
    const incident = state.incidents.get(id);
    return incident !== undefined && isSilenced(state, incident, now);
  };
}

/**
 * Retracts quiet items that wait for a channel and that nobody received, the newest message first: each goes back to what was known before it.
 * The items do not count as notified: what still holds when the silence ends is notified then, and reminders are timed by what was read. A
 * notification that may have arrived stays: its readers must learn of the end.
 */
export function retractWaiting(state: MonitorState, channel: string, isQuiet: IsQuiet): void {
  for (const message of queueOf(state, channel).toReversed()) retract(state, message, isQuiet);
}

function retract(state: MonitorState, message: Notification, isQuiet: IsQuiet): void {
  if (!isUnsent(state, message)) return;
  const quiet = message.items.filter(({ incident }) => isQuiet(incident));
  if (quiet.length === 0) return;
  withdrawNotified(state, { ...message, items: quiet }, new Set());
  const items = message.items.filter((item) => !quiet.includes(item));
  if (items.length === 0) removeNotification(state, message);
  else putNotification(state, { ...message, items });
}

/**
 * Withdraws a notification: its items do not count as notified, except those of `spared` incidents. A beginning that may have arrived is
 * notified again, and its end is owed.
 */
export function withdrawNotified(
  state: MonitorState,
  message: Notification,
  spared: ReadonlySet<string>,
  mayHaveArrived = false,
): void {
  const said = Map.groupBy(message.items, (item) => item.incident);
  forEachNotified(state, message, (incident, notified) => {
    if (spared.has(incident.id)) return notified;
    if (notified.firstMessage === message.id) return withoutBeginning(incident, notified, mayHaveArrived);
    const items = said.get(incident.id) ?? [];
    const before = items.map((item) => knownBefore(item, notified));
    const has = (wanted: NotificationReason): boolean => items.some(({ kind }) => kind === wanted);
    return {
      ...notified,
      // The next reminder is not timed by what nobody read.
      at: incident.firedAt,
      ...before.find(({ rises }) => rises < notified.rises),
      // Another message with the same end may be on its way.
      resolved: notified.resolved && !has('resolved'),
      flapping: notified.flapping && !has('flapping'),
      escalatedAt: has('escalated') ? null : notified.escalatedAt,
      acknowledgedAt: before[0]?.acknowledgedAt ?? null,
    };
  });
}

/** The channel's knowledge before an item. An item that does not say it may be the first that was read. */
function knownBefore(
  { kind, before }: NotificationItem,
  notified: LastNotified,
): NonNullable<NotificationItem['before']> {
  if (before !== undefined) return before;
  const { severity, rises } = notified;
  const isNews = kind === 'worse' || kind === 'firing';
  return { ...(isNews ? { severity: 'info', rises: rises - 1 } : { severity, rises }), acknowledgedAt: null };
}

/** The channel's knowledge without the beginning; null when the incident is notified as new, and its end only if that arrives. */
function withoutBeginning(
  { event, resolvedAt, severity }: Incident,
  notified: LastNotified,
  mayHaveArrived: boolean,
): LastNotified | null {
  if (!mayHaveArrived || event || (resolvedAt === null && severity === 'info')) return null;
  return notifiedOfLittle({ ...notified, firstMessage: uncertainMessage });
}

/**
 * Neither the content of a lost message is known, nor who read it. So all that a channel was notified of since it was created is notified
 * again: open incidents as worse, ended ones as over, and what is never notified as worse as new.
 */
export function withdrawLost(state: MonitorState, lost: { readonly id: string; readonly at: number }): void {
  for (const { name: channel } of state.settings.channels) {
    const items = [...state.incidents.values()].flatMap(({ id: incident, notified }) =>
      (ownOf(notified, channel)?.at ?? Number.NEGATIVE_INFINITY) >= lost.at ? [{ incident }] : [],
    );
    forEachNotified(state, { channel, items }, ({ event, resolvedAt, severity }, notified) => {
      const isFirst = notified.firstMessage === lost.id;
      if (isFirst && (event || (resolvedAt === null && severity === 'info'))) return null;
      return event ? notified : notifiedOfLittle(notified);
    });
  }
}

/** Changes, or with null removes, what the channel was last notified of. */
export function forEachNotified(
  state: MonitorState,
  message: { readonly channel: string; readonly items: readonly { readonly incident: string }[] },
  change: (incident: Incident, notified: LastNotified) => LastNotified | null,
): void {
  for (const id of new Set(message.items.map((item) => item.incident))) {
    const incident = state.incidents.get(id);
    const notified = ownOf(incident?.notified, message.channel);
    if (incident === undefined || notified === undefined) continue;
    const { [message.channel]: _, ...others } = incident.notified;
    const next = change(incident, notified);
    state.incidents.set(id, {
      ...incident,
      notified: next === null ? others : { ...others, [message.channel]: next },
    });
    state.touched.add(id);
  }
}

/** A silence began or ended: everything that it may have muted is decided on again. */
export function reviewSilences(state: MonitorState, now: number): void {
  applySilences(state, now);
  for (const id of state.incidents.keys()) state.touched.add(id);
}

/** Retracts waiting messages that are muted by now, and wakes the monitor when that changes. */
export function applySilences(state: MonitorState, now: number): void {
  for (const channel of [...state.queues.keys()]) retractWaiting(state, channel, mutedAt(state, now));
  scheduleSilences(state, now);
}
