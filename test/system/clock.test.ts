import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';

const dayMs = 86_400_000;

describe('timers of any length', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // Node fires a timer of more than 24.8 days at once.
  test.each([0, 1, 24, 25, 50, 400])('one of %i days fires once, at its time', (days) => {
    const fire = vi.fn();
    systemClock.setTimer(days * dayMs, fire);
    if (days > 0) {
      vi.advanceTimersByTime(days * dayMs - 1);
      expect(fire).not.toHaveBeenCalled();
    }
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(500 * dayMs);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  test('one of 60 days can be taken back after 40', () => {
    const fire = vi.fn();
    const cancel = systemClock.setTimer(60 * dayMs, fire);
    vi.advanceTimersByTime(40 * dayMs);
    cancel();
    vi.advanceTimersByTime(60 * dayMs);
    expect(fire).not.toHaveBeenCalled();
  });
});

test('a timer never fires too soon, for any part of a millisecond it waits for', async () => {
  const earliest: number[] = [];
  for (let delayMs = 0; delayMs < 20; delayMs += 0.37) {
    const begunAt = systemClock.monotonic();
    await new Promise<void>((resolve) => systemClock.setTimer(delayMs, resolve));
    earliest.push(systemClock.monotonic() - begunAt - delayMs);
  }
  expect(Math.min(...earliest)).toBeGreaterThanOrEqual(0);
});

test('the monotonic clock never goes back', () => {
  let last = systemClock.monotonic();
  for (let count = 0; count < 1000; count++) {
    const now = systemClock.monotonic();
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
});
