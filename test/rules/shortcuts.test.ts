import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { ruleKindOf } from '../../src/rules/registry.ts';
import { AccountSpending } from '../../src/spending/account-spending.ts';
import { LocalWeek } from '../../src/spending/local-week.ts';
import { ReadingLog } from '../../src/spending/reading-log.ts';
import { predictRunout } from '../../src/spending/runway.ts';
import { dayMs, factsAfter, moneyBase, runwayRule, units } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { monday } from '../support/spending.ts';

const everyMs = 20 * 60_000;
const byForecast = { lookbackMs: null, floorMicros: null } as const;
const leadTimeMs = 2 * dayMs;
const withinMs = 3 * dayMs;

const rules = [
  runwayRule({ ...byForecast, thresholds: { warning: withinMs } }),
  runwayRule({
    ...byForecast,
    thresholds: { warning: 4 * dayMs, critical: dayMs },
    afterLeadTime: ['critical'],
  }),
  { ...moneyBase, type: 'surge', sensitivity: 'high' },
  { ...moneyBase, type: 'slump', sensitivity: 'normal' },
] as const;

interface World {
  readonly seed: number;
  /** Messages a day, and what one costs. */
  readonly perDay: number;
  readonly price: number;
  readonly nightly: number;
  readonly bursts: number;
  readonly gaps: number;
  readonly creditLimit: number;
  readonly holidays: readonly string[];
  readonly topUpDays: number;
}

const worlds: fc.Arbitrary<World> = fc.record({
  seed: fc.nat(1e6),
  perDay: fc.constantFrom(3, 9, 20, 60, 400, 5000),
  price: fc.constantFrom(units(0.05), units(1), units(0.003)),
  nightly: fc.constantFrom(0, 0.2, 1),
  bursts: fc.constantFrom(0, 0.002, 0.01),
  gaps: fc.constantFrom(0, 0.002, 0.02),
  creditLimit: fc.constantFrom(0, units(7)),
  holidays: fc.constantFrom([], ['2026-01-14', '2026-01-22']),
  topUpDays: fc.constantFrom(2, 6, 15),
});

/** Four weeks of readings: office hours, nights, bursts and gaps; topped up after it was empty, at the credit limit, or before. */
function* readingsOf(world: World): Generator<Reading> {
  const random = seededRandom(world.seed);
  const daily = world.perDay * world.price;
  let sms = 3 * daily;
  let out = 0;
  for (let at = monday; at < monday + 28 * dayMs; at += everyMs) {
    const hour = new Date(at).getUTCHours();
    const mean = (world.perDay * (hour < 8 ? world.nightly : 1) * everyMs) / dayMs;
    let messages = Math.floor(mean) + (random.fraction() < mean % 1 ? 1 : 0);
    if (random.fraction() < world.bursts) messages *= 20;
    sms = Math.max(-world.creditLimit, sms - messages * world.price);
    if (random.fraction() < (everyMs / dayMs / world.topUpDays) * (sms < daily ? 4 : 1))
      sms += Math.round((2 + random.fraction() * 12) * daily);
    if (out === 0 && random.fraction() < world.gaps) out = Math.ceil(random.fraction() * 30);
    if (out > 0) out--;
    else yield { at, balances: { sms, voip: 0 }, currency: 'CNY' };
  }
}

function compare(world: World): void {
  const floorMicros = -world.creditLimit;
  const week = new LocalWeek({ timezone: 'UTC', holidays: world.holidays });
  const spending = new AccountSpending('otp', { week, balances: [], floorMicros, announced: [] });
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs: everyMs });
  const known = { ...factsAfter([]), outcome: 'ok', log, spending, floorMicros, leadTimeMs } as const;
  // One assertion of all: each costs more than what it looks at.
  const wrong: string[] = [];
  for (const reading of readingsOf(world)) {
    log.append(reading);
    spending.read(reading);
    const facts = { ...known, now: reading.at, reading };
    for (const rule of rules) {
      const isOk = ruleKindOf(rule).isSurelyOk?.(rule, facts) === true;
      const { kind } = isOk ? evaluate(rule, facts, null) : { kind: 'ok' };
      if (kind !== 'ok' && kind !== 'unknown')
        wrong.push(`${rule.type} at ${reading.at}: surely ok, ${kind}`);
    }
    const forecast = predictRunout({ log, spending, reading, balance: 'sms', floorMicros });
    if (forecast === null || forecast.basis === 'mean-burn') continue;
    const isNear = forecast.emptyAt !== null && Math.round(forecast.emptyAt - reading.at) < withinMs;
    const { kind } = evaluate(rules[0], facts, null);
    if (kind !== (isNear ? 'breached' : 'ok')) wrong.push(`forecast at ${reading.at}: ${isNear}, ${kind}`);
  }
  expect(wrong).toEqual([]);
}

test('in drawn worlds a shorter way says only what the rule says, and the rule what the forecast says', () => {
  fc.assert(fc.property(worlds, compare), { numRuns: 10 });
});
