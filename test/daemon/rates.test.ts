import { describe, expect, test } from 'vitest';
import { ownOf } from '../../src/domain/own.ts';
import type { ProviderFacts } from '../../src/domain/reading.ts';
import { moneyOf } from '../../src/engine/rates.ts';
import { dayMs, hourMs, minuteMs, units } from '../support/account-facts.ts';
import { makeAccount, makeProvider, type SettingsParts } from '../support/settings.ts';
import { World, type WorldOptions } from '../support/world.ts';

const source = {
  entry: makeProvider({ name: 'rates' }),
  account: makeAccount('rates'),
  everyMs: dayMs,
  inverted: true,
};
const fromTable: SettingsParts = { money: { currency: 'EUR', rates: null, source } };
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** What the source says from now on: units of yuan for one euro. */
function publish({ provider, now }: World, cny: number, facts: ProviderFacts = { date: day(now) }): void {
  const answer = { currency: 'EUR', balances: { cny: units(cny), usd: units(1.1) } };
  provider.answer('rates', answer, facts);
}

/** After an hour with a source that says 7.8 yuan, or nothing that is right. */
async function openWorld(parts = fromTable, cny: number | null = 7.8, options: WorldOptions = {}) {
  const world = new World(parts, { sleepMs: minuteMs, ...options });
  if (cny !== null) publish(world, cny);
  world.daemon.start();
  await world.pass(hourMs);
  return world;
}

/** The rate of the yuan that is in force, with its day; what has been asked and told so far. */
function look(world: World) {
  const { rates = null } = moneyOf(world.daemon.state) ?? {};
  return rates && [ownOf(rates.amounts, 'CNY'), rates.date];
}
const asked = ({ provider }: World) => provider.asked.get('rates')?.length ?? 0;

describe('rates that are read', () => {
  test('are read at the start and daily, and are those of the last answer', async () => {
    const world = await openWorld();
    expect(look(world)).toEqual(['7.8', day(world.now)]);
    const before = asked(world);
    await world.pass(dayMs);
    publish(world, 7.9);
    expect(asked(world) - before).toBe(1);
    await world.pass(dayMs);
    expect(look(world)).toEqual(['7.9', day(world.now - dayMs)]);
  });

  test('outlive a restart and a source that is away; nobody is told of that for a week, and then once', async () => {
    const world = await openWorld();
    world.provider.fail('rates', 'timeout');
    await world.restart({ downMs: minuteMs });
    await world.pass(6 * dayMs);
    expect(look(world)?.[0]).toBe('7.8');
    expect(world.news()).toEqual([]);
    await world.pass(3 * dayMs);
    expect(world.news()[0]).toBe('@lowwater/rates-failed firing warning');
    publish(world, 8);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['@lowwater/rates-failed resolved warning']);
    expect(look(world)?.[0]).toBe('8');
  });

  test('are read when the machine wakes after their time, and once only where its clock is set back then', async () => {
    const world = await openWorld();
    world.clock.jump(2 * dayMs);
    publish(world, 7.9);
    const before = asked(world);
    await world.pass(5 * minuteMs);
    expect(look(world)).toEqual(['7.9', day(world.now)]);
    world.clock.jump(-hourMs);
    await world.pass(hourMs);
    expect(asked(world) - before).toBe(1);
  });

  test('that their source stopped to renew are told of, although it answers', async () => {
    const world = await openWorld();
    await world.pass(9 * dayMs);
    expect(world.news()[0]).toBe('@lowwater/rates-failed firing warning');
  });

  test.each([
    ['zero', 0, undefined],
    ['below zero', -7.8, undefined],
    ['too small to be exact', 0.0004, undefined],
    ['of 1990', 7.8, '1990-01-05'],
    ['of no day', 7.8, ''],
    ['older than those in force', 7.9, '2026-11-02'],
    ['of next year', 7.8, '2027-11-20'],
  ])('that are %s are refused and told of at once; the last good ones stay', async (_, cny, date) => {
    const world = await openWorld();
    publish(world, cny, { date: date ?? day(world.now) });
    await world.pass(dayMs);
    expect(look(world)?.[0]).toBe('7.8');
    expect(world.news().slice(0, 1)).toEqual(['@lowwater/rates-failed firing warning']);
  });

  test('that the answer lacks are told of at once; the last good ones stay', async () => {
    const world = await openWorld();
    world.provider.fail('rates', 'invalid_response');
    await world.pass(dayMs);
    expect(look(world)?.[0]).toBe('7.8');
    expect(world.news().slice(0, 1)).toEqual(['@lowwater/rates-failed firing warning']);
  });

  test('that lack the currency of sums are refused', async () => {
    const world = await openWorld({ money: { currency: 'GBP', rates: null, source } });
    expect(look(world)).toBeNull();
    expect(world.news()).toEqual(['@lowwater/rates-failed firing warning']);
  });

  test('are read at once after a reload, and forgotten with their alert when they stand in the file', async () => {
    const world = await openWorld(fromTable, null);
    expect(world.news()).toEqual(['@lowwater/rates-failed firing warning']);
    publish(world, 7.8);
    await world.reload(fromTable);
    await world.pass(5 * minuteMs);
    expect(look(world)?.[0]).toBe('7.8');
    expect(world.news()).toEqual(['@lowwater/rates-failed resolved warning']);
    await world.reload({ money: null });
    await world.pass(minuteMs);
    expect(world.daemon.state.notes.has('rates')).toBe(false);
  });

  test('of amounts that were the other way round are not used', async () => {
    const world = await openWorld();
    world.provider.fail('rates', 'timeout');
    await world.reload({ money: { currency: 'EUR', rates: null, source: { ...source, inverted: false } } });
    await world.pass(minuteMs);
    expect(look(world)).toBeNull();
  });

  test('without the currency of sums, as after another one was configured, give way to older ones that have it', async () => {
    const world = await openWorld();
    const yesterday = day(world.now - dayMs);
    const balances = { gbp: units(0.9), cny: units(7.7) };
    world.provider.answer('rates', { currency: 'EUR', balances }, { date: yesterday });
    await world.reload({ money: { currency: 'GBP', rates: null, source } });
    await world.pass(5 * minuteMs);
    expect(look(world)).toEqual(['7.7', yesterday]);
    expect(world.news()).toEqual([]);
  });

  test('are asked for by the daemon that owns the accounts alone', async () => {
    let owns = false;
    const world = await openWorld(fromTable, null, { owns: () => owns });
    expect(asked(world)).toBe(0);
    owns = true;
    publish(world, 7.8);
    await world.pass(minuteMs);
    expect(look(world)?.[0]).toBe('7.8');
  });
});
