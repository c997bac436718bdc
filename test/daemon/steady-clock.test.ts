import { expect, test } from 'vitest';
import { SteadyClock } from '../../src/daemon/steady-clock.ts';

const startedAt = Date.parse('2026-11-02T09:00:00Z');

/** A machine's clocks: the wall clock shows whole milliseconds only. */
function machineClock() {
  const clock = {
    elapsedMs: 0.75,
    correctedMs: 0,
    now: () => Math.floor(startedAt + clock.elapsedMs + clock.correctedMs),
    monotonic: () => clock.elapsedMs,
    setTimer: () => () => undefined,
  };
  return clock;
}

test('what the wall clock leaves out of a millisecond moves no instant that is waited for', () => {
  const clock = machineClock();
  const time = new SteadyClock(clock);
  const dueAt = startedAt + 1000;
  const expected = time.until(dueAt);
  for (const elapsedMs of [1.75, 2.1, 3.99, 4]) {
    clock.elapsedMs = elapsedMs;
    expect(time.takeJump()).toBe(0);
    expect(time.until(dueAt)).toBeCloseTo(expected - (elapsedMs - 0.75), 3);
  }
});

test('a small correction of the wall clock is followed without a word', () => {
  const clock = machineClock();
  const time = new SteadyClock(clock);
  const before = time.now();
  clock.correctedMs = 40;
  expect(time.takeJump()).toBe(0);
  expect(time.now()).toBe(before + 40);
});
