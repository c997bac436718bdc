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

test('what was due long ago, and is asked for now, is no stand-still; a timer that fires late is one', () => {
  const clock = machineClock();
  const time = new SteadyClock(clock);
  clock.elapsedMs = 60_000;
  time.expectWake(startedAt + 20_000);
  clock.elapsedMs = 60_500;
  expect(time.takeJump()).toBe(0);
  time.expectWake(startedAt + 61_000);
  clock.elapsedMs = 73_000;
  expect(time.takeJump()).toBeCloseTo(12_000, -1);
  expect(time.takeJump()).toBe(0);
});

test('between waking from a stand-still and taking it no time has passed, and all of it has afterwards', () => {
  const clock = machineClock();
  const time = new SteadyClock(clock);
  const stoodStillAt = startedAt + 1000;
  time.expectWake(stoodStillAt);
  clock.elapsedMs = 3_600_000;
  expect(time.now()).toBe(stoodStillAt);
  const jumpMs = time.takeJump();
  expect(time.now() - (startedAt + 3_600_000)).toBeCloseTo(0, -1);
  expect(time.now() - (stoodStillAt + jumpMs)).toBeCloseTo(0, -1);
});
