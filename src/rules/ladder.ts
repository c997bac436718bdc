import type * as z from 'zod';
import { parseDuration } from '../domain/duration.ts';
import { parseMicros } from '../domain/money.ts';
import type { Quantity } from '../domain/quantity.ts';
import type { Ladder } from '../domain/rule.ts';
import { type Severity, severities, severityRank } from '../domain/severity.ts';
import { shape } from '../schema/shapes.ts';
import { sentences } from '../wording/phrase.ts';
import { type Evaluation, verdict } from './evaluation.ts';
import type { KeyProblem, KeyReader } from './kind.ts';

const worstFirst: readonly Severity[] = severities.toReversed();

/**
 * The worst step of a ladder that a value breaches; null when it breaches none. A step is breached below its threshold.
 * A step at or under the severity that fires now is left only at `resolvesAt` its threshold: each step has its
 * own hysteresis, so a value that swings around one of them moves the severity once.
 */
export function breachedStep(
  ladder: Ladder<number>,
  { value, firing }: { readonly value: number; readonly firing: Severity | null },
  resolvesAt: (threshold: number) => number,
): Severity | null {
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
  return verdict(severity, value, threshold === null ? null : limit(threshold));
}

/** The mildest step; null for an empty ladder. */
export function firstThreshold(ladder: Ladder<number>): number | null {
  return ladder.info ?? ladder.warning ?? ladder.critical ?? null;
}

/** Worst first. */
export function ladderSteps<T>(ladder: Ladder<T>): { readonly severity: Severity; readonly threshold: T }[] {
  return worstFirst.flatMap((severity) => {
    const threshold = ladder[severity];
    return threshold === undefined ? [] : [{ severity, threshold }];
  });
}

export function mapSteps<T, U>(ladder: Ladder<T>, change: (threshold: T, step: Severity) => U): Ladder<U> {
  return Object.fromEntries(
    severities.flatMap((step) => {
      const threshold = ladder[step];
      return threshold === undefined ? [] : [[step, change(threshold, step)]];
    }),
  );
}

export const told = sentences('ladder', {
  step: '{threshold} ({severity})',
  steps: '{worst}, {milder}',
  below: '{severity} below',
  within: '{severity} within',
  resolvesAt: '{severity} resolves at',
});

/** `50.00 (critical), 200.00 (warning)`. */
export function describeSteps<T>(ladder: Ladder<T>, format: (threshold: T) => string): string {
  return ladderSteps(ladder)
    .map(({ severity, threshold }) => told.step({ threshold: format(threshold), severity }))
    .reduce((worst, milder) => told.steps({ worst, milder }));
}

/** The key `thresholds`. */
export function stepsKey<T extends z.ZodType>(description: string, step: (word: string) => T) {
  return shape({
    info: step('info').optional(),
    warning: step('warning').optional(),
    critical: step('critical').optional(),
  })
    .meta({ description, minProperties: 1 })
    .optional();
}

type Steps = { readonly [S in Severity]?: number | undefined };

/** One threshold is a ladder of one step. `severity`: the worst that it can reach. */
export function buildLadder(
  steps: Steps | undefined,
  single: { readonly threshold: number | undefined; readonly severity: Severity },
): { readonly thresholds: Ladder<number>; readonly severity: Severity } {
  const given: Ladder<number | undefined> = steps ?? { [single.severity]: single.threshold };
  const thresholds = mapSteps(given, Number);
  return { thresholds, severity: ladderSteps(thresholds)[0]?.severity ?? 'info' };
}

interface LadderForm {
  /** The key of a ladder of one step. */
  readonly single: string;
  /** Null for what is no threshold. */
  readonly read: (value: unknown) => number | null;
  /** Which direction is worse. */
  readonly worse: 'lower' | 'higher';
}

/** Either one threshold with a severity, or several by severity, in order. */
export function checkLadder(keys: KeyReader, form: LadderForm): KeyProblem[] {
  const { single } = form;
  const has = (key: string): boolean => keys.valueAt([key]) !== undefined;
  if (!has('thresholds'))
    return has(single) ? [] : [{ path: [], message: `needs either ${single}, or thresholds by severity` }];
  const problems = checkOrder(keys, form);
  const steps = keys.valueAt(['thresholds']);
  if (typeof steps === 'object' && steps !== null && Object.keys(steps).length === 0)
    problems.unshift({
      path: ['thresholds'],
      message: 'must name a threshold for info, warning or critical',
    });
  if (has(single)) problems.unshift({ path: [single], message: `either ${single} or thresholds, not both` });
  else if (has('severity'))
    problems.unshift({
      path: ['severity'],
      message: `goes with ${single}; thresholds name the severities themselves`,
    });
  return problems;
}

/** In the wrong order the milder would never apply. */
export function checkOrder(keys: KeyReader, { read, worse }: LadderForm): KeyProblem[] {
  const steps = severities.flatMap((severity) => {
    const path = ['thresholds', severity];
    const value = keys.isBroken(path) ? null : read(keys.valueAt(path));
    return value === null ? [] : [{ severity, value, path }];
  });
  return steps.flatMap(({ severity, value, path }, index) => {
    const milder = steps[index - 1];
    if (milder === undefined || (worse === 'lower' ? value < milder.value : value > milder.value)) return [];
    const message = `the threshold for ${severity} must be ${worse} than that for ${milder.severity}`;
    return [{ path, message }];
  });
}

/** Null for anything else. */
export function readAmount(value: unknown): number | null {
  return typeof value === 'number' || typeof value === 'string' ? parseMicros(String(value)) : null;
}

/** Null for anything else. */
export function readDuration(value: unknown): number | null {
  return typeof value === 'string' ? parseDuration(value) : null;
}
