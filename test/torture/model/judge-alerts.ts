import type { Outcome, Reading } from '../../../src/domain/reading.ts';
import type { AccountSettings } from '../../../src/domain/settings.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import type { StaleRule } from '../../../src/rules/stale.ts';
import { type AlertFact, boundaries, elapsed, judged, type Timing } from './alert-fact.ts';
import { needsReading, verdictOnReading } from './rules.ts';

/** The model's belief about one account; replaced, never changed in place. */
export interface AccountFact {
  /** The address it was read at: another address begins another series. */
  readonly address: string | null;
  /** The ids that its balances had: if a balance has another id now, its alert is another one. */
  readonly balances: readonly string[];
  readonly firstSeenAt: number;
  readonly reading: Reading | null;
  /** The last reading before that one in the account's currency: top-ups and spending are seen by comparing the two. */
  readonly previous: Reading | null;
  readonly unwatchedMs: number;
  readonly outcome: Outcome['kind'] | null;
  /** Failed polls in a row. */
  readonly failures: number;
  readonly polledAt: number | null;
  readonly alerts: ReadonlyMap<string, AlertFact>;
}

/** An answer, and the belief about its account before it. */
export interface Polled {
  readonly setup: AccountSetup;
  readonly fact: AccountFact;
  readonly reading: Reading | null;
  readonly outcome: Outcome;
  readonly now: number;
}

export interface AccountSetup {
  readonly settings: AccountSettings;
  readonly rules: readonly AnyRule[];
  readonly intervalMs: number;
  /** The time between two polls that are due; with a cron expression it changes with the hour. */
  readonly gapMs: () => number;
}

/** Things this close together may come in either order. */
export const tieMs = 60;

/** The alert after an answer. If time decides something at about the same instant, the alert is in doubt. */
export function judgeAnswer(rule: AnyRule, known: AlertFact, it: Polled): AlertFact {
  const { setup, fact, reading, outcome, now } = it;
  const timing = timingOf(rule, setup);
  if (isTie(known, timing, now)) return { ...known, doubt: true };
  if (rule.type === 'auth-failed') {
    const verdict = outcome.kind === 'auth_failed' ? rule.severity : outcome.kind === 'ok' ? 'ok' : 'unknown';
    return judged(known, verdict, timing, now);
  }
  if (rule.type === 'stale') {
    const due = now - (fact.reading?.at ?? fact.firstSeenAt) - fact.unwatchedMs - staleAfter(rule, setup);
    const rests = known.state === 'inactive' || known.goodSince !== null;
    if (Math.abs(due) <= tieMs && rests) return { ...known, doubt: true };
    const never = rule.afterMs === null && fact.reading === null && fact.failures >= 2;
    const blind = reading === null && (due >= 0 || never || known.state === 'firing');
    return judged(known, blind ? rule.severity : 'ok', timing, now);
  }
  return reading === null ? known : judged(known, verdictOn(rule, known, setup, reading), timing, now);
}

/** The alert after the time until `now`. */
export function elapseAlert(
  rule: AnyRule,
  known: AlertFact,
  it: {
    readonly setup: AccountSetup;
    readonly fact: AccountFact;
    readonly now: number;
    readonly judgingSince: number;
  },
): AlertFact {
  const { setup, fact, now } = it;
  const timing = timingOf(rule, setup);
  let next = known;
  if (rule.type === 'stale') {
    const dueAt = (fact.reading?.at ?? fact.firstSeenAt) + fact.unwatchedMs + staleAfter(rule, setup);
    const rests = next.state === 'inactive' || next.goodSince !== null;
    if (rests && now >= dueAt) next = judged(next, rule.severity, timing, Math.max(dueAt, it.judgingSince));
  }
  if (needsReading(rule) && !timeDecides(rule, next, it)) return next;
  return elapsed(next, timing, now);
}

function verdictOn(rule: AnyRule, known: AlertFact, setup: AccountSetup, reading: Reading) {
  const firing = known.state === 'firing' ? known.severity : null;
  return verdictOnReading(rule, { reading, currency: setup.settings.currency, firing });
}

/** Whether time may decide: only if the account is read, and its last reading is recent and in its own currency. */
function timeDecides(
  rule: AnyRule,
  known: AlertFact,
  { setup, fact }: { readonly setup: AccountSetup; readonly fact: AccountFact },
): boolean {
  const { reading, outcome } = fact;
  if (reading === null || outcome !== 'ok') return false;
  const longAgoAt = reading.at + usualStaleness(setup);
  if (boundaries(known, timingOf(rule, setup)).some((at) => at >= longAgoAt)) return false;
  return verdictOn(rule, known, setup, reading) !== 'unknown';
}

/** Whether time changes the alert at about this instant. */
export function isTie(fact: AlertFact, timing: Timing, now: number): boolean {
  return boundaries(fact, timing).some((at) => Math.abs(at - now) <= tieMs);
}

function staleAfter(rule: StaleRule, setup: AccountSetup): number {
  return rule.afterMs ?? usualStaleness(setup);
}

function usualStaleness(setup: AccountSetup): number {
  return Math.max(3 * setup.gapMs(), 120_000);
}

export function timingOf(rule: AnyRule, setup: AccountSetup): Timing {
  return {
    forMs: rule.forMs,
    recoverForMs: rule.recoverForMs,
    flapWindowMs: Math.max(10 * setup.intervalMs, rule.type === 'auth-failed' ? 3_600_000 : 0),
  };
}
