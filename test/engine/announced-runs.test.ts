import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../src/domain/operator.ts';
import { wordItem } from '../../src/messages/item-wording.ts';
import { dayMs, hourMs, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { makeAccount } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const account = 'otp';
const hourly = makeAccount(account, { poll: { kind: 'every', everyMs: hourMs } });

/** Eight days of ten an hour, read every hour, with 20,000 left. */
async function eightDays(): Promise<World & { left: number }> {
  // Nothing is looked for between two polls.
  const quiet = await startWorld({ accounts: [hourly] }, { sleepMs: hourMs });
  const world = Object.assign(quiet, { left: 20_000 });
  await spend(world, 192, 10);
  return world;
}

async function spend(world: World & { left: number }, hours: number, perHour: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    world.left -= perHour;
    world.provider.set(account, world.left);
    await world.pass(hourMs);
  }
}

const watched = ({ daemon }: World) => {
  const found = daemon.state.accounts.get(account);
  if (found === undefined) throw new Error('the account is watched');
  return found;
};

const announce = (world: World, over: object = {}, by?: string) => {
  const now = world.daemon.now();
  const window = { startsAt: now + dayMs, endsAt: now + dayMs + 5 * hourMs };
  const own = { kind: 'expect-spending', account, amountMicros: units(2000), id: 'r-1', comment: 'campaign' };
  return giveAtOnce(world, { ...own, ...window, ...over } as never, by) as unknown as Refusal | null;
};

const isFiring = (world: World) => world.daemon.state.alerts.get(account, 'late-top-up')?.state === 'firing';

