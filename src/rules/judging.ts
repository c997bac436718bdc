import type { AlertTiming } from '../domain/alert.ts';
import type { Balance } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';

/** Flapping is counted over this many poll intervals. */
const flapIntervals = 10;

/** How long things must last for the alert of a rule, on an account with this usual time between polls. */
export function timingOf(rule: Rule, pollIntervalMs: number): AlertTiming {
  return {
    forMs: rule.forMs,
    recoverForMs: rule.recoverForMs,
    flapWindowMs: flapIntervals * pollIntervalMs,
  };
}

/**
 * True for rules that only a valid reading can move: while the account cannot be read, time decides nothing
 * about them.
 */
export function needsReading(rule: Rule): boolean {
  return rule.type !== 'stale' && rule.type !== 'auth-failed';
}

/** Which balance a rule is about; null for rules about the account as a whole. */
export function balanceOf(rule: Rule): Balance | null {
  return 'balance' in rule ? rule.balance : null;
}
