import { minuteMs, weekMs } from './time.ts';

/** The urgency of something: the one order of cards, lists, payments, reports, the calendar and messages about several alerts. */
export interface Urgency {
  /** Empty now: it comes before everything else. */
  readonly isEmpty: boolean;
  /** The last instant to act, in milliseconds since 1970; `never` if nothing has to be done. */
  readonly actBy: number;
}

/** A number that JSON can hold, unlike infinity: views travel to the command line. */
export const never = Number.MAX_SAFE_INTEGER;
export const notUrgent: Urgency = { isEmpty: false, actBy: never };

/** Empty ones come first, then the soonest to act on. */
export function byUrgency(left: Urgency, right: Urgency): number {
  return Number(right.isEmpty) - Number(left.isEmpty) || left.actBy - right.actBy;
}

export function mostUrgent(all: Iterable<Urgency>): Urgency {
  let first = notUrgent;
  for (const urgency of all) if (byUrgency(urgency, first) < 0) first = urgency;
  return first;
}

export const dueGroups = ['now', 'today', 'week', 'later'] as const;

export type DueGroup = (typeof dueGroups)[number];

/**
 * When somebody must act: at once, by `todayEndsAt`, within seven days, or later. An instant within the next minute counts as due: something due
 * "now" carries the instant of whoever looked, perhaps a moment after `now`.
 */
export function dueGroup({ isEmpty, actBy }: Urgency, now: number, todayEndsAt = now): DueGroup {
  if (isEmpty || actBy <= now + minuteMs) return 'now';
  if (actBy <= todayEndsAt) return 'today';
  return actBy <= now + weekMs ? 'week' : 'later';
}
