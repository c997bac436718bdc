import { describe, expect, it } from 'vitest';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import { below } from '../../src/rules/below.ts';
import { kindOfRuleNamed, ruleKinds } from '../../src/rules/registry.ts';
import { readWrittenRule, ruleFields, writeRule } from '../../src/rules/rule-schema.ts';
import { ruleOn } from '../../src/rules/rules-for-account.ts';

const written = {
  id: 'sms-low',
  type: 'below',
  thresholds: { warning: 200, critical: '50.5' },
  hysteresis: '10%',
  match: { account: 'otp' },
};

const valuesOf = (rule: unknown, kind = below) =>
  new Map(ruleFields(kind, rule, accountServiceBalances).map(({ path, value }) => [path, value]));

describe('a rule as it stands in the file', () => {
  it('has a field for each value that a person may set, with its words', () => {
    const fields = ruleFields(below, written, accountServiceBalances);
    const filled = fields.filter(({ value }) => value !== '').map(({ path, value }) => [path, value]);
    expect(filled).toEqual([
      ['thresholds.warning', '200'],
      ['thresholds.critical', '50.5'],
      ['hysteresis', '10%'],
    ]);
    expect(fields.find(({ path }) => path === 'balance')?.words).toEqual(['sms', 'voip']);
    expect(fields.map(({ path }) => path)).toContain('for');
    for (const { description } of fields) expect(description).not.toBe('');
  });

  it('is the same again when nothing is changed', () => {
    expect(writeRule(below, written, valuesOf(written))).toEqual({
      ...written,
      thresholds: { warning: 200, critical: 50.5 },
    });
  });

  it('keeps what has no field, such as thresholds by currency', () => {
    const rule = { ...written, thresholdsByCurrency: { EUR: { warning: 20 } } };
    expect(writeRule(below, rule, valuesOf(rule))).toMatchObject({
      match: { account: 'otp' },
      thresholdsByCurrency: { EUR: { warning: 20 } },
    });
  });

  it('stands on an account with the thresholds that hold there', () => {
    const read = readWrittenRule({ ...written, thresholdsByCurrency: { EUR: { warning: '20.5' } } });
    if (read.kind === 'invalid') throw new Error('the rule is valid');
    const rule = { ...read.rule, written };
    const account = { id: 'otp', labels: {}, currency: 'EUR', balances: accountServiceBalances };
    expect(ruleOn(rule, account)?.written).toEqual({
      id: 'sms-low',
      type: 'below',
      thresholds: { warning: '20.5' },
      hysteresis: '10%',
      match: { account: 'otp' },
    });
  });

  it('takes other values, and leaves out what was emptied', () => {
    const values = valuesOf(written).set('thresholds.critical', '80').set('hysteresis', '').set('for', '10m');
    const rule = writeRule(below, written, values);
    expect(rule).toEqual({
      id: 'sms-low',
      type: 'below',
      thresholds: { warning: 200, critical: 80 },
      for: '10m',
      match: { account: 'otp' },
    });
    expect(readWrittenRule(rule)).toMatchObject({
      kind: 'rule',
      rule: { thresholds: { warning: 200_000_000, critical: 80_000_000 }, forMs: 600_000 },
    });
  });

  it.each([
    ['a value of the wrong form', { 'thresholds.critical': 'much' }, 'thresholds.critical'],
    ['a ladder in the wrong order', { 'thresholds.critical': '900' }, 'thresholds.critical'],
    ['two ways to say one thing', { threshold: '10' }, 'threshold'],
  ])('that has %s is refused, with the place', (_what, change, path) => {
    const values = new Map([...valuesOf(written), ...Object.entries(change)]);
    const read = readWrittenRule(writeRule(below, written, values));
    expect(read.kind === 'invalid' ? read.problems.map((problem) => problem.path) : []).toContain(path);
  });

  it.each(['{', null, 5, { type: 'nonsense' }, { type: '__proto__' }])(
    'that is none is refused: %j',
    (rule) => {
      expect(readWrittenRule(rule).kind).toBe('invalid');
    },
  );

  it.each(ruleKinds.map(({ type }) => type))('of the kind %s has fields', (type) => {
    const kind = kindOfRuleNamed(type);
    if (kind === null) throw new Error(type);
    expect(ruleFields(kind, { id: 'x', type }, accountServiceBalances).length).toBeGreaterThan(1);
  });
});
