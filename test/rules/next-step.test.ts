import { describe, expect, it } from 'vitest';
import { nextStep } from '../../src/rules/registry.ts';
import {
  belowRule,
  factsAfter,
  hourMs,
  idleRule,
  minuteMs,
  negativeRule,
  runwayRule,
  steady,
  units,
} from '../support/account-facts.ts';

/** 100 units are left, and ten an hour are spent. */
const facts = factsAfter(steady({ until: 600, from: 200, perHour: 10 }));
const inHours = (rule: Parameters<typeof nextStep>[0]) => {
  const next = nextStep(rule, facts);
  return next && [next.severity, Math.round((next.at - facts.now) / hourMs)];
};

describe('the next step of a rule', () => {
  it('of a ladder is the nearest level below the balance', () => {
    expect(inHours(belowRule())).toEqual(['critical', 5]);
    expect(inHours(belowRule({ thresholds: { info: units(80), critical: units(10) } }))).toEqual(['info', 2]);
  });

  it('of a negative balance is zero', () => {
    expect(inHours(negativeRule())).toEqual(['critical', 10]);
  });

  it('of a runway is when no more is left than the time asked for', () => {
    expect(inHours(runwayRule({ thresholds: { warning: 4 * hourMs } }))).toEqual(['warning', 6]);
    expect(inHours(runwayRule({ thresholds: { warning: 20 * hourMs, critical: 60 * minuteMs } }))).toEqual([
      'critical',
      9,
    ]);
  });

  it('is none of a rule that says its worst, and of one that warns of no end', () => {
    expect(inHours(belowRule({ thresholds: { critical: units(150) } }))).toBeNull();
    expect(inHours(idleRule())).toBeNull();
  });
});
