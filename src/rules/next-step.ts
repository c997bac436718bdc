import { amountOf } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { predictRunout } from '../spending/predict.ts';
import type { AccountFacts } from './evaluation.ts';
import { ladderSteps } from './ladder.ts';
import { ruleKindOf } from './registry.ts';
import { usableReading } from './usable-reading.ts';

/** The next worse verdict of a rule, and when it is predicted. */
export interface NextStep {
  readonly severity: Severity;
  readonly at: number;
}

/**
 * When a rule that warns of an end will fire or get worse: a level is reached, or the rest lasts no longer
 * than its time. Null for other rules, at the worst severity, and without a prediction.
 */
export function nextStep(rule: Rule, facts: AccountFacts): NextStep | null {
  const kind = ruleKindOf(rule);
  const reading = usableReading(facts);
  const { balance } = rule;
  if (reading === null || balance === null) return null;
  const reached = (floorMicros: number): number | null =>
    predictRunout({ log: facts.log, spending: facts.spending, reading, balance, floorMicros })?.emptyAt ??
    null;
  const levels = kind.levels?.(rule);
  if (levels !== undefined) {
    const step = ladderSteps(levels).findLast(({ threshold }) => threshold <= amountOf(reading, balance));
    const at = step === undefined ? null : reached(step.threshold);
    return step === undefined || at === null ? null : { severity: step.severity, at };
  }
  const floorMicros = kind.floorMicros?.(rule, facts.floorMicros);
  const emptyAt = floorMicros === undefined ? null : reached(floorMicros);
  if (emptyAt === null) return null;
  const step = ladderSteps(rule.thresholds ?? {}).findLast(
    ({ threshold }) => emptyAt - threshold > facts.now,
  );
  return step === undefined ? null : { severity: step.severity, at: emptyAt - step.threshold };
}
