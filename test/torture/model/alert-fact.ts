import type { Alert } from '../../../src/domain/alert.ts';
import type { Severity } from '../../../src/domain/severity.ts';
import { rank, type Verdict } from './rules.ts';

/** The model's belief about one alert. Never changed in place: a crash brings an older one back. */
export interface AlertFact {
  readonly state: 'inactive' | 'pending' | 'firing';
  readonly severity: Severity;
  readonly since: number | null;
  readonly goodSince: number | null;
  readonly rising: { readonly severity: Severity; readonly since: number } | null;
  /** Recent changes between firing and not: many of them may be flapping. */
  readonly changes: readonly number[];
  /** When it last began to fire, as far as the model saw it: the clock's time then, as in the incident. */
  readonly firedAt: number | null;
  /** The product may see flapping, or two things happened at the same instant: the product is believed for a while. */
  readonly doubt: boolean;
}

export const resting: AlertFact = {
  state: 'inactive',
  severity: 'info',
  since: null,
  goodSince: null,
  rising: null,
  changes: [],
  firedAt: null,
  doubt: false,
};

export interface Timing {
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly flapWindowMs: number;
}

/** As many changes as this within the window may be flapping. */
const changesBeforeDoubt = 5;

export function judged(fact: AlertFact, verdict: Verdict, timing: Timing, now: number): AlertFact {
  if (verdict === 'unknown') return fact;
  return verdict === 'ok' ? recovered(fact, timing, now) : breached(fact, verdict, timing, now);
}

/** The fact after time has passed until `now`. */
export function elapsed(fact: AlertFact, timing: Timing, now: number): AlertFact {
  if (fact.state === 'pending' && fact.since !== null && now >= fact.since + timing.forMs) {
    return breached(fact, fact.severity, timing, now);
  }
  if (fact.state !== 'firing') return fact;
  if (fact.goodSince !== null) return recovered(fact, timing, now);
  if (fact.rising !== null && now >= fact.rising.since + timing.forMs) {
    return { ...fact, severity: fact.rising.severity, rising: null };
  }
  return fact;
}

/** Instants at which time alone changes the fact. */
export function boundaries(fact: AlertFact, timing: Timing): number[] {
  const found: number[] = [];
  if (fact.state === 'pending' && fact.since !== null) found.push(fact.since + timing.forMs);
  if (fact.state === 'firing' && fact.goodSince !== null) found.push(fact.goodSince + timing.recoverForMs);
  if (fact.state === 'firing' && fact.rising !== null) found.push(fact.rising.since + timing.forMs);
  return found;
}

export function shifted(fact: AlertFact, byMs: number): AlertFact {
  const move = (at: number | null): number | null => (at === null ? null : at + byMs);
  return {
    ...fact,
    since: move(fact.since),
    goodSince: move(fact.goodSince),
    rising: fact.rising && { ...fact.rising, since: fact.rising.since + byMs },
    changes: fact.changes.map((at) => at + byMs),
  };
}

/** The product's alert as a fact of the model. */
export function factOf(alert: Alert | undefined): AlertFact {
  if (alert === undefined) return resting;
  return {
    state: alert.state,
    severity: alert.severity,
    since: alert.breachedSince,
    goodSince: alert.recoveringSince,
    rising: alert.rising,
    changes: alert.changedAt,
    firedAt: null,
    doubt: alert.flappingSince !== null,
  };
}

export function agrees(fact: AlertFact, alert: Alert | undefined): boolean {
  const state = alert?.state ?? 'inactive';
  if (fact.state !== state) return false;
  return state === 'inactive' || fact.severity === alert?.severity;
}

function breached(fact: AlertFact, severity: Severity, timing: Timing, now: number): AlertFact {
  if (fact.state !== 'firing') {
    const since = fact.since ?? now;
    if (now - since < timing.forMs) return { ...fact, state: 'pending', severity, since };
    const firing = { ...fact, state: 'firing', severity, since, goodSince: null, rising: null } as const;
    return changed({ ...firing, firedAt: now }, timing, now);
  }
  const again = { ...fact, goodSince: null };
  if (severity === fact.severity) return { ...again, rising: null };
  if (rank[severity] < rank[fact.severity]) return { ...again, severity, rising: null };
  const since = again.rising?.since ?? now;
  if (now - since >= timing.forMs) return { ...again, severity, rising: null };
  return { ...again, rising: { severity, since } };
}

function recovered(fact: AlertFact, timing: Timing, now: number): AlertFact {
  if (fact.state === 'inactive') return fact;
  if (fact.state === 'pending') return { ...fact, state: 'inactive', since: null };
  const goodSince = fact.goodSince ?? now;
  if (now - goodSince < timing.recoverForMs) return { ...fact, goodSince, rising: null };
  return changed({ ...fact, state: 'inactive', since: null, goodSince: null, rising: null }, timing, now);
}

function changed(fact: AlertFact, timing: Timing, now: number): AlertFact {
  const changes = [...fact.changes.filter((at) => now - at < timing.flapWindowMs), now];
  return { ...fact, changes, doubt: fact.doubt || changes.length >= changesBeforeDoubt };
}
