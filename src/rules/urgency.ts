import type { Incident } from '../domain/alert.ts';
import type { Payment, Runway } from '../domain/message.ts';
import type { Severity } from '../domain/severity.ts';
import { dayMs, minuteMs, weekMs } from '../domain/time.ts';
import { never, type Urgency } from '../domain/urgency.ts';
import { alertKindOf } from './registry.ts';

/** The date of a balance: pay by, else when it may be empty, with money that is expected in time. Null if nobody can say. */
function actByOf({ payBy, expected, forecast, emptyAt }: Runway): number | null {
  if (payBy !== null) return payBy;
  const later = expected?.forecast ?? null;
  if (later !== null) return later.earliest ?? later.emptyAt ?? never;
  return forecast?.earliest ?? emptyAt;
}

/** The time that an alert without a date of its own may wait. */
const patienceMs: Readonly<Record<Severity, number>> = { critical: 0, warning: dayMs, info: weekMs };

/**
 * Dated by its runway if one is given: empty now, else by when to act, at once if nobody can say. Without a runway it may wait as long as its
 * severity allows: an alert that waited longer is due now and no sooner, so that the worst comes first.
 */
export function urgencyOf(alert: UrgentAlert, runway: Runway | null, now: number): Urgency {
  const isAboutMoney = alert.balance !== null && alertKindOf(alert).emptinessRank !== undefined;
  const ofBalance = isAboutMoney ? urgencyOfBalance(runway, now) : null;
  if (ofBalance !== null) return ofBalance;
  const waitsUntil = isAboutMoney && runway !== null ? now : alert.since + patienceMs[alert.severity];
  return { isEmpty: false, actBy: toMinute(Math.max(waitsUntil, now)) };
}

/** Rounds down to the minute: alerts that are due now are due alike, though thousands are looked at one after the other. */
const toMinute = (at: number): number => at - (at % minuteMs);

interface UrgentAlert extends Pick<Incident, 'type' | 'balance' | 'severity'> {
  readonly since: number;
}

/** Null when nobody can say when it ends. */
export function urgencyOfBalance(runway: Runway | null, now: number): Urgency | null {
  if (runway === null) return null;
  const isEmpty = isUsedUp(runway);
  const actBy = isEmpty ? toMinute(now) : actByOf(runway);
  return actBy === null ? null : { isEmpty, actBy };
}

export function isUsedUp(runway: Pick<Runway, 'runwayMs'> | null): boolean {
  return runway !== null && runway.runwayMs !== null && runway.runwayMs <= 0;
}

/** A payment without a date is due at once, but after those that should have been paid before. */
export function urgencyOfPayment(
  { isEmpty, dueAt }: Pick<Payment, 'isEmpty' | 'dueAt'>,
  now: number,
): Urgency {
  return { isEmpty, actBy: dueAt ?? now };
}
