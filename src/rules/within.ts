import { keyOf } from '../domain/json.ts';
import type { Reading } from '../domain/reading.ts';
import type { Ladder } from '../domain/rule.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { type Severity, severities } from '../domain/severity.ts';
import { dayMs, formatDuration, parseDuration, secondMs } from '../domain/time.ts';
import { durationPattern, limitDuration, textLeaf } from '../schema/texts.ts';
import { passLeadTime } from '../spending/local-week.ts';
import { listWords } from '../wording/lists.ts';
import type { AccountFacts } from './evaluation.ts';
import type { KeyProblem, KeyReader } from './kind.ts';
import * as ladder from './ladder.ts';
import type { RunwayRule } from './runway-estimate.ts';

/** The time that a balance is to last: a duration, or a duration longer than a payment takes. */
interface Within {
  readonly ms: number;
  readonly afterLeadTime: boolean;
}

type RunwaySteps = Pick<RunwayRule, 'thresholds' | 'afterLeadTime'>;

const form = /^leadTime(?: *\+ *(\S+))?$/;

/** Null for a value that is neither a duration nor `leadTime` with or without one. */
function readWithin(written: unknown): Within | null {
  if (typeof written !== 'string') return null;
  const match = form.exec(written);
  const ms = match === null || match[1] !== undefined ? parseDuration(match?.[1] ?? written) : 0;
  return ms === null ? null : { ms, afterLeadTime: match !== null };
}

export function withinKey(description: string) {
  return textLeaf({
    description: `${description} "leadTime + 1d" is a day more than a payment takes in the account's working days.`,
    allowed: 'must be a duration such as "3d", or "leadTime + 1d"',
    pattern: `^leadTime( *\\+.+)?$|${durationPattern}`,
    examples: ['3d', 'leadTime + 1d'],
    read(text) {
      const within = readWithin(text);
      if (within === null) return null;
      const read = limitDuration(within.ms, { minMs: within.afterLeadTime ? 0 : secondMs });
      return 'wrong' in read ? read : { value: within };
    },
  });
}

interface Written {
  readonly within?: Within | undefined;
  readonly thresholds?: { readonly [S in Severity]?: Within | undefined } | undefined;
}

export function buildSteps(written: Written, severity: Severity) {
  const given = written.thresholds ?? { [severity]: written.within };
  const all = severities.flatMap((step) => {
    const within = given[step];
    return within === undefined ? [] : [{ step, ...within }];
  });
  const thresholds: Ladder<number> = Object.fromEntries(all.map(({ step, ms }) => [step, ms]));
  const afterLeadTime = all.flatMap((each) => (each.afterLeadTime ? [each.step] : []));
  return { thresholds, afterLeadTime, severity: ladder.worstOf(thresholds) };
}

/** Compares steps only with those of their sort, because a lead time differs by account. */
export function checkSteps(reader: KeyReader): KeyProblem[] {
  const read = (afterLeadTime: boolean) => (written: unknown) => {
    const within = readWithin(written);
    return within?.afterLeadTime === afterLeadTime ? within.ms : null;
  };
  return [
    ...ladder.checkLadder(reader, { single: 'within', read: read(false), worse: 'lower' }),
    ...ladder.checkOrder(reader, { read: read(true), worse: 'lower' }),
  ];
}

/** The steps as they are at a reading. Without a lead time a payment counts as arriving at once. */
export function stepsAt(
  { thresholds, afterLeadTime }: RunwaySteps,
  { spending, leadTimeMs }: Pick<AccountFacts, 'spending' | 'leadTimeMs'>,
  { at }: Reading,
): Ladder<number> {
  if (afterLeadTime.length === 0 || leadTimeMs === null) return thresholds;
  const paymentMs = passLeadTime(spending.week, at, leadTimeMs) - at;
  return ladder.mapSteps(thresholds, (ms, step) => (afterLeadTime.includes(step) ? ms + paymentMs : ms));
}

/** When a balance that is empty at an instant reaches a step. */
export function reachesStep(
  { thresholds, afterLeadTime }: RunwaySteps,
  step: Severity,
  facts: Pick<AccountFacts, 'spending' | 'leadTimeMs'> & { readonly emptyAt: number },
): number {
  const { emptyAt, spending, leadTimeMs } = facts;
  const arrivesAt = emptyAt - (thresholds[step] ?? 0);
  return afterLeadTime.includes(step) && leadTimeMs !== null
    ? passLeadTime(spending.week, arrivesAt, -leadTimeMs)
    : arrivesAt;
}

/** `leadTime + 1d (critical), 7d (warning)`. */
export function describeWithin({ thresholds, afterLeadTime }: RunwaySteps): string {
  const describe = (ms: number, step: Severity): string => {
    if (!afterLeadTime.includes(step)) return formatDuration(ms);
    return ms === 0 ? 'leadTime' : `leadTime + ${formatDuration(ms)}`;
  };
  return ladder.describeSteps(ladder.mapSteps(thresholds, describe), String);
}

/** A median is as likely too late as too early: the last warning needs a margin besides the time of the payment. */
const marginMs = dayMs;
const maxNames = 5;

/** Warnings of a ladder whose last step comes too late to pay or before a milder one, and of a lead time that accounts do not have. */
export function warnOfSteps(
  { thresholds, afterLeadTime, written }: RunwaySteps & Pick<RunwayRule, 'written'>,
  accounts: readonly AccountSettings[],
): KeyProblem[] {
  const steps = ladder.ladderSteps(thresholds);
  const [last] = steps;
  if (last === undefined) return [];
  const { severity, threshold } = last;
  const isAfter = afterLeadTime.includes(severity);
  const problem = (message: string, about: readonly AccountSettings[], step = severity): KeyProblem[] => {
    const ids = about.slice(0, maxNames).map(({ id }) => id);
    const names = `${listWords(ids, 'and')}${about.length > maxNames ? ` and ${about.length - maxNames} more` : ''}`;
    const path = keyOf(written, 'within') === undefined ? ['thresholds', step] : ['within'];
    return about.length === 0 ? [] : [{ path, message: `${message} ${names}` }];
  };
  const late = accounts.filter(({ leadTimeMs }) =>
    isAfter ? threshold < marginMs : leadTimeMs !== null && threshold <= leadTimeMs + marginMs,
  );
  const after = afterLeadTime.at(-1);
  const without = accounts.filter(({ leadTimeMs }) => after !== undefined && leadTimeMs === null);
  const lengthIn = (step: typeof last, leadTimeMs: number): number =>
    step.threshold + (afterLeadTime.includes(step.severity) ? leadTimeMs : 0);
  const overtaken = steps.slice(1).flatMap((step, place) => {
    const worse = steps[place] ?? last;
    const about = accounts.filter(
      ({ leadTimeMs }) => leadTimeMs !== null && lengthIn(step, leadTimeMs) <= lengthIn(worse, leadTimeMs),
    );
    return problem(`never comes before ${worse.severity}, by the "leadTime" of`, about, step.severity);
  });
  return [
    ...overtaken,
    ...problem('warns too late to pay about half of the time; "leadTime + 1d" is in time for', late),
    ...problem('counts no time for the payment where no "leadTime" is set, as for', without, after),
  ];
}
