import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PollRecord } from '../../../src/domain/reading.ts';
import { PackedPolls } from '../../../src/store/runs/packed-polls.ts';

const someReading = fc.record({
  at: fc.integer({ min: 0, max: 20_000 }),
  sms: fc.integer({ min: -1000, max: 1000 }),
});

const pollOf = ({ at, sms }: { at: number; sms: number }): PollRecord => ({
  at,
  outcome: 'ok',
  reading: { at, balances: { sms, voip: 0 }, currency: 'CNY' },
});

describe('polls packed in memory', () => {
  it('come out in the order of time, those of one instant as they were put in', () => {
    const history = fc.array(someReading, { maxLength: 12_000, size: 'max' });
    const span = fc.tuple(fc.nat(20_000), fc.nat(20_000));
    fc.assert(
      fc.property(history, span, (readings, [since, until]) => {
        const polls = readings.map(pollOf);
        const packed = new PackedPolls();
        for (const poll of polls) packed.append(poll);
        const expected = polls
          .filter(({ at }) => at >= since && at < until)
          .sort((left, right) => left.at - right.at);
        expect([...packed.polls(since, until)].flat()).toEqual(expected);
      }),
      { numRuns: 10 },
    );
  });

  it('can be read again, and appended to between', () => {
    const packed = new PackedPolls();
    packed.append(pollOf({ at: 5, sms: 1 }));
    expect([...packed.polls(0, 10)].flat()).toHaveLength(1);
    packed.append(pollOf({ at: 4, sms: 2 }));
    expect([...packed.polls(0, 10)].flat().map(({ at }) => at)).toEqual([4, 5]);
  });
});
