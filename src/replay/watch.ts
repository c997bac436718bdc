import type { Alert, AlertTiming } from '../domain/alert.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import type { BelowRule, Rule } from '../domain/rule.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { resolvesAt } from '../rules/below.ts';
import { balanceOf, timingOf } from '../rules/judging.ts';
import { worstFirst } from '../rules/ladder.ts';

/** One rule on one account during a replay, with its alert; null while that is inactive and without a past. */
export interface Watch {
  readonly rule: Rule;
  readonly timing: AlertTiming;
  readonly balance: Balance | null;
  alert: Alert | null;
  /** What a reading may be without changing the alert; see `quietBand`. */
  band: Band;
}

/** From `from` (included) to `to` (excluded). */
export interface Band {
  readonly from: number;
  readonly to: number;
}

const everything: Band = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
const nothing: Band = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };

export function watchRule(rule: Rule, pollIntervalMs: number): Watch {
  const timing = timingOf(rule, pollIntervalMs);
  return { rule, timing, balance: balanceOf(rule), alert: null, band: quietBand(rule, null) };
}

/** Puts an alert in the place of the one before. One that was never more than pending leaves no trace. */
export function keepAlert(watch: Watch, alert: Alert): void {
  watch.alert = alert.state === 'inactive' && alert.changedAt.length === 0 ? null : alert;
  watch.band = quietBand(watch.rule, watch.alert);
}

/**
 * True when a reading in the same currency as the one before it surely leaves the alert as it is, so that the
 * rule need not be asked: a year of five-minute readings has a hundred thousand of these and a few dozen
 * others.
 */
export function isQuiet(watch: Watch, reading: Reading, previous: Reading): boolean {
  const balance = watch.balance ?? 'sms';
  const judged = watch.rule.type === 'top-up' ? reading[balance] - previous[balance] : reading[balance];
  return judged >= watch.band.from && judged < watch.band.to;
}

/** An alert that only a verdict of another kind can change: nothing in it waits for time to pass. */
export function isSteady(alert: Alert): boolean {
  if (alert.state === 'inactive') return true;
  return (
    alert.state === 'firing' &&
    alert.recoveringSince === null &&
    alert.rising === null &&
    alert.flappingSince === null
  );
}

/**
 * The balances (of a top-up rule: the rises) at which a rule gives the verdict that its steady alert already
 * stands for. Rules that look back on a window have no such band: they are asked at every reading.
 */
function quietBand(rule: Rule, alert: Alert | null): Band {
  if (alert !== null && !isSteady(alert)) return nothing;
  const firing = alert?.state === 'firing' ? alert.severity : null;
  switch (rule.type) {
    case 'below':
      return firing === null ? above(Object.values(rule.thresholds)) : heldStep(rule, firing);
    case 'negative':
      return firing === null
        ? { from: 0, to: Number.POSITIVE_INFINITY }
        : { from: Number.NEGATIVE_INFINITY, to: Math.max(0, rule.hysteresisMicros) };
    case 'top-up':
      return { from: Number.NEGATIVE_INFINITY, to: Math.max(1, rule.atLeastMicros) };
    case 'currency':
      return everything;
    case 'stale':
    case 'auth-failed':
      return firing === null ? everything : nothing;
    case 'runway':
    case 'drop':
    case 'idle':
      return nothing;
  }
}

function above(thresholds: readonly number[]): Band {
  return { from: Math.max(Number.NEGATIVE_INFINITY, ...thresholds), to: Number.POSITIVE_INFINITY };
}

/** Where a ladder stays on the step that fires: not under a worse step, and not yet up where its own is left. */
function heldStep(rule: BelowRule, firing: Severity): Band {
  const own = rule.thresholds[firing];
  if (own === undefined) return nothing;
  const worse = worstFirst.filter((severity) => isWorse(severity, firing));
  return {
    from: above(worse.flatMap((severity) => rule.thresholds[severity] ?? [])).from,
    to: Math.max(own, resolvesAt(rule, own)),
  };
}
