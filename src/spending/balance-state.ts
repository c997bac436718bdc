import { hoursPerWeek } from './local-week.ts';

/** How far ahead it is checked how good forecasts were, in hours. */
export const checkedHours = [6, 24, 72, 168, 336] as const;

/** Forecasts are put down every six hours, and kept until the farthest is due. */
export const hoursPerBlock = 6;
export const keptBlocks = 336 / hoursPerBlock;

/** How many days that took far too much are remembered: four a month, for three months. */
export const keptRunDays = 12;

/** How many top-ups are remembered. */
export const keptTopUps = 6;

/** Numbers of a state. Amounts are micros. */
const numbers = [
  /** Falls in the present hour, and how much of it was seen (ms). */
  'spent',
  'seenMs',
  /** Spent since the state began; only differences mean anything. */
  'total',
  /** The mean hour (14 days' memory), and how many hours were learned. */
  'meanHour',
  'hours',
  /** The most that an hour usually takes. */
  'peak',
  /** The level's two sums, those of the drift, and those of holidays. */
  'actual',
  'expected',
  'driftActual',
  'driftExpected',
  'holidayActual',
  'holidayExpected',
  /** Spent in the present block of six hours, hours seen in it, hours of it that passed, blocks that were put down. */
  'blockSpent',
  'blockSeen',
  'blockHours',
  'blocks',
  /** How many top-ups there were. */
  'topUps',
  /** The smallest fall, what was usual since the last one and how long ago that is (ms), and the most of it of earlier times, in mean hours. */
  'smallestFall',
  'silent',
  'silentMs',
  'usualSilence',
  /** The mean fall from one reading to the next. */
  'usualFall',
  /** The present local day, what it took far above usual, from which hour on, in how many; and how many such days there were. */
  'runDay',
  'runMicros',
  'runHour',
  'runHours',
  'runDays',
  /** The last lasting change: since when, when it was known, how many times what was usual (0: none); and from when on there may be another one. */
  'shiftSince',
  'shiftedAt',
  'shiftedBy',
  'shiftsFrom',
  /** What may become one: since when, 1 more or −1 less, hours of it that were seen, spent and usual in them. */
  'offSince',
  'offSide',
  'offHours',
  'offSpent',
  'offUsual',
  /** Spent and usual in the last six of them. */
  'recentSpent',
  'recentUsual',
] as const;

/** Numbers of one side of what is unusual; see `watchUnusual`. */
const unusualNumbers = [
  'sum',
  /** When the sum began to grow, and what was spent and usual since. */
  'since',
  'spent',
  'expected',
  /** The highest sum since then, and of earlier times, in mean hours. */
  'top',
  'usualTop',
  /** 1 where a person said that it is expected. */
  'excused',
] as const;

const sides = ['more', 'less'] as const;

const floats = {
  /** What each hour of the week usually takes. */
  bins: hoursPerWeek,
  /** Foretold sums, a row for each of the last blocks: what will be spent within each of `checkedHours`. */
  said: keptBlocks * checkedHours.length,
  /** Spent in each of the last blocks. */
  came: keptBlocks,
  /** For each of `checkedHours`: the usual error and how many widths of it the interval is. */
  errors: checkedHours.length,
  widths: checkedHours.length,
  /** Amounts of the last top-ups, and the balances they came at. */
  topUpAmounts: keptTopUps,
  topUpFrom: keptTopUps,
  /** Days that took far too much: the local day, by how much, and when. */
  runDates: keptRunDays,
  runAmounts: keptRunDays,
  runBegins: keptRunDays,
  runLengths: keptRunDays,
} as const;

const bytes = {
  /** In how many weeks each hour of the week was learned; stays at 255. */
  weeks: hoursPerWeek,
  /** How many hours of each of the last blocks were seen. */
  cameHours: keptBlocks,
} as const;

type Unusual = { [Name in (typeof unusualNumbers)[number]]: number };
type Sides = { readonly [Side in (typeof sides)[number]]: Unusual };
type Numbers = { [Name in (typeof numbers)[number]]: number };
type Floats = { readonly [Name in keyof typeof floats]: Float32Array };
type Bytes = { readonly [Name in keyof typeof bytes]: Uint8Array };

/** All that is known of the spending of one balance: 3.1 KB, however long it is watched. */
export type BalanceState = Numbers & Sides & Floats & Bytes;

export function emptyBalanceState(): BalanceState {
  // One buffer for all arrays: one for each would take more than most of them hold.
  const buffer = new ArrayBuffer(4 * sumOf(floats) + sumOf(bytes));
  let end = 0;
  const take = (size: number): number => {
    end += size;
    return end - size;
  };
  return {
    ...zeros(numbers),
    more: zeros(unusualNumbers),
    less: zeros(unusualNumbers),
    ...mapValues(floats, (length) => new Float32Array(buffer, take(4 * length), length)),
    ...mapValues(bytes, (length) => new Uint8Array(buffer, take(length), length)),
  };
}

/** How many bytes `writeBalanceState` writes. */
export const balanceStateBytes = sizeOf(emptyBalanceState());

/** The numbers, then the arrays, in the order in which they are named above, as processors with little-endian numbers have them. */
export function writeBalanceState(state: BalanceState): readonly Uint8Array[] {
  const values = [
    ...numbers.map((name) => state[name]),
    ...sides.flatMap((side) => Object.values(state[side])),
  ];
  return [Float64Array.from(values), ...arraysOf(state)].map(bytesOf);
}

/** What `writeBalanceState` wrote. The bytes must be there. */
export function readBalanceState(stored: Uint8Array): BalanceState {
  const state = emptyBalanceState();
  const values = new Float64Array(numbers.length + sides.length * unusualNumbers.length);
  let place = 0;
  for (const part of [values, ...arraysOf(state)]) {
    bytesOf(part).set(stored.subarray(place, place + part.byteLength));
    place += part.byteLength;
  }
  const next = values.values();
  const read = (): number => next.next().value ?? 0;
  for (const name of numbers) state[name] = read();
  for (const side of sides) for (const name of unusualNumbers) state[side][name] = read();
  return state;
}

function arraysOf(state: BalanceState): (Float32Array | Uint8Array)[] {
  return [...namesOf(floats).map((name) => state[name]), ...namesOf(bytes).map((name) => state[name])];
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Float32Array | Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function sizeOf(state: BalanceState): number {
  return writeBalanceState(state).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function sumOf(lengths: Readonly<Record<string, number>>): number {
  return Object.values(lengths).reduce((sum, length) => sum + length, 0);
}

function zeros<Name extends string>(names: readonly Name[]): { [Key in Name]: number } {
  return fromEntries(names.map((name) => [name, 0]));
}

function mapValues<Name extends string, Value>(
  lengths: Readonly<Record<Name, number>>,
  make: (length: number) => Value,
): { readonly [Key in Name]: Value } {
  return fromEntries(namesOf(lengths).map((name) => [name, make(lengths[name])]));
}

/** The keys of a record that is written out in this file: it has no others. */
function namesOf<Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(record) as Name[];
}

/** As `Object.fromEntries`, which forgets that each name is among the entries. */
function fromEntries<Name extends string, Value>(entries: [Name, Value][]): { [Key in Name]: Value } {
  return Object.fromEntries(entries) as { [Key in Name]: Value };
}
