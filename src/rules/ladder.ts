import type { Quantity } from '../domain/quantity.ts';
import type { Ladder } from '../domain/rule.ts';
import { type Severity, severities, severityRank } from '../domain/severity.ts';
import type { Evaluation } from './evaluation.ts';
import { breached, ok } from './verdict.ts';

export const worstFirst: readonly Severity[] = severities.toReversed();

/**
 * The worst step of a ladder that a value breaches; null when it breaches none. A step is breached below its threshold.
 * A step at or under the severity that fires now is left only at `resolvesAt` its threshold: each step has its
 * own hysteresis, so a value that swings around one of them moves the severity once.
 */
export function breachedStep(query: {
  readonly ladder: Ladder<number>;
  readonly value: number;
  readonly firing: Severity | null;
  readonly resolvesAt: (threshold: number) => number;
}): Severity | null {
  const { ladder, value, firing, resolvesAt } = query;
  for (const severity of worstFirst) {
    const threshold = ladder[severity];
    if (threshold === undefined) continue;
    if (value < threshold) return severity;
    const held = firing !== null && severityRank(firing) >= severityRank(severity);
    if (held && value < resolvesAt(threshold)) return severity;
  }
  return null;
}

export function reachedStep(ladder: Ladder<number>, value: number): Severity | null {
  return worstFirst.find((severity) => value >= (ladder[severity] ?? Number.POSITIVE_INFINITY)) ?? null;
}

/** The threshold is that of the breached step, else the mildest. */
export function stepVerdict(
  ladder: Ladder<number>,
  severity: Severity | null,
  { value, limit }: { readonly value: Quantity; readonly limit: (threshold: number) => Quantity },
): Evaluation {
  const threshold = severity === null ? firstThreshold(ladder) : (ladder[severity] ?? null);
  const numbers = { value, threshold: threshold === null ? null : limit(threshold) };
  return severity === null ? ok(numbers) : breached(severity, numbers);
}

/** The mildest step; null for an empty ladder. */
export function firstThreshold(ladder: Ladder<number>): number | null {
  return ladder.info ?? ladder.warning ?? ladder.critical ?? null;
}

/** Worst first. */
export function ladderSteps(
  ladder: Ladder<number>,
): { readonly severity: Severity; readonly threshold: number }[] {
  return worstFirst.flatMap((severity) => {
    const threshold = ladder[severity];
    return threshold === undefined ? [] : [{ severity, threshold }];
  });
}

/** `50.00 (critical), 200.00 (warning)`. */
export function describeLadder(ladder: Ladder<number>, format: (threshold: number) => string): string {
  return ladderSteps(ladder)
    .map(({ severity, threshold }) => `${format(threshold)} (${severity})`)
    .join(', ');
}
