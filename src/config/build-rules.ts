import type { BelowRule, Ladder, Matcher, Rule, RunwayRule } from '../domain/rule.ts';
import { isWorse, type Severity, severities } from '../domain/severity.ts';
import type { RuleInput } from './schema/rules.ts';

const hourMs = 3_600_000;

/** The rules of a valid file, in its order, without the built-in ones. */
export function buildRules(inputs: readonly RuleInput[]): Rule[] {
  return inputs.map(buildRule);
}

function buildRule(input: RuleInput): Rule {
  const base = {
    id: input.id,
    severity: input.severity ?? 'warning',
    forMs: input.for,
    recoverForMs: input.recoverFor,
    match: buildMatcher(input.match),
    builtIn: false,
  };
  switch (input.type) {
    case 'below':
      return buildBelow(base, input);
    case 'negative':
      return { ...base, type: input.type, balance: input.balance, hysteresisMicros: input.hysteresis };
    case 'runway':
      return buildRunway(base, input);
    case 'drop':
      return { ...base, type: input.type, balance: input.balance, by: input.by, windowMs: input.window };
    case 'idle':
      return { ...base, type: input.type, balance: input.balance, windowMs: input.window };
    case 'top-up':
      return { ...base, type: input.type, balance: input.balance, atLeastMicros: input.atLeast };
    case 'stale':
      return { ...base, type: input.type, afterMs: input.after ?? null };
    case 'currency':
    case 'auth-failed':
      return { ...base, type: input.type };
  }
}

type Base = Omit<Rule, 'type' | 'balance'>;
type InputOf<T extends RuleInput['type']> = Extract<RuleInput, { type: T }>;

function buildBelow(base: Base, input: InputOf<'below'>): BelowRule {
  const thresholds = buildLadder(input.thresholds, input.threshold, base.severity);
  return {
    ...base,
    type: 'below',
    balance: input.balance,
    severity: worstOf(thresholds),
    thresholds,
    hysteresis: input.hysteresis,
  };
}

/** Without `minimumHistory` an hour is asked for, or the whole `lookback` where that is shorter. */
function buildRunway(base: Base, input: InputOf<'runway'>): RunwayRule {
  const thresholds = buildLadder(input.thresholds, input.within, base.severity);
  return {
    ...base,
    type: 'runway',
    balance: input.balance,
    severity: worstOf(thresholds),
    thresholds,
    floorMicros: input.floor,
    lookbackMs: input.lookback,
    minimumHistoryMs: input.minimumHistory ?? Math.min(hourMs, input.lookback),
    minimumHistoryGiven: input.minimumHistory !== undefined,
  };
}

type Steps = { readonly [S in Severity]?: number | undefined };

function buildLadder(
  steps: Steps | undefined,
  single: number | undefined,
  severity: Severity,
): Ladder<number> {
  const given: Steps = steps ?? { [severity]: single };
  const ladder: Partial<Record<Severity, number>> = {};
  for (const step of severities) {
    const value = given[step];
    if (value !== undefined) ladder[step] = value;
  }
  return ladder;
}

/** A rule with a ladder has no severity of its own; the worst that it can reach stands for it. */
function worstOf(ladder: Ladder<number>): Severity {
  return severities
    .filter((severity) => ladder[severity] !== undefined)
    .reduce((worst, severity) => (isWorse(severity, worst) ? severity : worst), 'info');
}

interface MatcherInput {
  readonly account?: readonly string[] | undefined;
  readonly rule?: readonly string[] | undefined;
  readonly severity?: readonly Severity[] | undefined;
  readonly labels?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A matcher with the given keys only. */
export function buildMatcher(input: MatcherInput | undefined): Matcher {
  return {
    ...(input?.account === undefined ? {} : { account: input.account }),
    ...(input?.rule === undefined ? {} : { rule: input.rule }),
    ...(input?.severity === undefined ? {} : { severity: input.severity }),
    ...(input?.labels === undefined ? {} : { labels: input.labels }),
  };
}
