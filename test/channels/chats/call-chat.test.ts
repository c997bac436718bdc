import { describe, expect, test } from 'vitest';
import { ChatCalls } from '../../../src/channels/chats/call-chat.ts';
import { minuteMs } from '../../../src/domain/time.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A receiver that asks for these waits, one call after the other, and then takes what comes. */
function bed(...waits: readonly number[]) {
  const clock = new FakeClock(0);
  const calls = new ChatCalls(clock);
  const left = [...waits];
  const calledAt: number[] = [];
  return {
    clock,
    calledAt,
    call: (maxWaitMs = 3 * minuteMs, method = 'post'): Promise<number | null> =>
      calls.call(
        { clock, afterMs: 1000, outer: new AbortController().signal },
        async () => {
          calledAt.push(clock.monotonic());
          return left.shift() ?? null;
        },
        { method, waitAskedBy: (waitMs) => waitMs, maxWaitMs, tries: 2 },
      ),
  };
}

describe('a method of a chat’s API that asks to wait', () => {
  test('is called again when that is over and not before, by whoever calls it next', async () => {
    const { clock, calledAt, call } = bed(3 * minuteMs, 2 * minuteMs);
    expect(await Promise.race([call(), clock.pass(4 * minuteMs)])).toBe(2 * minuteMs);
    expect(await Promise.race([call(), clock.pass(10 * minuteMs)])).toBeNull();
    expect(calledAt.map((at) => at / minuteMs)).toEqual([0, 3, 5]);
  });

  test('for longer than an answer may take is not called, and other methods are', async () => {
    const { clock, calledAt, call } = bed(3 * minuteMs);
    expect(await call(minuteMs)).toBe(3 * minuteMs);
    await expect(call(minuteMs)).rejects.toThrow('for longer');
    expect(await call(minuteMs, 'edit')).toBeNull();
    expect(calledAt).toEqual([0, 0]);
    await clock.pass(3 * minuteMs);
    expect(await call(minuteMs)).toBeNull();
  });
});
