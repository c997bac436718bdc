import type { AlertTiming } from '../domain/alert.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance, emptyLevel } from '../domain/reading.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import { type Severity, severities } from '../domain/severity.ts';
import { dayMs, formatDuration } from '../domain/time.ts';
import { predictRunout } from '../spending/runway.ts';
import { type Listener, phrases, say, sentences } from '../wording/phrase.ts';
import { sayBalance, sayLabel } from '../wording/quantity-wording.ts';
import { authFailed } from './auth-failed.ts';
import { below } from './below.ts';
import { budget } from './budget.ts';
import { currency } from './currency.ts';
import { drop } from './drop.ts';
import { type AccountFacts, type Evaluation, usableReading } from './evaluation.ts';
import { idle } from './idle.ts';
import type { AlertKind, RuleKind } from './kind.ts';
import { ladderSteps } from './ladder.ts';
import { lateTopUp } from './late-top-up.ts';
import { missedTopUp } from './missed-top-up.ts';
import { negative } from './negative.ts';
import { runway } from './runway.ts';
import {
  channelFailed,
  channelFailedRule,
  chatLost,
  clusterChanged,
  clusterDegraded,
  configInvalid,
  providerDown,
  ratesFailed,
  storageFailed,
} from './self-alert-kinds.ts';
import { stale } from './stale.ts';
import { topUp } from './top-up.ts';
import { slump, surge } from './unusual.ts';

/** The kinds of rules, in the order in which people read them. */
export const ruleKinds = [
  below,
  negative,
  runway,
  surge,
  slump,
  missedTopUp,
  lateTopUp,
  budget,
  drop,
  idle,
  topUp,
  currency,
  stale,
  authFailed,
] as const satisfies readonly RuleKind[];

const ownKinds: readonly AlertKind[] = [
  providerDown,
  storageFailed,
  channelFailed,
  chatLost,
  configInvalid,
  ratesFailed,
  clusterDegraded,
  clusterChanged,
];

export const selfAlertTypes: readonly string[] = ownKinds.map(({ type }) => type);

/** The rules of alerts about lowwater itself, except those that `severalSelfAlerts` matches. */
export function selfAlertRules(channels: readonly string[]): readonly string[] {
  return [...selfAlertTypes, ...channels.map(channelFailedRule)];
}

/** Matches the rules of self alerts of which there are several, each about an account or a part of the cluster. */
export const severalSelfAlerts = new RegExp(
  `^(?:${selfAlertTypes.filter((type) => type !== channelFailed.type).join('|')}):`,
);

export type AnyRule = Parameters<(typeof ruleKinds)[number]['evaluate']>[0];

const ruleKindByType = new Map<string, RuleKind>(ruleKinds.map((kind) => [kind.type, kind]));
const alertKindByType = new Map<string, AlertKind>(
  [...ruleKinds, ...ownKinds].map((kind) => [kind.type, kind]),
);

export function kindOfRuleNamed(type: string | null): RuleKind | null {
  return ruleKindByType.get(type ?? '') ?? null;
}

export function ruleKindOf(rule: Pick<Rule, 'type'>): RuleKind {
  const kind = ruleKindByType.get(rule.type);
  if (kind === undefined) throw new Error(`no module knows rules of type ${rule.type}`);
  return kind;
}

/** A kind that only a newer lowwater knows gets plain words. */
export function alertKindOf(alert: { readonly type: string }): AlertKind {
  return alertKindByType.get(alert.type) ?? unknownKind(alert.type);
}

export function sayKind(
  about: Readonly<Record<'type' | 'rule' | 'balanceLabel', string>>,
  reader: Listener,
): string {
  const { subject } = alertKindOf(about);
  if (typeof subject === 'function') return subject(about.rule, reader);
  const label = sayLabel(about.balanceLabel, reader);
  return say(subject, { label, balance: sayBalance(about.balanceLabel, reader) }, reader);
}

const says = phrases('unknownKind', {
  firing: '{type} fires',
  resolved: '{type} is over',
  recovery: 'Resolved.',
});

const told = sentences('rule', {
  heldFor: '{rule}; for {duration}',
  recoveredFor: '{rule}; recovered for {duration}',
});

export function isMendedByTopUp(alert: { readonly type: string }): boolean {
  const { emptinessRank, endsByTopUp = false } = alertKindOf(alert);
  return endsByTopUp || emptinessRank !== undefined;
}

function unknownKind(type: string): AlertKind {
  return {
    type,
    subject: () => type,
    firing: (_item, frame) => say(says.firing, { type }, frame),
    resolved: (_item, frame) => say(says.resolved, { type }, frame),
    recovery: () => says.recovery,
    figures: () => [],
    advice: () => [],
  };
}

