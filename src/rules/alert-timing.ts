import type { AlertTiming } from '../domain/alert.ts';
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
