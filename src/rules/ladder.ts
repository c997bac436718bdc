import * as z from 'zod';
import { currencyCode, parseMicros } from '../domain/money.ts';
import type { Quantity } from '../domain/quantity.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import { type Severity, severities, severityRank } from '../domain/severity.ts';
import { parseDuration } from '../domain/time.ts';
import { saying, shape } from '../schema/shapes.ts';
import { sentences } from '../wording/phrase.ts';
import { type Evaluation, verdict } from './evaluation.ts';
import type { KeyProblem, KeyReader } from './kind.ts';

const worstFirst: readonly Severity[] = severities.toReversed();

/**
 * The worst step of a ladder that a value breaches; null when it breaches none. A step is breached below its threshold.
 * A step no worse than the severity that fires now is left only at `resolvesAt` its threshold: each step has its
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

/** The verdict of a ladder. Its threshold is that of the breached step, else that of the mildest. */
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
  steps: '{worse}, {milder}',
  inCurrency: 'in {currency} {steps}',
  ladders: '{steps}; {others}',
  below: '{severity} below',
  within: '{severity} within',
  resolvesAt: '{severity} resolves at',
});

/** Problems that people may see in a form. */
const wrong = sentences('ladderProblem', {
  none: 'needs either {name}, or thresholds by severity',
  both: 'either {name} or thresholds, not both',
  goesWith: 'goes with {name}; thresholds name the severities themselves',
  lower: 'the threshold for {severity} must be lower than that for {milder}',
  higher: 'the threshold for {severity} must be higher than that for {milder}',
});

/** `50.00 (critical), 200.00 (warning)`. */
export function describeSteps<T>(ladder: Ladder<T>, format: (threshold: T) => string): string {
  return ladderSteps(ladder)
    .map(({ severity, threshold }) => told.step({ threshold: format(threshold), severity }))
    .reduce((worse, milder) => (worse === '' ? milder : told.steps({ worse, milder })), '');
}

/** `describeSteps`, then the steps that replace them in each currency. */
export function describeLadders(
  { thresholds, thresholdsByCurrency = {} }: Pick<Rule, 'thresholds' | 'thresholdsByCurrency'>,
  format: (threshold: number) => string,
): string {
  const byCurrency = Object.entries(thresholdsByCurrency).map(([currency, steps]) =>
    told.inCurrency({ currency, steps: describeSteps(steps, format) }),
  );
  const all = [describeSteps(thresholds ?? {}, format), ...byCurrency].filter((part) => part !== '');
  return all.reduce((steps, others) => told.ladders({ steps, others }));
}

/** Thresholds by severity, at least one. `step` is the schema of each. */
export function steps<T extends z.ZodType>(step: (word: string) => T) {
  const given = shape({
    info: step('info').exactOptional(),
    warning: step('warning').exactOptional(),
    critical: step('critical').exactOptional(),
  });
  const error = 'must name a threshold for info, warning or critical';
  return saying(given, { saysNothing: (value) => Object.keys(value).length === 0, error }).meta({
    minProperties: 1,
  });
}

/** The key `thresholds`. */
export function stepsKey<T extends z.ZodType>(description: string, step: (word: string) => T) {
  return steps(step).describe(description).optional();
}

/** The key `thresholdsByCurrency`. */
export function currencyStepsKey<T extends z.ZodType>(step: (word: string) => T) {
  const error = 'must be an object with thresholds for one currency or more';
  return z
    .record(z.string(), steps(step), { error })
    .refine((ladders) => Object.keys(ladders).length > 0, { error })
    .describe(
      'Thresholds by severity for accounts in each currency, in place of `thresholds`, such as {"CNY": {"warning": 1500}, "EUR": {"warning": 200}}. An account in another currency goes by `thresholds`; without these the rule does not watch it.',
    )
    .meta({ minProperties: 1 })
    .optional();
}

interface WrittenLadders {
  readonly thresholds?: Ladder<number> | undefined;
  readonly thresholdsByCurrency?: Readonly<Record<string, Ladder<number>>> | undefined;
}

/** The ladder as written; one threshold is a ladder of one step. `severity`: the worst that it can reach. */
export function buildLadder(
  { thresholds: written, thresholdsByCurrency: byCurrency }: WrittenLadders,
  single: { readonly threshold: number | undefined; readonly severity: Severity },
): Pick<Rule, 'severity' | 'thresholdsByCurrency'> & { readonly thresholds: Ladder<number> } {
  const only = single.threshold === undefined ? {} : { [single.severity]: single.threshold };
  const thresholds = written ?? only;
  const severity = worstOf(thresholds);
  if (byCurrency === undefined) return { thresholds, severity };
  const ladders = Object.entries(byCurrency).map(([code, steps]) => [currencyCode(code), steps]);
  return { thresholds, severity, thresholdsByCurrency: Object.fromEntries(ladders) };
}

export function worstOf(ladder: Ladder<unknown>): Severity {
  return ladderSteps(ladder)[0]?.severity ?? 'info';
}

interface LadderForm {
  /** The key of a ladder of one step. */
  readonly single: string;
  /** Null for a value that is no threshold. */
  readonly read: (value: unknown) => number | null;
  /** Which direction is worse. */
  readonly worse: 'lower' | 'higher';
}

const byCurrency = 'thresholdsByCurrency';

/** The problems of a ladder, which is either one threshold with a severity, or several by severity, in order. */
export function checkLadder(keys: KeyReader, form: LadderForm): KeyProblem[] {
  const { single: name } = form;
  const has = (key: string): boolean => keys.valueAt([key]) !== undefined;
  const currencies = Object.keys(Object(keys.valueAt([byCurrency])));
  const problems = currencies.flatMap((currency, index) => [
    ...checkOnce(currency, currencies.slice(0, index)),
    ...checkOrder(keys, form, [byCurrency, currency]),
  ]);
  if (!has('thresholds')) {
    if (has(name)) return problems;
    if (!has(byCurrency)) return [{ path: [], message: wrong.none({ name }) }];
  }
  problems.push(...checkOrder(keys, form));
  if (has(name)) problems.unshift({ path: [name], message: wrong.both({ name }) });
  else if (has('severity'))
    problems.unshift({
      path: ['severity'],
      message: wrong.goesWith({ name }),
    });
  return problems;
}

/** The problem of a second ladder for a currency, however the code is written: one of the two would never apply. */
function checkOnce(currency: string, before: readonly string[]): KeyProblem[] {
  const code = currencyCode(currency);
  if (!before.some((other) => currencyCode(other) === code)) return [];
  return [{ path: [byCurrency, currency], message: `is ${code}, which stands here too` }];
}

/** In the wrong order, the milder step would never apply. */
export function checkOrder(
  keys: KeyReader,
  { read, worse }: Pick<LadderForm, 'read' | 'worse'>,
  place: readonly string[] = ['thresholds'],
): KeyProblem[] {
  const steps = severities.flatMap((severity) => {
    const path = [...place, severity];
    const value = keys.isBroken(path) ? null : read(keys.valueAt(path));
    return value === null ? [] : [{ severity, value, path }];
  });
  return steps.flatMap(({ severity, value, path }, index) => {
    const milder = steps[index - 1];
    if (milder === undefined || (worse === 'lower' ? value < milder.value : value > milder.value)) return [];
    return [{ path, message: wrong[worse]({ severity, milder: milder.severity }) }];
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
