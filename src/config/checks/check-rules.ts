import { parseDuration } from '../../domain/duration.ts';
import { parseMicros } from '../../domain/money.ts';
import { severities } from '../../domain/severity.ts';
import type { ConfigProblem, Path } from '../config-problem.ts';
import { type Draft, itemsAt, keysAt, problemAt, textAt, valueAt } from '../draft.ts';

/** What holds between the keys of one rule. */
export function checkRules(draft: Draft): ConfigProblem[] {
  return itemsAt(draft, ['rules']).flatMap((rule) => {
    switch (textAt(draft, [...rule, 'type'])) {
      case 'below':
        return checkLadder(draft, rule, { single: 'threshold', read: readAmount });
      case 'runway':
        return [
          ...checkLadder(draft, rule, { single: 'within', read: readDurationValue }),
          ...checkHistory(draft, rule),
        ];
      default:
        return [];
    }
  });
}

interface LadderKeys {
  /** The key that stands for a ladder of one step. */
  readonly single: string;
  readonly read: (value: unknown) => number | null;
}

function checkLadder(draft: Draft, rule: Path, { single, read }: LadderKeys): ConfigProblem[] {
  const has = (key: string): boolean => valueAt(draft, [...rule, key]) !== undefined;
  const thresholds = [...rule, 'thresholds'];
  if (!has('thresholds')) {
    return has(single) ? [] : [problemAt(draft, rule, `needs either ${single}, or thresholds by severity`)];
  }
  const problems: ConfigProblem[] = [];
  if (has(single)) {
    problems.push(problemAt(draft, [...rule, single], `either ${single} or thresholds, not both`));
  } else if (has('severity')) {
    problems.push(
      problemAt(
        draft,
        [...rule, 'severity'],
        `goes with ${single}; thresholds name the severities themselves`,
      ),
    );
  }
  if (isEmptyObject(draft, thresholds)) {
    problems.push(problemAt(draft, thresholds, 'must name a threshold for info, warning or critical'));
  }
  return [...problems, ...checkOrder(draft, thresholds, read)];
}

/** The worse the severity, the lower its threshold: of two in the wrong order the milder would never be seen. */
function checkOrder(draft: Draft, thresholds: Path, read: LadderKeys['read']): ConfigProblem[] {
  const steps = severities.flatMap((severity) => {
    const path = [...thresholds, severity];
    const value = draft.isBroken(path) ? null : read(valueAt(draft, path));
    return value === null ? [] : [{ severity, value, path }];
  });
  return steps.flatMap((step, index) => {
    const milder = steps[index - 1];
    if (milder === undefined || step.value < milder.value) return [];
    return [
      problemAt(
        draft,
        step.path,
        `the threshold for ${step.severity} must be lower than that for ${milder.severity}`,
      ),
    ];
  });
}

function checkHistory(draft: Draft, rule: Path): ConfigProblem[] {
  const lookback = readDurationValue(valueAt(draft, [...rule, 'lookback']) ?? '24h');
  const path = [...rule, 'minimumHistory'];
  const minimum = readDurationValue(valueAt(draft, path));
  if (lookback === null || minimum === null || minimum <= lookback) return [];
  return [problemAt(draft, path, 'must not be longer than lookback: no more history than that is looked at')];
}

function isEmptyObject(draft: Draft, path: Path): boolean {
  const value = valueAt(draft, path);
  return typeof value === 'object' && value !== null && keysAt(draft, path).length === 0;
}

function readAmount(value: unknown): number | null {
  return typeof value === 'number' || typeof value === 'string' ? parseMicros(String(value)) : null;
}

function readDurationValue(value: unknown): number | null {
  return typeof value === 'string' ? parseDuration(value) : null;
}
