import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outcomeKinds, type PollRecord } from '../../../src/domain/reading.ts';
import { checksumOf, decodePolls, putChecksum } from '../../../src/store/runs/decode-polls.ts';
import { PollCodecError } from '../../../src/store/runs/poll-bytes.ts';
import { PollEncoder } from '../../../src/store/runs/poll-codec.ts';
import { anyCharacter } from '../../support/hostile-text.ts';

/** A run as bytes, in one go. */
function encodePolls(polls: Iterable<PollRecord>, writes: 1 | 2 = 2): Uint8Array {
  const encoder = new PollEncoder(null, writes);
  for (const poll of polls) encoder.append(poll);
  return encoder.bytes();
}

const noon = Date.UTC(2026, 10, 20, 12);
const highest = 9_007_199_254_000_000;

const instants = fc.oneof(
  fc.integer({ min: noon, max: noon + 86_400_000 }),
  fc.integer({ min: -(2 ** 48), max: 2 ** 48 }),
);
const balances = fc.oneof(
  fc.integer({ min: -2_000_000, max: 900_000_000 }),
  fc.integer({ min: -highest, max: highest }),
  fc.constantFrom(0, highest, -highest, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);
const currencies = fc.oneof(
  fc.constantFrom('CNY', 'EUR', ''),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
);
const polls: fc.Arbitrary<PollRecord> = fc.oneof(
  fc
    .record({ at: instants, balances: fc.record({ sms: balances, voip: balances }), currency: currencies })
    .map((reading): PollRecord => ({ at: reading.at, outcome: 'ok', reading })),
  fc
    .record({ at: instants, outcome: fc.constantFrom(...outcomeKinds.filter((kind) => kind !== 'ok')) })
    .map((poll): PollRecord => ({ ...poll, reading: null })),
);
const runs = fc.array(polls, { maxLength: 60 });

function ok(at: number, sms: number, voip = 0): PollRecord {
  return { at, outcome: 'ok', reading: { at, balances: { sms, voip }, currency: 'CNY' } };
}

describe('polls as bytes', () => {
  it('come back exactly, no matter what the balances, the currencies and the clock did', () => {
    fc.assert(
      fc.property(runs, (run) => {
        expect(decodePolls(encodePolls(run))).toEqual(run);
      }),
    );
  });

  it('are the same bytes whether appended to a stored run or encoded at once', () => {
    fc.assert(
      fc.property(runs, runs, (first, second) => {
        const resumed = new PollEncoder(encodePolls(first));
        for (const poll of second) resumed.append(poll);
        const whole = new PollEncoder();
        for (const poll of [...first, ...second]) whole.append(poll);
        expect(resumed.bytes()).toEqual(whole.bytes());
        const facts = ({ polls, earliestAt, latestAt }: PollEncoder): unknown => [
          polls,
          earliestAt,
          latestAt,
        ];
        expect(facts(resumed)).toEqual(facts(whole));
      }),
    );
  });

  it('that were cut off are an error', () => {
    fc.assert(
      fc.property(runs, fc.nat(), (run, cut) => {
        const bytes = encodePolls(run);
        expect(decodeOrError(bytes.subarray(0, cut % bytes.length))).toBe('error');
      }),
    );
  });

  it('of version 1 come back exactly, and are gone on with in either version', () => {
    fc.assert(
      fc.property(runs, runs, (first, second) => {
        const stored = encodePolls(first, 1);
        expect(decodePolls(stored)).toEqual(first);
        for (const writes of [1, 2] as const) {
          const resumed = new PollEncoder(stored, writes);
          for (const poll of second) resumed.append(poll);
          expect(resumed.bytes()).toEqual(encodePolls([...first, ...second], writes));
          expect(decodePolls(resumed.bytes())).toEqual([...first, ...second]);
        }
      }),
    );
  });

  it('of version 1 that were cut off inside a poll are an error or fewer polls, never other ones', () => {
    fc.assert(
      fc.property(runs, fc.nat(), (run, cut) => {
        const bytes = encodePolls(run, 1);
        const decoded = decodeOrError(bytes.subarray(0, cut % bytes.length));
        if (decoded !== 'error') expect(decoded).toEqual(run.slice(0, decoded.length));
      }),
    );
  });

  it('that are any bytes at all end in polls or in an error of their own kind', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        decodeOrError(bytes);
        decodeOrError(Uint8Array.from([1, ...bytes]));
        const run = Uint8Array.from([2, 0, 0, 0, 0, ...bytes]);
        putChecksum(run, checksumOf(run));
        decodeOrError(run);
      }),
      { numRuns: 1000 },
    );
  });

  it('with a number that never ends are an error', () => {
    expect(decodeOrError(Uint8Array.from([1, 1, ...new Uint8Array(300).fill(0x80), 0]))).toBe('error');
  });

  it('of which any bit flipped are an error', () => {
    fc.assert(
      fc.property(runs, fc.nat(), fc.integer({ min: 0, max: 7 }), (run, position, bit) => {
        expect(decodeOrError(withFlippedBit(encodePolls(run), position, bit))).toBe('error');
      }),
    );
  });

  it('of version 1 of which a bit flipped end in polls or in an error of their own kind', () => {
    fc.assert(
      fc.property(runs, fc.nat(), fc.integer({ min: 0, max: 7 }), (run, position, bit) => {
        decodeOrError(withFlippedBit(encodePolls(run, 1), position, bit));
      }),
    );
  });

  it('keep one number per outcome forever', () => {
    const controls = (writes: 1 | 2, place: number) =>
      outcomeKinds.map((outcome) =>
        encodePolls([outcome === 'ok' ? ok(0, 0) : { at: 0, outcome, reading: null }], writes).at(place),
      );
    // Bit 7, or bit 1, of the first says that the first reading introduces its currency, or balances.
    expect(controls(1, 1)).toEqual([0x80, 1, 2, 3, 4, 5, 6, 7]);
    expect(controls(2, 5)).toEqual([2, 3, 5, 7, 9, 11, 13, 15]);
  });

  it('keep their layout forever', () => {
    const run = [ok(1000, 5_000_000), ok(301_000, 5_000_000), ok(601_003, 4_965_000, -7)];
    const failed: PollRecord = { at: 901_000, outcome: 'timeout', reading: null };
    const hex = (writes: 1 | 2) => Buffer.from(encodePolls([...run, failed], writes)).toString('hex');
    expect(hex(1)).toBe('0188d00fc096b1020003434e5900c0cf2450' + '06b891020706' + '0b');
    expect(hex(2)).toBe(
      '028e4c31d8' + '06d00f000203736d7304766f697003434e59c096b102' + '00c0cf24' + '2806b8910207' + '0d0b',
    );
  });

  it('cost two to four bytes while the balance stays as it was', () => {
    const encoder = new PollEncoder();
    const before = 200;
    for (let count = 0; count < before; count += 1)
      encoder.append(ok(noon + count * 300_000 + ((count * 7919) % 60), 1_000_000));
    expect(encoder.byteLength / before).toBeLessThan(4);
  });

  it('refuse what cannot be stored exactly and stay as they were', () => {
    const encoder = new PollEncoder();
    encoder.append(ok(noon, 1));
    const bytes = Uint8Array.from(encoder.bytes());
    const refused: Record<string, PollRecord> = {
      'half a millisecond': ok(noon + 0.5, 1),
      'an instant beyond the year 10889': ok(2 ** 49, 1),
      'half a millionth': ok(noon, 1.5),
      'a balance that is no longer exact': ok(noon, 2 ** 53),
      'no number': ok(noon, Number.NaN),
      'a reading of another instant': { ...ok(noon, 1), at: noon + 1 },
      'ok without a reading': { at: noon, outcome: 'ok', reading: null },
      'a failure with a reading': { ...ok(noon, 1), outcome: 'timeout' },
    };
    for (const [name, poll] of Object.entries(refused))
      expect(() => encoder.append(poll), name).toThrow(RangeError);
    expect(encoder.bytes()).toEqual(bytes);
  });
});

function withFlippedBit(run: Uint8Array, position: number, bit: number): Uint8Array {
  const bytes = Uint8Array.from(run);
  const index = position % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
  return bytes;
}

function decodeOrError(bytes: Uint8Array): PollRecord[] | 'error' {
  try {
    return decodePolls(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(PollCodecError);
    return 'error';
  }
}
