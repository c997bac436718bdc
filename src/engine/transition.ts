import type { Alert, AlertTiming } from '../domain/alert.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import type { Evaluation } from '../rules/evaluation.ts';

/**
 * The one door through which an alert changes.
 *
 * | state    | enters by                                   | leaves by                                            |
 * | -------- | ------------------------------------------- | ---------------------------------------------------- |
 * | inactive | start, recovery while pending, resolved     | breach                                               |
 * | pending  | breach with `for` > 0                       | `for` over (firing), recovery (inactive)             |
 * | firing   | breach with `for` 0, or `for` over          | recovery that lasted `recoverFor`, while not flapping |
 *
 * Inside firing the severity moves: up when something worse has lasted `for`, down at once. An alert that
 * changes more than five times within the flap window stays firing until it calms (at most two changes within
 * the window).
 *
 * `none` means that nothing changed but the numbers: everything else that changes has a name, so that it is stored
 * and survives a restart.
 */
type AlertChange =
  | 'none'
  | 'pending'
  | 'withdrawn'
  | 'fired'
  | 'rose'
  | 'fell'
  /** A timestamp inside the state changed: stored, not notified. */
  | 'moved'
  | 'recovering'
  | 'relapsed'
  | 'resolved'
  | 'flapping'
  | 'steadied';

export interface Transition {
  readonly alert: Alert;
  readonly change: AlertChange;
}

const maxChanges = 5;
/** Flapping ends when at most this many changes are left within the window. */
const calmChanges = 2;

export function inactiveAlert(identity: Pick<Alert, 'account' | 'rule' | 'type' | 'balance'>): Alert {
  return {
    ...identity,
    state: 'inactive',
    severity: 'info',
    breachedSince: null,
    recoveringSince: null,
    rising: null,
    incident: null,
    value: null,
    threshold: null,
    facts: [],
    changedAt: [],
    flappingSince: null,
  };
}

/** Judges an alert by a verdict; `unknown` and events change nothing. */
export function transition(
  alert: Alert,
  evaluation: Evaluation,
  timing: AlertTiming,
  now: number,
): Transition {
  if (evaluation.kind === 'unknown' || evaluation.kind === 'event') return { alert, change: 'none' };
  // Facts come only with a change: without a change those of the last one stay.
  const facts = evaluation.facts.length > 0 ? evaluation.facts : alert.facts;
  const judged: Alert = { ...alert, value: evaluation.value, threshold: evaluation.threshold, facts };
  return evaluation.kind === 'breached'
    ? breach(judged, evaluation.severity, timing, now)
    : recover(judged, timing, now);
}

/** Lets time pass. The last reading still counts, so this is not called for balances while the account cannot be read. */
export function elapse(alert: Alert, timing: AlertTiming, now: number): Transition {
  if (alert.state === 'pending') return breach(alert, alert.severity, timing, now);
  if (alert.recoveringSince !== null) return recover(alert, timing, now);
  // A worse severity may still wait for `for` while a flapping alert calms down: do only what is due.
  if (alert.rising !== null && now >= alert.rising.since + timing.forMs)
    return breach(alert, alert.rising.severity, timing, now);
  if (alert.flappingSince !== null) return steady(alert, timing, now);
  return { alert, change: 'none' };
}

/** Whether time may begin a staleness: not while the alert is pending or firing, but again while it recovers. */
export function isAtRest(alert: Alert | null): boolean {
  return alert === null || alert.state === 'inactive' || alert.recoveringSince !== null;
}

/** When `elapse` has something to do next; null when never. */
export function elapsesAt(alert: Alert, timing: AlertTiming): number | null {
  if (alert.state === 'pending') return sum(alert.breachedSince, timing.forMs);
  if (alert.state === 'inactive') return null;
  const calmAt = alert.flappingSince === null ? null : calmsAt(alert, timing);
  if (alert.recoveringSince !== null)
    return Math.max(alert.recoveringSince + timing.recoverForMs, calmAt ?? Number.NEGATIVE_INFINITY);
  const risesAt = alert.rising && alert.rising.since + timing.forMs;
  return calmAt === null || risesAt === null ? (calmAt ?? risesAt) : Math.min(calmAt, risesAt);
}

export function shiftAlert(alert: Alert, byMs: number): Alert {
  return {
    ...alert,
    breachedSince: sum(alert.breachedSince, byMs),
    recoveringSince: sum(alert.recoveringSince, byMs),
    rising: alert.rising && { ...alert.rising, since: alert.rising.since + byMs },
    changedAt: alert.changedAt.map((at) => at + byMs),
    flappingSince: sum(alert.flappingSince, byMs),
  };
}

