import type { Reading } from '../domain/reading.ts';
import { hoursPerWeek } from './local-week.ts';
import type { PeriodSums } from './periods.ts';

/** The horizons at which forecasts are checked, in hours. */
export const checkedHours = [6, 24, 72, 168, 336] as const;

/** Forecasts are put down every six hours, and kept until the farthest is due. */
export const hoursPerBlock = 6;
export const keptBlocks = 336 / hoursPerBlock;

/** Days remembered that took far too much: four a month, for three months. */
export const keptRunDays = 12;

export const keptTopUps = 6;

/** Where arrays begin: these after so many numbers of four bytes, the weeks after so many bytes. */
const errorsAt = hoursPerWeek + keptBlocks * (checkedHours.length + 1);
const topUpsAt = errorsAt + 2 * checkedHours.length;
const runsAt = topUpsAt + 2 * keptTopUps;
const weeksAt = 4 * (runsAt + 4 * keptRunDays);
const arrayBytes = weeksAt + hoursPerWeek + keptBlocks;

/** One side of what is unusual; see `watchUnusual`. */
class Unusual {
  sum = 0;
  /** When the sum began to grow, and what was spent and usual since. */
  since = 0;
  spent = 0;
  expected = 0;
  /** The highest sum since then, and of earlier times, in mean hours. */
  top = 0;
  usualTop = 0;
  /** 1 where a person said that it is expected. */
  excused = 0;
}

/** All that is known of the spending of one balance: 3.1 KB, however long it is watched. Amounts are micros. */
export class BalanceState {
  /** Falls in the present hour, and how much of it was seen (ms). */
  spent = 0;
  seenMs = 0;
  /** Spent since the state began; only differences mean anything. */
  total = 0;
  /** The mean hour (14 days' memory), and how many hours were learned. */
  meanHour = 0;
  hours = 0;
  /** The most that an hour usually takes. */
  peak = 0;
  /** Spending clipped off hours, as so much at any hour (14 days' memory). */
  clipped = 0;
  /** The usual spending of the hour that ended last, before it was learned. */
  usualBefore = 0;
  /** The level's two sums, those of the drift, and those of holidays. */
  actual = 0;
  expected = 0;
  driftActual = 0;
  driftExpected = 0;
  holidayActual = 0;
  holidayExpected = 0;
  /** Spent in the present block of six hours, hours seen in it, hours of it that passed, blocks that were put down. */
  blockSpent = 0;
  blockSeen = 0;
  blockHours = 0;
  blocks = 0;
  /** The number of top-ups. */
  topUps = 0;
  /** The smallest fall, what was usual since the last one and how long ago that is (ms), and the most of it of earlier times, in mean hours. */
  smallestFall = 0;
  silent = 0;
  silentMs = 0;
  usualSilence = 0;
  /** The mean fall from one reading to the next. */
  usualFall = 0;
  /** The present local day, what it took far above usual, from which hour on, in how many; and how many such days there were. */
  runDay = 0;
  runMicros = 0;
  runHour = 0;
  runHours = 0;
  runDays = 0;
  /** The last lasting change: since when, when it was known, how many times what was usual (0: none); and from when on there may be another one. */
  shiftSince = 0;
  shiftedAt = 0;
  shiftedBy = 0;
  shiftsFrom = 0;
  /** 1 where all that is usual was multiplied by it. */
  isShiftLearned = 0;
  /** A candidate for one: since when, 1 more or −1 less, hours of it that were seen, spent and usual in them. */
  offSince = 0;
  offSide = 0;
  offHours = 0;
  offSpent = 0;
  offUsual = 0;
  /** Spent and usual in the last six of them. */
  recentSpent = 0;
  recentUsual = 0;

  /** A candidate for a small one: hours of it that were seen, spent and usual in them; and from which hour on there may be one. */
  slowHours = 0;
  slowSpent = 0;
  slowUsual = 0;
  slowFrom = 0;

  readonly more = new Unusual();
  readonly less = new Unusual();

  /** All arrays lie in it, in the order of their names: a buffer for each would take more memory than most of them hold. */
  readonly buffer = new ArrayBuffer(arrayBytes);

