import type { Reading } from '../domain/reading.ts';
import { hoursPerWeek } from './local-week.ts';
import type { PeriodSums } from './periods.ts';

/** The horizons at which forecasts are checked, in hours. */
export const checkedHours = [6, 24, 72, 168, 336] as const;

/** Forecasts are recorded every six hours, and kept until the farthest is due. */
export const hoursPerBlock = 6;
export const keptBlocks = 336 / hoursPerBlock;

/** The number of days kept that took far too much: four a month, for three months. */
export const keptRunDays = 12;

export const keptTopUps = 6;

/** The numbers of a state, in the order of its bytes. */
const numberNames = [
  // Falls in the present hour, and how much of it was seen (ms).
  'spent',
  'seenMs',
  // The mean hour (14 days' memory), and how many hours were learned.
  'meanHour',
  'hours',
  // The most that an hour usually takes.
  'peak',
  // Spending clipped off hours, as an amount at any hour (14 days' memory).
  'clipped',
  // The usual spending of the hour that ended last, before it was learned.
  'usualBefore',
  // The level's two sums, those of the drift, and those of holidays.
  'actual',
  'expected',
  'driftActual',
  'driftExpected',
  'holidayActual',
  'holidayExpected',
  // Spent in the present block of six hours, hours of it that were seen, hours of it that passed, the number of blocks recorded.
  'blockSpent',
  'blockSeen',
  'blockHours',
  'blocks',
  'topUps',
  // The smallest fall; what was usual since the last fall and how long ago that is (ms); and the most that this was in earlier times, in mean hours.
  'smallestFall',
  'silent',
  'silentMs',
  'usualSilence',
  // The mean fall from one reading to the next.
  'usualFall',
  // The present local day, what it took far above usual, from which hour on, over how many hours; and how many such days there were.
  'runDay',
  'runMicros',
  'runHour',
  'runHours',
  'runDays',
  // The last lasting change: since when, when recognized, how many times the usual (0: none); and from when on there may be another one.
  'shiftSince',
  'shiftedAt',
  'shiftedBy',
  'shiftsFrom',
  // 1 when all usual amounts were multiplied by it.
  'isShiftLearned',
  // A candidate for a lasting change: since when, 1 more or −1 less, its hours that were seen, spent and usual in them.
  'offSince',
  'offSide',
  'offHours',
  'offSpent',
  'offUsual',
  // Spent and usual in the last six or so of those hours.
  'recentSpent',
  'recentUsual',
  // A candidate for a small change: its hours that were seen, spent and usual in them; and from which hour on there may be one.
  'slowHours',
  'slowSpent',
  'slowUsual',
  'slowFrom',
] as const;

/** The numbers of one side of unusual spending, more or less; see `watchUnusual`. */
const unusualNames = [
  'sum',
  // When the sum began to grow, and what was spent and usual since.
  'since',
  'spent',
  'expected',
  // The highest sum since then; and that of earlier times, in mean hours.
  'top',
  'usualTop',
  // 1 when a person said that it is expected.
  'excused',
] as const;

const numberCount = numberNames.length + 2 * unusualNames.length;

/** Top-ups come after the numbers, with all of their digits, because people read them. */
const floatsAt = 8 * (numberCount + 2 * keptTopUps);
/** The other arrays begin here: these after this many numbers of four bytes, the weeks after this many bytes in all. */
const errorsAt = hoursPerWeek + keptBlocks * (checkedHours.length + 1);
const runsAt = errorsAt + 2 * checkedHours.length;
const weeksAt = floatsAt + 4 * (runsAt + 4 * keptRunDays);
const balanceStateBytes = weeksAt + hoursPerWeek + keptBlocks;

class InArray {
  readonly numbers: Float64Array<ArrayBuffer>;

  constructor(numbers: Float64Array<ArrayBuffer>) {
    this.numbers = numbers;
  }
}

/** A class whose fields lie in an array of numbers, beginning at `from`: fields of its own would take three times the memory. */
function numbersAt<Name extends string>(
  names: readonly Name[],
  from: number,
): new (
  numbers: Float64Array<ArrayBuffer>,
) => InArray & Record<Name, number> {
  class Numbers extends InArray {}
  for (const [index, name] of names.entries()) {
    const place = from + index;
    Object.defineProperty(Numbers.prototype, name, {
      get(this: Numbers) {
        return this.numbers[place];
      },
      set(this: Numbers, value: number) {
        this.numbers[place] = value;
      },
    });
  }
  // Its fields are defined by name above, which TypeScript does not see.
  return Numbers as never;
}

const Numbers = numbersAt(numberNames, 0);
const More = numbersAt(unusualNames, numberNames.length);
const Less = numbersAt(unusualNames, numberNames.length + unusualNames.length);

