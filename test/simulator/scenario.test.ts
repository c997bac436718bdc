import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spentBetween } from '../../src/simulator/account.ts';
import scenario from '../../src/simulator/default-scenario.json' with { type: 'json' };
import { defaultScenario, parseScenario } from '../../src/simulator/scenario.ts';

const account = { id: 'otp', authSecret: 'SECRETVALUE', sms: '1' };

describe('a scenario file', () => {
  test('needs accounts only', () => {
    const read = parseScenario({ accounts: [account] });
    expect(read.kind === 'valid' && read.scenario).toMatchObject({
      speed: 1,
      latency: { min: 0, max: 0 },
      prices: { message: 50_000, lookup: 10_000, call: 200_000 },
      accounts: [{ sms: 1_000_000, voip: 0, currency: 'CNY', burn: { sms: new Array(24).fill(0) } }],
      events: [],
    });
  });

  test.each<[name: string, input: unknown, problem: string]>([
    ['no object', 7, 'scenario: '],
    ['no accounts', {}, 'accounts: '],
    ['an empty list of accounts', { accounts: [] }, 'accounts: '],
    ['an unknown key', { accounts: [account], sped: 2 }, 'scenario: Unrecognized key: "sped"'],
    [
      'an amount as a number',
      { accounts: [{ ...account, sms: 1.5 }] },
      'accounts[0].sms: expected an amount as a string, such as "12.5"',
    ],
    [
      'too many decimals',
      { accounts: [{ ...account, sms: '1.0000001' }] },
      'accounts[0].sms: expected an amount such as "12.5", with at most 6 decimals',
    ],
    [
      'an amount out of range',
      { accounts: [{ ...account, sms: '99999999999' }] },
      'accounts[0].sms: expected an amount',
    ],
    [
      'a rate of no kind',
      { accounts: [{ ...account, burn: { sms: 5 } }] },
      'accounts[0].burn.sms: expected an amount per hour',
    ],
    [
      'an hour that does not exist',
      { accounts: [{ ...account, burn: { sms: [{ from: 0, to: 25, perHour: '1' }] } }] },
      'accounts[0].burn.sms[0].to: Too big: expected number to be <=24',
    ],
    [
      'a bad duration',
      { accounts: [account], events: [{ at: 'soon', do: 'revoke-key', account: 'otp' }] },
      'events[0].at: expected a duration such as "90s"',
    ],
    [
      'an unknown event',
      { accounts: [account], events: [{ at: '1s', do: 'explode' }] },
      "events[0].do: Invalid discriminator value. Expected 'top-up' | 'set-balance' | 'currency'",
    ],
    [
      'an account that is not there',
      { accounts: [account], events: [{ at: '1s', do: 'revoke-key', account: 'opt' }] },
      'events[0].account: expected one of the accounts: otp',
    ],
    [
      'an id twice',
      { accounts: [account, { ...account, authSecret: 'b' }] },
      'accounts[1].id: this id is there twice',
    ],
    [
      'a secret twice',
      { accounts: [account, { ...account, id: 'b' }] },
      'accounts[1].authSecret: this secret is there twice',
    ],
    ['no speed', { accounts: [account], speed: 0 }, 'speed: '],
    [
      'a bad start',
      { accounts: [account], startAt: 'today' },
      'startAt: expected a date and time such as "2026-11-20T08:00:00Z"',
    ],
    [
      'a repetition without a gap',
      { accounts: [account], events: [{ at: '1s', every: '0s', do: 'revoke-key', account: 'otp' }] },
      'events[0].every: expected a duration above 0',
    ],
  ])('says where and what is allowed: %s', (_name, input, problem) => {
    const read = parseScenario(input);
    const problems = read.kind === 'invalid' ? read.problems : [];
    expect(problems).toContainEqual(expect.stringContaining(problem));
    expect(problems.join('\n')).not.toContain('SECRETVALUE');
  });

  test('tells all problems at once', () => {
    const read = parseScenario({ speed: -1, accounts: [{ ...account, sms: 'x', voip: 'y' }] });
    expect(read.kind === 'invalid' && read.problems.length).toBe(3);
  });
});

test('the scenario of `simulate` without a file is valid and names documented secrets', () => {
  expect(parseScenario(scenario).kind).toBe('valid');
  expect(defaultScenario.accounts.map(({ authSecret }) => authSecret)).toEqual([
    'demo-otp-secret',
    'demo-marketing-secret',
    'demo-voice-secret',
  ]);
});

test('spending adds up: looking in between changes nothing', () => {
  const rates = fc.array(fc.integer({ min: 0, max: 1e12 }), { minLength: 24, maxLength: 24 });
  const start = fc.integer({ min: 1.7e12, max: 1.9e12 });
  const gap = fc.integer({ min: 0, max: 3e9 });
  fc.assert(
    fc.property(rates, start, gap, gap, (hourly, since, first, second) => {
      const whole = spentBetween(hourly, since, since + first + second);
      expect(spentBetween(hourly, since, since + first)).toBeLessThanOrEqual(whole);
      expect(Number.isSafeInteger(whole)).toBe(true);
    }),
  );
});

test('a full hour costs its rate, a full day the sum of all', () => {
  const hourly = Array.from({ length: 24 }, (_, hour) => hour * 1_000_003);
  const midnight = Date.UTC(2026, 10, 20);
  expect(spentBetween(hourly, midnight + 5 * 3_600_000, midnight + 6 * 3_600_000)).toBe(5_000_015);
  expect(spentBetween(hourly, midnight, midnight + 86_400_000)).toBe(276 * 1_000_003);
  expect(spentBetween(hourly, midnight + 1_800_000, midnight + 86_400_000 + 1_800_000)).toBe(276 * 1_000_003);
});

test('the scenario that the documentation shows is valid', () => {
  const page = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8');
  const example = /```json\n(.*?)```/s.exec(page)?.[1] ?? '';
  expect(parseScenario(JSON.parse(example))).toMatchObject({ kind: 'valid' });
});
