import { expect, test, vi } from 'vitest';
import { StorageError } from '../../src/domain/operator-error.ts';
import { dayMs, hourMs } from '../../src/domain/time.ts';
import { makeAccount } from '../support/settings.ts';
import { startWorld } from '../support/world.ts';

const secondMs = 1000;

test('old history is deleted on a machine that stands still for seconds each hour, and not for a day after its clock jumped by weeks, though it jumps by days in that day', async () => {
  const accounts = [makeAccount('otp', { poll: { kind: 'every', everyMs: hourMs } })];
  const world = await startWorld(
    { accounts, storage: { path: 'unused', retentionMs: 100 * dayMs } },
    { sleepMs: hourMs },
  );
  const prune = vi.spyOn(world.database, 'prune');
  for (let hour = 0; hour < 5; hour++) {
    world.clock.jump(3 * secondMs);
    await world.pass(hourMs);
  }
  expect(prune.mock.calls.length).toBeGreaterThanOrEqual(4);
  prune.mockClear();
  world.clock.jump(20 * dayMs);
  await world.pass(hourMs);
  world.clock.jump(9 * dayMs);
  await world.pass(22 * hourMs);
  expect(prune).not.toHaveBeenCalled();
  await world.pass(2 * hourMs);
  expect(prune).toHaveBeenCalled();
});

test('a daemon that starts again in that day waits for the rest of it, and for a day at most where the clock that was ahead is set back meanwhile', async () => {
  const accounts = [makeAccount('otp', { poll: { kind: 'every', everyMs: hourMs } })];
  const world = await startWorld(
    { accounts, storage: { path: 'unused', retentionMs: 100 * dayMs } },
    { sleepMs: hourMs },
  );
  const prunings = async (hours: number): Promise<number> => {
    const prune = vi.spyOn(world.database, 'prune');
    await world.pass(hours * hourMs);
    return prune.mock.calls.length;
  };
  world.clock.jump(200 * dayMs);
  await world.pass(2 * hourMs);
  await world.restart({ downMs: 1000 });
  expect(await prunings(21)).toBe(0);
  expect(await prunings(3)).toBeGreaterThan(0);
  await world.restart({ downMs: 1000 });
  expect(await prunings(3)).toBeGreaterThan(0);
  world.clock.jump(200 * dayMs);
  await world.pass(hourMs);
  await world.stop();
  world.clock.jump(-200 * dayMs);
  world.start();
  expect(await prunings(23)).toBe(0);
  expect(await prunings(3)).toBeGreaterThan(0);
});

test.each([
  ['a damaged page', 'corrupt'],
  ['a missing table', 'unfit'],
] as const)(
  'old history that cannot be deleted for %s is named in the log each hour, and polls go on',
  async (_, kind) => {
    const world = await startWorld(
      { storage: { path: 'unused', retentionMs: 100 * dayMs } },
      { sleepMs: hourMs },
    );
    vi.spyOn(world.database, 'prune').mockImplementation(() => {
      throw new StorageError(kind, 'it is damaged');
    });
    await world.pass(2 * hourMs);
    expect(world.errors).toMatchObject([
      { err: { message: 'it is damaged' }, message: expect.stringContaining('cannot be deleted') },
      { err: { message: 'it is damaged' } },
    ]);
    const polled = world.provider.asked.get('otp')?.length ?? 0;
    await world.pass(hourMs);
    expect(world.provider.asked.get('otp')?.length).toBeGreaterThan(polled);
  },
);