  /** The usual spending of each hour of the week. */
  readonly bins = this.#floats(0, hoursPerWeek);
  /** For each of `checkedHours`: the usual error and how many widths of it the interval is. */
  readonly errors = this.#floats(errorsAt, checkedHours.length);
  readonly widths = this.#floats(errorsAt + checkedHours.length, checkedHours.length);
  /** In how many weeks each hour of the week was learned; stays at 255. */
  readonly weeks = new Uint8Array(this.buffer, weeksAt, hoursPerWeek);

  // What is needed once in hours is made when it is: an array takes 104 bytes beside what it holds.

  /** Predicted sums, a row for each of the last blocks: what will be spent within each of `checkedHours`. */
  get said(): Float32Array {
    return this.#floats(hoursPerWeek, keptBlocks * checkedHours.length);
  }

  /** Spent in each of the last blocks. */
  get came(): Float32Array {
    return this.#floats(errorsAt - keptBlocks, keptBlocks);
  }

  /** Amounts of the last top-ups, and the balances they came at. */
  get topUpAmounts(): Float32Array {
    return this.#floats(topUpsAt, keptTopUps);
  }

  get topUpFrom(): Float32Array {
    return this.#floats(topUpsAt + keptTopUps, keptTopUps);
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
    return new Uint8Array(this.buffer, weeksAt + hoursPerWeek, keptBlocks);
  }

  #floats(at: number, length: number): Float32Array {
    return new Float32Array(this.buffer, 4 * at, length);
  }
}

/** The numbers, then the arrays, in the order in which they are named above, as processors with little-endian numbers have them. */
function writeBalanceState(state: BalanceState): Uint8Array {
  const numbers = partsOf(state).flatMap((part) => Object.values(part).filter(isNumber));
  return Buffer.concat([Buffer.from(Float64Array.from(numbers).buffer), Buffer.from(state.buffer)]);
}

/** The number of bytes that `writeBalanceState` writes. */
const balanceStateBytes = writeBalanceState(new BalanceState()).length;

/** Reads what `writeBalanceState` wrote. The bytes must be there. */
function readBalanceState(stored: Uint8Array): BalanceState {
  const state = new BalanceState();
  const numbers = new Float64Array(new Uint8Array(stored.subarray(0, -arrayBytes)).buffer).values();
  for (const part of partsOf(state))
    for (const [name, value] of Object.entries(part))
      if (isNumber(value)) Object.assign(part, { [name]: numbers.next().value });
  new Uint8Array(state.buffer).set(stored.subarray(-arrayBytes));
  return state;
}

function partsOf(state: BalanceState): readonly object[] {
  return [state, state.more, state.less];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** Grows with each change of what the bytes mean. What another version wrote is learned from history again, and what is damaged too. */
const version = 11;
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
  /** In the order of the balances of `last`; null of one that never fell. */
  readonly states: readonly (BalanceState | null)[];
}

/** Version; checksum of what follows it; length of the head and the head as JSON; the states. */
export function writeSpending({ states, ...known }: LastingSpending): Uint8Array {
  const head = Buffer.from(
    JSON.stringify({ ...known, held: states.map((state) => state !== null) } satisfies Head),
  );
  const written = states.flatMap((state) => (state === null ? [] : [writeBalanceState(state)]));
  const bytes = Buffer.concat([new Uint8Array(headAt), head, ...written]);
  bytes.writeUInt8(version, 0);
  bytes.writeUInt16LE(head.length, headLengthAt);
  bytes.writeUInt32LE(checksumOf(bytes), checksumAt);
  return bytes;
}

/** Reads what `writeSpending` wrote; null for bytes of another version, or damaged ones. */
export function readSpending(stored: Uint8Array): LastingSpending | null {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  if (bytes.length < headAt || bytes[0] !== version) return null;
  if (checksumOf(bytes) !== bytes.readUInt32LE(checksumAt)) return null;
  let offset = headAt + bytes.readUInt16LE(headLengthAt);
  // Only `writeSpending` made it: the checksum was right.
  const { held, ...known } = JSON.parse(bytes.toString('utf8', headAt, offset)) as Head;
  const states = held.map((isHeld) => {
    if (!isHeld) return null;
    offset += balanceStateBytes;
    return readBalanceState(bytes.subarray(offset - balanceStateBytes, offset));
  });
  return { ...known, states };
}

/** FNV-1a of what follows it: a flipped bit always changes it. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let offset = headLengthAt; offset < bytes.length; offset++)
    hash = Math.imul(hash ^ (bytes[offset] ?? 0), 0x01000193);
  return hash >>> 0;
}
