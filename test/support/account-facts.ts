import type { Reading } from '../../src/domain/reading.ts';
import type { Rule } from '../../src/domain/rule.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import type { BelowRule } from '../../src/rules/below.ts';
import type { DropRule } from '../../src/rules/drop.ts';
import type { AccountFacts, Evaluation } from '../../src/rules/evaluation.ts';
import type { IdleRule } from '../../src/rules/idle.ts';
import type { NegativeRule } from '../../src/rules/negative.ts';
import type { RunwayRule } from '../../src/rules/runway-estimate.ts';
import type { StaleRule } from '../../src/rules/stale.ts';
import type { TopUpRule } from '../../src/rules/top-up.ts';
import { ReadingLog } from '../../src/spending/reading-log.ts';
import { spendingIn } from './spending.ts';

/** Fri 20 Nov 2026, 12:00 UTC: the instant of the first reading unless a test says otherwise. */
export const factsNoon = Date.UTC(2026, 10, 20, 12);

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Units to millionths. */
export function units(amount: number): number {
  return Math.round(amount * 1_000_000);
}

/** A reading so many minutes after noon. */
export function readingAt(minutes: number, sms: number, over: Partial<Reading> = {}): Reading {
  return {
    at: factsNoon + minutes * minuteMs,
    balances: { sms: units(sms), voip: 0 },
    currency: 'CNY',
    ...over,
  };
}

/** What is known of an account after these readings. */
export function factsAfter(
  readings: readonly Reading[],
  over: Partial<AccountFacts> & { readonly windowMs?: number } = {},
): AccountFacts {
  const { windowMs = dayMs, pollIntervalMs = 5 * minuteMs, ...rest } = over;
  const log = new ReadingLog({ windowMs, pollIntervalMs });
  const spending = spendingIn();
  for (const reading of readings) {
    log.append(reading);
    spending.read(reading);
  }
  const reading = readings.at(-1) ?? null;
  const now = reading?.at ?? factsNoon;
  return {
    now,
    rules: [],
    balances: accountServiceBalances,
    currency: 'CNY',
    pollIntervalMs,
    pollGapMs: pollIntervalMs,
    reading,
    previous: readings.at(-2) ?? null,
    log,
    spending,
    expected: [],
    announced: [],
    consecutiveFailures: 0,
    floorMicros: 0,
    leadTimeMs: null,
    autoRecharge: null,
    outcome: reading === null ? null : 'ok',
    readSince: now,
    unwatchedMs: 0,
    ...rest,
  };
}

/** Readings at a steady pace: minute 0, `every`, … up to and with `until`. */
export function steady(series: {
  readonly from: number;
  readonly perHour: number;
  readonly until: number;
  readonly every?: number;
}): Reading[] {
  const { from, perHour, until, every = 5 } = series;
  return Array.from({ length: Math.floor(until / every) + 1 }, (_, index) =>
    readingAt(index * every, from - (perHour * index * every) / 60),
  );
}

/** "ok", "unknown", "critical", or "event info": a verdict as tables write it. */
export function verdict(evaluation: Evaluation): string {
  if (evaluation.kind === 'breached') return evaluation.severity;
  return evaluation.kind === 'event' ? `event ${evaluation.severity}` : evaluation.kind;
}

const base = {
  id: 'rule',
  severity: 'warning',
  forMs: 0,
  recoverForMs: 0,
  match: {},
  builtIn: false,
  balance: null,
} as const;

/** What every rule about money has, as the file gives it where nothing is said. */
export const moneyBase = { ...base, balance: 'sms' } as const;

export function belowRule(over: Partial<BelowRule> = {}): BelowRule {
  const thresholds = { info: units(500), warning: units(200), critical: units(50) };
  return { ...moneyBase, type: 'below', thresholds, hysteresis: { kind: 'share', share: 0.1 }, ...over };
}

/** `sms-low` on the SMS balance, resolved at the threshold itself. */
export function smsLow(thresholds: BelowRule['thresholds']): BelowRule {
  return belowRule({ id: 'sms-low', thresholds, hysteresis: { kind: 'amount', micros: 0 } });
}

export function negativeRule(over: Partial<NegativeRule> = {}): NegativeRule {
  return { ...moneyBase, type: 'negative', severity: 'critical', hysteresisMicros: 0, ...over };
}

export function runwayRule(over: Partial<RunwayRule> = {}): RunwayRule {
  return {
    ...moneyBase,
    type: 'runway',
    thresholds: { warning: 3 * dayMs, critical: dayMs },
    afterLeadTime: [],
    floorMicros: 0,
    lookbackMs: dayMs,
    minimumHistoryMs: hourMs,
    minimumHistoryGiven: false,
    ...over,
  };
}

export function dropRule(over: Partial<DropRule> = {}): DropRule {
  return {
    ...moneyBase,
    type: 'drop',
    by: { kind: 'amount', micros: units(100) },
    windowMs: hourMs,
    ...over,
  };
}

export function idleRule(over: Partial<IdleRule> = {}): IdleRule {
  return { ...moneyBase, type: 'idle', windowMs: hourMs, ...over };
}

export function topUpRule(over: Partial<TopUpRule> = {}): TopUpRule {
  return { ...moneyBase, type: 'top-up', severity: 'info', atLeastMicros: units(0.01), ...over };
}

export function staleRule(over: Partial<StaleRule> = {}): StaleRule {
  return { ...base, type: 'stale', afterMs: null, ...over };
}

export const currencyRule: Rule = { ...base, type: 'currency', severity: 'critical' };
export const authFailedRule: Rule = { ...base, type: 'auth-failed', severity: 'critical' };