describe('a run that was announced', () => {
  test('is one though a second person announces the same, who is told of the first', async () => {
    const world = await eightDays();
    announce(world);
    await world.pass(2 * hourMs);
    const { startsAt, endsAt } = watched(world).announced[0] ?? {};
    expect(announce(world, { id: 'r-2', startsAt, endsAt }, 'ben')).toMatchObject({
      refused: 'changed',
      why: 'ana announced this run 2 hours ago',
    });
    expect(watched(world).announced).toHaveLength(1);
    announce(world, { id: 'r-2', startsAt, endsAt, amountMicros: units(2001) }, 'ben');
    expect(watched(world).announced).toHaveLength(2);
  });

  test('lasts 31 days at most, an October of which the clock is set back too', async () => {
    const world = await startWorld({ accounts: [hourly] });
    const month = (name: string) => Date.parse(`2027-${name}T00:00+01:00`);
    const october = { startsAt: month('10-01') - hourMs, endsAt: month('11-01') };
    expect(announce(world, october)).toMatchObject({ id: 'r-1' });
    const longer = { ...october, endsAt: october.endsAt + 1 };
    expect(announce(world, longer)).toMatchObject({ why: 'it must not last longer than 31 days' });
  });

  test('is known to the forecast until it is cancelled, and is no surge when it comes', async () => {
    const world = await eightDays();
    const { spending } = watched(world);
    const within = () => Math.round((spending.expected('sms', 2 * dayMs) ?? 0) / units(1));
    const before = within();
    announce(world);
    expect(within()).toBe(before + 2000);
    giveAtOnce(world, { kind: 'cancel-expected', account, id: 'r-1' });
    expect(within()).toBe(before);
    announce(world);
    await spend(world, 24, 10);
    await spend(world, 5, 410);
    expect(spending.state('sms')?.more.sum).toBe(0);
    await spend(world, 2, 10);
    expect(isFiring(world)).toBe(false);
    // What it took is not learned as usual.
    expect(Math.abs((spending.state('sms')?.meanHour ?? 0) - units(10))).toBeLessThan(units(2));
  });

  test('is reported for a day when it does not come', async () => {
    const world = await eightDays();
    announce(world);
    await spend(world, 24 + 5 + 2, 10);
    expect(isFiring(world)).toBe(true);
    await spend(world, 24, 10);
    expect(isFiring(world)).toBe(false);
    expect(world.views.announced()).toEqual([]);
    const { message } = world.channel('ops').delivered.at(-1) ?? {};
    const [item] = message?.kind === 'incidents' ? message.items : [];
    const words = 'the announced run is far off no more, or over for a day';
    expect(message && item && wordItem(item, message)).toMatchObject({
      headline: `RESOLVED · otp: ${words}`,
      story: expect.arrayContaining([`Resolved: ${words}.`]),
    });
  });

  test('is known still after a poll while the clock was days past its end', async () => {
    const world = await eightDays();
    announce(world);
    world.clock.jump(4 * dayMs);
    await spend(world, 1, 10);
    expect(world.views.announced()).toEqual([]);
    world.clock.jump(-4 * dayMs);
    await spend(world, 24 + 5 + 2, 10);
    expect(world.views.announced()).toMatchObject([{ id: 'r-1' }]);
    expect(isFiring(world)).toBe(true);
    world.clock.jump(8 * dayMs);
    await spend(world, 1, 10);
    expect(world.daemon.state.announced.size).toBe(0);
  });

  test('while it goes on took what was spent in it before, too', async () => {
    const world = await eightDays();
    await spend(world, 4, 410);
    const startsAt = world.daemon.now() - 4 * hourMs;
    announce(world, { startsAt, endsAt: startsAt + 5 * hourMs });
    const [{ spentMicros } = { spentMicros: 0 }] = world.views.announced();
    expect(Math.abs(spentMicros - units(1640))).toBeLessThan(units(10));
    await spend(world, 1, 410);
    await spend(world, 2, 10);
    expect(isFiring(world)).toBe(false);
  });

  test('leaves to one that was announced before what that took', async () => {
    const world = await eightDays();
    const startsAt = world.daemon.now();
    announce(world, { startsAt, endsAt: startsAt + 9 * hourMs });
    await spend(world, 2, 510);
    announce(world, { id: 'r-2', amountMicros: units(600), startsAt, endsAt: startsAt + 5 * hourMs });
    const took = watched(world).announced.map((run) => (run.spentMicros - run.usualMicros) / units(1));
    expect(took.map(Math.round)).toEqual([1000, 0]);
  });

  test('is no fault of a balance that was added while it goes on, nor of one that is gone', async () => {
    const world = await eightDays();
    const { balances } = hourly;
    const added = { id: 'minutes', label: 'Minutes', alertsBelowZero: true };
    await world.reload({ accounts: [{ ...hourly, balances: [...balances, added] }] });
    announce(world, { balance: added.id, startsAt: world.daemon.now() - 4 * hourMs });
    expect(watched(world).announced).toMatchObject([{ spentMicros: 0 }]);
    await world.reload({ accounts: [hourly] });
    await spend(world, 2, 10);
    expect(world.errors).toEqual([]);
    expect(watched(world).poll.reading?.balances).toMatchObject({ sms: units(world.left) });
  });

  test('is no surge where it lies in a gap without readings, which is longer', async () => {
    const world = await eightDays();
    announce(world);
    await spend(world, 23, 10);
    world.provider.breakDown();
    await spend(world, 3, 10);
    await spend(world, 4, 510);
    world.provider.recover();
    await spend(world, 1, 10);
    expect(watched(world).spending.state('sms')?.more.sum).toBe(0);
  });

  test('takes what is beyond the usual of all hours between two readings, however busy the last of them is', async () => {
    const world = await startWorld({ accounts: [hourly] }, { sleepMs: hourMs }).then((quiet) =>
      Object.assign(quiet, { left: 20_000 }),
    );
    for (let day = 0; day < 8; day++) {
      await spend(world, 16, 0);
      await spend(world, 8, 40);
    }
    announce(world, { startsAt: world.daemon.now() + 3 * hourMs, endsAt: world.daemon.now() + 9 * hourMs });
    world.provider.breakDown();
    await spend(world, 16, 125);
    await spend(world, 3, 40);
    world.provider.recover();
    await spend(world, 1, 40);
    const [{ spentMicros = 0, usualMicros = 0 } = {}] = watched(world).announced;
    expect(Math.abs(spentMicros - usualMicros - units(2000))).toBeLessThan(units(100));
  });

  test('of a whole day that comes within an hour is no surge, and is not expected once more in the rest of its time', async () => {
    const world = await eightDays();
    const now = world.daemon.now();
    announce(world, { startsAt: now + hourMs, endsAt: now + 25 * hourMs });
    const { spending } = watched(world);
    await spend(world, 3, 10);
    await spend(world, 1, 2010);
    expect(spending.state('sms')?.more.sum).toBe(0);
    expect(Math.round((spending.expected('sms', dayMs) ?? 0) / units(1))).toBe(240);
    await spend(world, 23, 10);
    expect(isFiring(world)).toBe(false);
    expect(Math.round((spending.usual('sms')?.week ?? 0) / units(1))).toBe(1680);
  });

  test('that takes twice what was announced is a surge, and told as far off', async () => {
    const world = await eightDays();
    const now = world.daemon.now();
    announce(world, { startsAt: now + hourMs, endsAt: now + 25 * hourMs });
    await spend(world, 3, 10);
    await spend(world, 1, 4010);
    expect(watched(world).spending.state('sms')?.more.sum).toBeGreaterThan(units(900));
    await spend(world, 23, 10);
    expect(isFiring(world)).toBe(true);
  });

  test('beside another at the same time takes only its own', async () => {
    const world = await eightDays();
    const now = world.daemon.now();
    announce(world, { startsAt: now + hourMs, endsAt: now + 13 * hourMs });
    announce(world, {
      id: 'r-2',
      amountMicros: units(600),
      startsAt: now + 6 * hourMs,
      endsAt: now + 20 * hourMs,
    });
    await spend(world, 8, 10);
    await spend(world, 1, 2610);
    const took = () =>
      watched(world).announced.map(({ spentMicros, usualMicros }) => (spentMicros - usualMicros) / units(1));
    expect(took().map(Math.round)).toEqual([2000, 600]);
    await spend(world, 14, 10);
    expect(isFiring(world)).toBe(false);
  });

  test('that came in a gap without readings is known to have come', async () => {
    const world = await eightDays();
    const now = world.daemon.now();
    announce(world, { startsAt: now + 3 * hourMs, endsAt: now + 4 * hourMs });
    await spend(world, 1, 10);
    world.provider.fail(account);
    await world.pass(8 * hourMs);
    world.left -= 2080;
    await spend(world, 4, 10);
    expect(isFiring(world)).toBe(false);
  });

  test('weeks ahead is part of what the month will cost', async () => {
    const world = await eightDays();
    const { spending } = watched(world);
    const within = () => Math.round((spending.expected('sms', 40 * dayMs) ?? 0) / units(1));
    const [before, endBefore] = [within(), spending.forecast('sms', units(9000))?.emptyAt ?? 0];
    const now = world.daemon.now();
    announce(world, { startsAt: now + 25 * dayMs, endsAt: now + 26 * dayMs });
    expect(within()).toBe(before + 2000);
    const emptyAt = spending.forecast('sms', units(9000))?.emptyAt ?? 0;
    expect(Math.round((endBefore - emptyAt) / hourMs)).toBe(200);
  });
});

test.each<[string, (now: number) => object, RegExp]>([
  ['backwards', (now) => ({ startsAt: now + dayMs, endsAt: now + hourMs }), /end after it begins/],
  ['of the past', (now) => ({ startsAt: now - dayMs, endsAt: now - hourMs }), /in the future/],
  ['of nothing', () => ({ amountMicros: 0 }), /above 0/],
  ['of months', (now) => ({ startsAt: now, endsAt: now + 90 * dayMs }), /31 days/],
  ['on a balance that there is not', () => ({ balance: 'fax' }), /no balance "fax"/],
])('a run %s is refused with the reason', async (_, over, why) => {
  const world = await startWorld();
  expect(announce(world, over(world.daemon.now()))).toMatchObject({ why: expect.stringMatching(why) });
});