/** All that is known of the spending of one balance: 3 KB, however long it is watched. Amounts are micros. */
export class BalanceState extends Numbers {
  readonly more = new More(this.numbers);
  readonly less = new Less(this.numbers);
  /** The usual spending of each hour of the week. */
  readonly bins = this.#floats(0, hoursPerWeek);
  /** For each of `checkedHours`: the usual error, and the width of the interval in such errors. */
  readonly errors = this.#floats(errorsAt, checkedHours.length);
  readonly widths = this.#floats(errorsAt + checkedHours.length, checkedHours.length);
  /** The number of weeks in which each hour of the week was learned; stays at 255. */
  readonly weeks = new Uint8Array(this.numbers.buffer, weeksAt, hoursPerWeek);

  /** Goes on in the bytes of another state. */
  constructor(bytes = new ArrayBuffer(balanceStateBytes)) {
    super(new Float64Array(bytes, 0, numberCount));
  }

  /** The numbers, then the arrays, in little-endian order: all in one buffer, which takes less memory than one for each array. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.numbers.buffer);
  }

  // Arrays that are needed only once in hours are made when they are needed: each takes 104 bytes besides what it holds.

  /** Predicted sums, a row for each of the last blocks: what will be spent within each of `checkedHours`. */
  get said(): Float32Array {
    return this.#floats(hoursPerWeek, keptBlocks * checkedHours.length);
  }

  /** Spent in each of the last blocks. */
  get came(): Float32Array {
    return this.#floats(errorsAt - keptBlocks, keptBlocks);
  }

  /** Amounts of the last top-ups, and the balances they came at. */
  get topUpAmounts(): Float64Array {
    return new Float64Array(this.numbers.buffer, 8 * numberCount, keptTopUps);
  }

  get topUpFrom(): Float64Array {
    return new Float64Array(this.numbers.buffer, 8 * (numberCount + keptTopUps), keptTopUps);
  }

  /** Days that took far too much: the local day, by how much, when, and for how long. */
  get runDates(): Float32Array {
    return this.#floats(runsAt, keptRunDays);
  }

  get runAmounts(): Float32Array {
    return this.#floats(runsAt + keptRunDays, keptRunDays);
  }

  get runBegins(): Float32Array {
    return this.#floats(runsAt + 2 * keptRunDays, keptRunDays);
  }

  get runLengths(): Float32Array {
    return this.#floats(runsAt + 3 * keptRunDays, keptRunDays);
  }

  /** The number of hours of each of the last blocks that were seen. */
  get cameHours(): Uint8Array {
    return new Uint8Array(this.numbers.buffer, weeksAt + hoursPerWeek, keptBlocks);
  }

  #floats(at: number, length: number): Float32Array {
    return new Float32Array(this.numbers.buffer, floatsAt + 4 * at, length);
  }
}

/** Grows with each change in the meaning of the bytes. What another version wrote is learned from history again, and so is what is damaged. */
const version = 12;
const checksumAt = 1;
const headLengthAt = 5;
const headAt = 7;

interface Head {
  readonly timezone: string;
  readonly last: Reading;
  readonly sums: PeriodSums;
  /** Which balances have a state, in the order of `last`. */
  readonly held: readonly boolean[];
}

/** The part of an account's spending that outlives a restart. */
export interface LastingSpending extends Omit<Head, 'held'> {
  /** In the order of the balances of `last`; null for one that never fell. */
  readonly states: readonly (BalanceState | null)[];
}

/** Version; checksum of what follows it; length of the head and the head as JSON; the states. */
export function writeSpending({ states, ...known }: LastingSpending): Uint8Array {
  const head = Buffer.from(
    JSON.stringify({ ...known, held: states.map((state) => state !== null) } satisfies Head),
  );
  const written = states.flatMap((state) => (state === null ? [] : [state.bytes]));
  const bytes = Buffer.concat([new Uint8Array(headAt), head, ...written]);
  bytes.writeUInt8(version, 0);
  bytes.writeUInt16LE(head.length, headLengthAt);
  bytes.writeUInt32LE(checksumOf(bytes), checksumAt);
  return bytes;
}

/** Reads what `writeSpending` wrote; null for bytes of another version, damaged ones, and anything else. */
export function readSpending(stored: Uint8Array): LastingSpending | null {
  if (!(stored instanceof Uint8Array)) return null;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  if (bytes.length < headAt || bytes[0] !== version) return null;
  if (checksumOf(bytes) !== bytes.readUInt32LE(checksumAt)) return null;
  let offset = headAt + bytes.readUInt16LE(headLengthAt);
  // Only `writeSpending` made it: the checksum was right.
  const { held, ...known } = JSON.parse(bytes.toString('utf8', headAt, offset)) as Head;
  const states = held.map((isHeld) => {
    if (!isHeld) return null;
    offset += balanceStateBytes;
    return new BalanceState(Uint8Array.from(bytes.subarray(offset - balanceStateBytes, offset)).buffer);
  });
  return { ...known, states };
}

/** FNV-1a of the bytes that follow the checksum: a flipped bit always changes it. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let offset = headLengthAt; offset < bytes.length; offset++)
    hash = Math.imul(hash ^ (bytes[offset] ?? 0), 0x01000193);
  return hash >>> 0;
}
