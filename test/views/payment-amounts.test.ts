import { describe, expect, it, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { wordCard } from '../../src/messages/message-wording.ts';
import { payCron } from '../../src/schema/times.ts';
import { planPayments } from '../../src/views/payment-plan.ts';
import {
  dayMs,
  hourMs,
  minuteMs,
  negativeRule,
  runwayRule,
  smsLow,
  units,
} from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

// Monday 9 November 2026, noon.
const now = Date.UTC(2026, 10, 9, 12);

interface Balance {
  readonly left: number;
  readonly perHour?: number;
  readonly leadTimeMs?: number;
  readonly rules: readonly Rule[];
  readonly payDays?: string;
}

/** A balance that falls by as much each hour for ten days. */
async function fallTo({ left, perHour = 10, leadTimeMs, rules, payDays }: Balance) {
  const account = makeAccount('otp', {
    poll: { kind: 'every', everyMs: hourMs },
    ...(leadTimeMs === undefined ? {} : { leadTimeMs }),
  });
  const routes = [makeRoute({ channels: ['ops'] })];
  const parts = { accounts: [account], rules, channels: ['ops'], routes };
  const paying = payDays === undefined ? {} : { payDays: payCron(payDays) };
  const world = await startWorld({ ...parts, ...paying }, { startAt: now - 10 * dayMs, sleepMs: hourMs });
  for (let hour = 240; hour >= 0; hour--) {
    world.provider.set('otp', left + perHour * hour);
    await world.pass(hour > 0 ? hourMs : 10 * minuteMs);
  }
  const { payments } = await planPayments(world.views, world.now);
  const [payment] = payments;
  const [told] = world.channel('ops').attempts.slice(-1);
  const card = told === undefined ? null : wordCard(told.message, 1);
  return { world, payment, said: JSON.stringify(card) };
}

const leadRule = runwayRule({ id: 'run', thresholds: { critical: dayMs }, afterLeadTime: ['critical'] });

describe('what is to be paid', () => {
  it.each([
    ['by a lead time that is longer than what is left beyond 30 days', 8530, [leadRule], 25 * dayMs],
    ['by a time that is longer than 30 days', 8530, [runwayRule({ thresholds: { warning: 45 * dayMs } })], 0],
  ])('clears an alert that fires %s, and is listed', async (_, left, rules, leadTimeMs) => {
    const { world, payment } = await fallTo({ left, rules, leadTimeMs });
    expect(await world.views.alerts({ all: false })).toHaveLength(1);
    world.provider.set('otp', left + (payment?.micros ?? 0) / units(1));
    await world.pass(2 * hourMs);
    expect(await world.views.alerts({ all: false })).toEqual([]);
  });

  it('clears a runway alert of a balance that is below zero and of which nothing is spent any more', async () => {
    const { world, payment, said } = await fallTo({ left: -5, perHour: 0, rules: [runwayRule()] });
    expect(said).toContain('at least 5.10 CNY');
    world.provider.set('otp', -5 + (payment?.micros ?? 0) / units(1));
    await world.pass(2 * hourMs);
    expect(await world.views.alerts({ all: false })).toEqual([]);
  });

  it('is another 30 days where it must be ordered within 30 days, though more than 30 days are left', async () => {
    const { payment } = await fallTo({ left: 8530, rules: [], leadTimeMs: 10 * dayMs });
    expect(payment?.covers).toBe('thirty-days');
    expect((payment?.micros ?? 0) / units(7200)).toBeCloseTo(1, 1);
    expect(payment?.dueAt).toBeGreaterThan(now);
  });

  it('clears a threshold, and is listed, however long the balance lasts', async () => {
    const { payment, said } = await fallTo({
      left: 40,
      perHour: 0.001,
      rules: [smsLow({ critical: units(50) })],
    });
    expect(payment).toMatchObject({ covers: 'alerts', micros: units(10) });
    expect(said).toContain('at least 10.00 CNY');
  });
});

test('the page Pay lists what an alert asks for though it can wait for a pay run in more than 30 days', async () => {
  const rules = [smsLow({ warning: units(12_200) })];
  const { payment, said } = await fallTo({ left: 11_200, leadTimeMs: dayMs, rules, payDays: '1,15' });
  expect(payment?.runAt).toBeGreaterThan(now + 30 * dayMs);
  expect(said).toContain('enough until the money of the next pay run arrives');
});

test('a message and the page name the same amount where pay days are set', async () => {
  const { payment, said } = await fallTo({
    left: 1000,
    leadTimeMs: 5 * dayMs,
    rules: [runwayRule({ thresholds: { critical: 7 * dayMs } })],
    payDays: '1',
  });
  expect(payment?.covers).toBe('next-run');
  const amount = ((payment?.micros ?? 0) / units(1)).toLocaleString('en');
  expect(said).toContain(`${amount}.00 CNY, enough until the money of the next pay run arrives`);
});

describe('what was ordered', () => {
  const order = async (world: World, amount: number, days: number) => {
    const by = { amountMicros: units(amount), arrivesBy: world.now + days * dayMs, comment: '' };
    giveAtOnce(world, { kind: 'expect-top-up', account: 'otp', ...by }, 'Lin');
    const { payments } = await planPayments(world.views, world.now);
    return payments[0] ?? null;
  };

  it('leaves the whole payment to be made where it arrives long after the balance is empty', async () => {
    const { world, payment } = await fallTo({ left: 240, rules: [] });
    expect(await order(world, 20_000, 40)).toMatchObject({ micros: payment?.micros, covers: 'thirty-days' });
    // Once nothing is missing until then, the late money counts.
    expect(await order(world, 20_000, 0.5)).toBeNull();
  });

  it('leaves a payment to be made where the balance is empty already and the money takes weeks', async () => {
    const { world, payment } = await fallTo({ left: -5, perHour: 0, rules: [runwayRule()] });
    expect(await order(world, 100, 40)).toMatchObject({ micros: payment?.micros, isEmpty: true });
  });

  it('is counted where nothing that is paid now arrives sooner, though the balance may be empty before', async () => {
    const { world } = await fallTo({ left: 240, leadTimeMs: 3 * dayMs, rules: [] });
    expect(await order(world, 20_000, 3)).toBeNull();
  });

  it('leaves what an alert asks for beyond it', async () => {
    const { world, payment } = await fallTo({
      left: 40,
      perHour: 0.001,
      rules: [smsLow({ warning: units(500) })],
    });
    const left = await order(world, 60, 1);
    expect(left?.micros).toBe((payment?.micros ?? 0) - units(60));
  });

  it('leaves the next 30 days to be ordered in time where it is too little to put that off', async () => {
    const { world, payment } = await fallTo({ left: 8530, leadTimeMs: 10 * dayMs, rules: [] });
    expect(payment).not.toBeUndefined();
    expect(await order(world, 20, 5)).not.toBeNull();
    expect(await order(world, 10_000, 5)).toBeNull();
  });
});

it('asks for no amount of a threshold in another currency than that of the reading', async () => {
  const account = makeAccount('otp', { currency: 'CNY', poll: { kind: 'every', everyMs: hourMs } });
  const low = { ...smsLow({ warning: units(60) }), id: 'low' };
  const floor = runwayRule({ id: 'run', floorMicros: units(70) });
  const negative = negativeRule({ id: 'negative' });
  const rules = [low, floor, negative];
  const world = await startWorld({ accounts: [account], rules, channels: ['ops'] }, { sleepMs: minuteMs });
  world.provider.set('otp', 50);
  await world.pass(10 * hourMs);
  world.provider.set('otp', -20, { currency: 'USD' });
  await world.pass(2 * hourMs);
  const open = await world.views.alerts({ all: false });
  expect(open.map(({ rule }) => rule).sort()).toEqual(['currency', 'low', 'negative', 'run']);
  const { payments } = await planPayments(world.views, world.now);
  expect(payments.map(({ micros }) => micros)).toEqual([units(20)]);
});