/** `SMS balance below 50.00 (critical), 200.00 (warning); resolves 10% above; for 5m`. */
export function describeRule(rule: Rule): string {
  const own = ruleKindOf(rule).describe(rule);
  const held = rule.forMs > 0 ? told.heldFor({ rule: own, duration: formatDuration(rule.forMs) }) : own;
  return rule.recoverForMs > 0
    ? told.recoveredFor({ rule: held, duration: formatDuration(rule.recoverForMs) })
    : held;
}

/** Rules to begin with for balances that were read, as they stand in the file: one of each kind that has something to watch for. */
export function suggestRules(
  readings: readonly { readonly balance: Balance; readonly micros: Micros }[],
  about: { readonly hasLeadTime: boolean },
): object[] {
  return readings.flatMap(({ balance, micros }) =>
    ruleKinds.flatMap((kind) => {
      const own = kind.suggest?.(micros, about) ?? null;
      return own === null ? [] : [{ id: `${balance}-${kind.type}`, type: kind.type, balance, ...own }];
    }),
  );
}

/** The rule to begin with for accounts that were never read. */
export function suggestUnread(about: { readonly hasLeadTime: boolean }): object {
  return { id: runway.type, type: runway.type, ...runway.suggest?.(0, about) };
}

/** The time that the rules look back: at least the day that runways and sparklines show. */
export function maxWindow(rules: readonly Rule[]): number {
  return rules.reduce((longest, rule) => Math.max(longest, ruleKindOf(rule).lookBackMs?.(rule) ?? 0), dayMs);
}

/** The balance at which the alerts of these rules resolve; null if no rule says. */
export function clearingBalance(
  rules: readonly Rule[],
  balance: Balance,
  facts: AccountFacts,
): Micros | null {
  const levels = rules.flatMap((rule) =>
    rule.balance === balance ? (ruleKindOf(rule).clearsAt?.(rule, facts) ?? []) : [],
  );
  return levels.length === 0 ? null : Math.max(...levels);
}

/** The time over which burn is measured: a day, unless a rule on the balance names another. */
export function spendingLookback(rules: readonly Rule[], balance: Balance): number {
  for (const rule of rules) {
    const lookbackMs = rule.balance === balance ? ruleKindOf(rule).burnLookbackMs?.(rule) : null;
    if (lookbackMs != null) return lookbackMs;
  }
  return dayMs;
}

/** The levels of a balance by severity: the highest if several rules name one. */
export function balanceLevels(rules: readonly Rule[], balance: Balance): Ladder<Micros> {
  const levels: { info?: number; warning?: number; critical?: number } = {};
  for (const rule of rules) {
    const ladder = rule.balance === balance ? (ruleKindOf(rule).levels?.(rule) ?? {}) : {};
    for (const severity of severities) {
      const level = ladder[severity];
      if (level !== undefined) levels[severity] = Math.max(levels[severity] ?? level, level);
    }
  }
  return levels;
}

const flapIntervals = 10;

export function timingOf(rule: Rule, pollIntervalMs: number): AlertTiming {
  return {
    forMs: rule.forMs,
    recoverForMs: rule.recoverForMs,
    flapWindowMs: Math.max(flapIntervals * pollIntervalMs, ruleKindOf(rule).minFlapWindowMs ?? 0),
  };
}

/** A sentence about what would have kept it from firing; null when it does not fire. */
export function wouldNotFire(rule: Rule, facts: AccountFacts, evaluation: Evaluation): string | null {
  if (evaluation.kind !== 'breached' && evaluation.kind !== 'event') return null;
  return ruleKindOf(rule).wouldNotFire(rule, facts, evaluation);
}

/** The next worse verdict of a rule, and when it is predicted. */
export interface NextStep {
  readonly severity: Severity;
  readonly at: number;
}

/** The step to come: a level is reached, or the rest lasts too short. Null for other rules, at the worst severity, or without a prediction. */
export function nextStep(rule: Rule, facts: AccountFacts): NextStep | null {
  const kind = ruleKindOf(rule);
  const reading = usableReading(facts);
  const { balance } = rule;
  if (reading === null || balance === null) return null;
  const { log, spending, now } = facts;
  const reached = (floorMicros: number): number | null =>
    predictRunout({ log, spending, reading, balance, floorMicros })?.emptyAt ?? null;
  const levels = kind.levels?.(rule);
  if (levels !== undefined) {
    const step = ladderSteps(levels).findLast(({ threshold }) => threshold <= amountOf(reading, balance));
    const at = step === undefined ? null : reached(step.threshold);
    return step === undefined || at === null ? null : { severity: step.severity, at };
  }
  const floorMicros = kind.floorMicros?.(rule, emptyLevel(facts, balance));
  const emptyAt = floorMicros === undefined ? null : reached(floorMicros);
  if (emptyAt === null) return null;
  const steps = ladderSteps(rule.thresholds ?? {}).map(({ severity, threshold }) => ({
    severity,
    at: kind.reachesStep?.(rule, severity, { ...facts, emptyAt }) ?? emptyAt - threshold,
  }));
  return steps.findLast(({ at }) => at > now) ?? null;
}
