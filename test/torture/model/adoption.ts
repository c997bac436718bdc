import type { MonitorState } from '../../../src/engine/state.ts';
import { Violation } from '../story.ts';
import { type AlertFact, factOf, resting } from './alert-fact.ts';
import type { AccountFact, AccountSetup } from './judge-alerts.ts';
import { isSoft } from './rules.ts';

/** What can be known of the end of the process before this one. Instants are of the daemon's clock. */
export interface KnownEnd {
  /** False when the clock moved or the database is another one: the time in between is unknown then. */
  readonly believed: boolean;
  readonly now: number;
  readonly endedAt: number | null;
  readonly stoppedAt: number | null;
  /** When the process before began, or saw its clock jump: the time until then is already counted. */
  readonly countedFrom: number | null;
  /** The last poll or first sight of an account that was stored, also of accounts that are gone now. */
  readonly lastSign: number | null;
  /** Alerts whose records could not be read. */
  readonly lost: ReadonlySet<string>;
}

/** Takes over an account as it was committed. Its clocks may have moved only by the time in which nobody watched. */
export function adoptAccount(
  state: MonitorState,
  it: {
    readonly id: string;
    readonly setup: AccountSetup;
    readonly fact: AccountFact;
    readonly end: KnownEnd;
    readonly longestInterval: number;
  },
): AccountFact {
  const { id, setup, fact, end } = it;
  const own = state.accounts.get(id);
  if (own === undefined) return fact;
  // The last sign of life is all that is known of the end of the last run; without one, its beginning.
  const lastSign = end.lastSign ?? end.endedAt ?? end.now;
  // A poll dated in the future was made by a clock that was off: it is no sign of life.
  const lived = Math.max(lastSign > end.now ? 0 : lastSign, end.countedFrom ?? lastSign);
  const downMs = Math.max(0, end.now - lived);
  // A process that was told to stop stored the time. One that died may have lived for an interval longer, or shown a sign of life later.
  const knownEnd = Math.max(lived, end.stoppedAt ?? lived, end.endedAt ?? lived);
  const leastMs = end.now - knownEnd - it.longestInterval;
  const bounds = { low: Math.max(0, leastMs) - 5000, high: downMs + 5000, checked: !end.believed };
  const alerts = new Map<string, AlertFact>();
  for (const rule of setup.rules) {
    const alert = state.alerts.get(id, rule.id);
    const mine = fact.alerts.get(rule.id) ?? resting;
    const next = factOf(alert);
    const isLost = end.lost.has(`${id}/${rule.id}`);
    if (!isSoft(rule) && !mine.doubt && !next.doubt && bounds.checked && !isLost)
      checkAdoption(`${id}/${rule.id}`, mine, next, bounds);
    if (alert !== undefined) alerts.set(rule.id, next);
  }
  const moved = own.poll.unwatchedMs - fact.unwatchedMs;
  // An account that this start saw for the first time missed nothing before.
  const isNew = own.poll.reading === null && own.poll.firstSeenAt === end.now;
  if (bounds.checked && (moved < (isNew ? 0 : bounds.low) || moved > bounds.high)) {
    throw new Violation(
      'downtime counts as nothing',
      `${id} was unwatched for ${downMs} ms, counted ${moved}`,
    );
  }
  return { ...fact, firstSeenAt: own.poll.firstSeenAt, unwatchedMs: own.poll.unwatchedMs, alerts };
}

function checkAdoption(
  key: string,
  mine: AlertFact,
  next: AlertFact,
  bounds: { readonly low: number; readonly high: number },
): void {
  const same = mine.state === next.state && (mine.state === 'inactive' || mine.severity === next.severity);
  if (!same) {
    throw new Violation(
      'a restart changes no state',
      `${key} was ${mine.state}/${mine.severity} before and is ${next.state}/${next.severity} after`,
    );
  }
  const pairs = [
    [mine.since, next.since],
    [mine.goodSince, next.goodSince],
    [mine.rising?.since ?? null, next.rising?.since ?? null],
  ] as const;
  for (const [before, after] of pairs) {
    if (mine.state === 'inactive' || (before === null && after === null)) continue;
    if (before === null || after === null) {
      throw new Violation(
        'a restart loses no clock',
        `${key}: ${JSON.stringify(mine)} became ${JSON.stringify(next)}`,
      );
    }
    const moved = after - before;
    if (moved < bounds.low || moved > bounds.high) {
      throw new Violation(
        'downtime counts as nothing',
        `${key}: a clock moved by ${moved} ms, allowed are ${bounds.low} to ${bounds.high}: ${JSON.stringify(mine)} became ${JSON.stringify(next)}`,
      );
    }
  }
}