function breach(alert: Alert, severity: Severity, timing: AlertTiming, now: number): Transition {
  if (alert.state === 'firing') return breachWhileFiring(alert, severity, timing, now);
  const breachedSince = alert.breachedSince ?? now;
  if (now >= breachedSince + timing.forMs) {
    const changedAt = [...recentChanges(alert, timing, now), now];
    const flappingSince = flaps(changedAt, timing) ? now : null;
    return {
      change: 'fired',
      alert: { ...alert, state: 'firing', severity, breachedSince, changedAt, flappingSince },
    };
  }
  const pending: Alert = { ...alert, state: 'pending', severity, breachedSince };
  if (alert.state === 'inactive') return { alert: pending, change: 'pending' };
  return { alert: pending, change: severity === alert.severity ? 'none' : 'moved' };
}

function breachWhileFiring(alert: Alert, severity: Severity, timing: AlertTiming, now: number): Transition {
  if (alert.recoveringSince !== null) {
    const relapsed = { ...alert, recoveringSince: null };
    // While it flaps, a relapse counts as a change although the incident never closed.
    const changedAt =
      alert.flappingSince === null ? alert.changedAt : [...recentChanges(alert, timing, now), now];
    const next = breachWhileFiring({ ...relapsed, changedAt }, severity, timing, now);
    return next.change === 'none' || next.change === 'moved' ? { ...next, change: 'relapsed' } : next;
  }
  const { rising } = alert;
  if (severity === alert.severity) {
    if (rising === null) return { alert, change: 'none' };
    return { alert: { ...alert, rising: null }, change: 'moved' };
  }
  if (!isWorse(severity, alert.severity))
    return { alert: { ...alert, severity, rising: null }, change: 'fell' };
  // `for` counts as while pending: from the first worse reading, however much worse.
  const since = rising?.since ?? now;
  if (now >= since + timing.forMs) return { alert: { ...alert, severity, rising: null }, change: 'rose' };
  return {
    alert: { ...alert, rising: { severity, since } },
    change: rising?.severity === severity ? 'none' : 'moved',
  };
}

function recover(alert: Alert, timing: AlertTiming, now: number): Transition {
  if (alert.state === 'inactive') return { alert, change: 'none' };
  if (alert.state === 'pending')
    return { alert: { ...alert, state: 'inactive', breachedSince: null }, change: 'withdrawn' };
  const began = alert.recoveringSince === null;
  const recoveringSince = alert.recoveringSince ?? now;
  if (alert.flappingSince !== null) {
    const changedAt = began ? [...recentChanges(alert, timing, now), now] : alert.changedAt;
    const next = steady({ ...alert, recoveringSince, rising: null, changedAt }, timing, now);
    return began && next.change === 'none' ? { ...next, change: 'recovering' } : next;
  }
  if (now < recoveringSince + timing.recoverForMs)
    return { alert: { ...alert, recoveringSince, rising: null }, change: began ? 'recovering' : 'none' };
  const changedAt = [...recentChanges(alert, timing, now), now];
  if (flaps(changedAt, timing)) {
    return {
      alert: { ...alert, recoveringSince, rising: null, changedAt, flappingSince: now },
      change: 'flapping',
    };
  }
  return { alert: resolve(alert, changedAt), change: 'resolved' };
}

/** Ends the flapping once it has calmed. A calm alert whose readings were good long enough resolves at once. */
function steady(alert: Alert, timing: AlertTiming, now: number): Transition {
  if (now < calmsAt(alert, timing)) return { alert, change: 'none' };
  const calm: Alert = { ...alert, flappingSince: null, changedAt: recentChanges(alert, timing, now) };
  if (calm.recoveringSince === null) return { alert: calm, change: 'steadied' };
  if (now < calm.recoveringSince + timing.recoverForMs) return { alert: calm, change: 'steadied' };
  return { alert: resolve(calm, []), change: 'resolved' };
}

function flaps(changedAt: readonly number[], timing: AlertTiming): boolean {
  return timing.flapWindowMs > 0 && changedAt.length > maxChanges;
}

function calmsAt(alert: Alert, timing: AlertTiming): number {
  const third = alert.changedAt.at(-(calmChanges + 1));
  return third === undefined ? Number.NEGATIVE_INFINITY : third + timing.flapWindowMs;
}

function resolve(alert: Alert, changedAt: readonly number[]): Alert {
  return { ...alert, state: 'inactive', breachedSince: null, recoveringSince: null, rising: null, changedAt };
}

function recentChanges(alert: Alert, timing: AlertTiming, now: number): readonly number[] {
  return alert.changedAt.filter((at) => now - at < timing.flapWindowMs);
}

function sum(instant: number | null, byMs: number): number | null {
  return instant === null ? null : instant + byMs;
}
