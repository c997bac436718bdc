import { crc32 } from 'node:zlib';
import type { Micros } from '../../domain/money.ts';
import { type OutcomeKind, outcomeKinds, type PollRecord, type Reading } from '../../domain/reading.ts';
import { ByteReader, PollCodecError } from './poll-bytes.ts';

/**
 * Polls as bytes. A run of polls of one account is one byte string that grows at its end: a poll that found the balances
 * unchanged costs 2 to 4 bytes, a changed one about 7. All integers are little-endian base-128 varints.
 *
 * ```
 * run     = version(2) checksum record*
 * checksum = 4 bytes, little-endian: CRC-32 (as zlib's) of everything after it
 * record  = control time [shape] [moves] move*
 * control: bit 0 clear: a reading. Bit 1: its shape is another one. Bits 2-3, 4-5, 6-7: how its first three balances moved
 *          bit 0 set: no reading. Bits 1-7 are the number of the outcome
 * time    = zigzag varint: milliseconds since the poll before, less the same of that poll (0 before the first two)
 * shape   = varint index into the run's shapes in order of appearance; the next free index is followed by the new one:
 *           varint number of balances, their ids as texts, the currency as text
 * text    = varint length, then a varint for each UTF-16 unit
 * moves   = a byte for each four balances after the third: how they moved, 2 bits each, the lowest first
 * move    = 0 unchanged: nothing | 1 rose, 2 fell: varint of the millionths | 3 whole: sign byte, varint of the magnitude
 * ```
 *
 * A balance is compared with the last one at its place in the list, or with 0 at first. A failed poll has no balances, and leaves
 * the last ones as they are. Time may go backwards.
 *
 * Version 1 has no checksum, the balances `sms` and `voip`, and another control byte:
 *
 * ```
 * run     = version(1) record*
 * record  = control time [sms] [voip] [currency]
 * control: bits 0-2 outcome, bits 3-4 how sms moved, bits 5-6 how voip moved, bit 7 currency changed
 * currency = varint index into the run's currencies in order of appearance; the next free index is followed by the new one as text
 * ```
 *
 * 0.1.0 and 0.2.0 wrote version 1; every later program must read it. docs/storage.md says the same for others.
 */
export const version = 2;
export const firstVersion = 1;

/** Bytes of a run of version 2 before its first record. */
export const headerBytes = 5;

/** Numbers of the outcomes in stored bytes. Never renumber: databases hold them. Version 2 has room for 127. */
export const codeOfOutcome: Readonly<Record<OutcomeKind, number>> = {
  ok: 0,
  rate_limited: 1,
  auth_failed: 2,
  api_error: 3,
  invalid_response: 4,
  http_error: 5,
  timeout: 6,
  network_error: 7,
};
const outcomeOfCode: readonly OutcomeKind[] = outcomeKinds.toSorted(
  (left, right) => codeOfOutcome[left] - codeOfOutcome[right],
);

export const unchanged = 0;
export const rose = 1;
export const fell = 2;
export const whole = 3;

/** The bit of the control byte for a new shape; in version 1, the one for a new currency. */
export const shapeChanged = 2;
export const currencyChanged = 0x80;
/** Version 1 has three bits for the outcome, so this is its highest number. */
export const maxFirstOutcome = 7;
/** The number of moves in the control byte, and in each byte after it. */
export const movesInControl = 3;
export const movesInByte = 4;

/** The limit of instants (the year 10889): beyond it, differences of differences are no longer exact. */
export const latestInstant = 2 ** 48;

/** The balances of a reading, in order, and their currency. */
export interface Shape {
  readonly ids: readonly string[];
  readonly currency: string;
}

/** The end of a run: what its next record is compared with. */
export interface RunEnd {
  at: number;
  stepMs: number;
  polls: number;
  shape: Shape | null;
  readonly amounts: Micros[];
  readonly shapes: Shape[];
}

export function startOfRun(): RunEnd {
  return { at: 0, stepMs: 0, polls: 0, shape: null, amounts: [], shapes: [] };
}

export function isShapeOf({ ids, currency }: Shape, reading: Reading): boolean {
  if (reading.currency !== currency) return false;
  let place = 0;
  for (const id in reading.balances) if (ids[place++] !== id) return false;
  return place === ids.length;
}

export function shapeOf(reading: Reading): Shape {
  return { ids: Object.keys(reading.balances), currency: reading.currency };
}

const classicIds: readonly string[] = ['sms', 'voip'];

/** Whether the balances are those of the two first versions of lowwater, and of version 1 of a run. */
export function isClassic({ ids }: Shape): boolean {
  return ids.length === 2 && ids[0] === 'sms' && ids[1] === 'voip';
}

export function amountsOf({ balances }: Reading): Micros[] {
  return Object.values(balances);
}

/** A reading with these amounts in the order of the shape's ids. */
function readingOf(at: number, { ids, currency }: Shape, amounts: readonly Micros[]): Reading {
  const balances: Record<string, Micros> = {};
  for (let place = 0; place < ids.length; place += 1) balances[ids[place] ?? ''] = amounts[place] ?? 0;
  return { at, balances, currency };
}

/** The checksum of a run's bytes from a place on. It continues from `before`, the checksum of the bytes before that place. */
export function checksumOf(run: Uint8Array, from = headerBytes, before = 0): number {
  return crc32(run.subarray(from), before);
}

export function putChecksum(run: Uint8Array, checksum: number): void {
  for (let place = 0; place < 4; place += 1) run[1 + place] = (checksum >>> (8 * place)) & 0xff;
}

/** Throws `PollCodecError` if the bytes are not those that were written. */
function refuseAltered(run: Uint8Array): void {
  let stored = 0;
  for (let place = 4; place >= 1; place -= 1) stored = stored * 256 + (run[place] ?? 0);
  if (run.length < headerBytes || checksumOf(run) !== stored)
    throw new PollCodecError('stored polls do not match their checksum');
}

/** The polls of a run in the order in which they were appended. Throws `PollCodecError` if the bytes are not a run. */
export function decodePolls(run: Uint8Array): PollRecord[] {
  return decodeInto(run, startOfRun());
}

/** `decodePolls` that leaves in `end` the state that the next record is compared with. */
export function decodeInto(run: Uint8Array, end: RunEnd): PollRecord[] {
  if (!(run instanceof Uint8Array)) throw new PollCodecError('stored polls are no bytes');
  const polls: PollRecord[] = [];
  if (run[0] === version) {
    refuseAltered(run);
    const reader = new ByteReader(run, headerBytes);
    while (reader.remaining > 0) polls.push(readRecord(reader, end));
  } else if (run[0] === firstVersion) {
    const reader = new ByteReader(run, 1);
    while (reader.remaining > 0) polls.push(readFirstRecord(reader, end));
  } else {
    throw new PollCodecError(`stored polls begin with version ${run[0] ?? 'nothing'}, not ${version}`);
  }
  return polls;
}

/** Reads at least two bytes, so that decoding always ends, whatever the bytes are. */
function readRecord(reader: ByteReader, end: RunEnd): PollRecord {
  const control = reader.byte();
  readTime(reader, end);
  if ((control & 1) === 1) return failedPoll(end.at, control >> 1);
  if ((control & shapeChanged) !== 0) end.shape = readListed(end.shapes, reader, readShape);
  const { shape } = end;
  if (shape === null) throw new PollCodecError('a reading names no balances');
  const balances = shape.ids.length;
  const further: number[] = balances > movesInControl ? [] : none;
  for (let from = movesInControl; from < balances; from += movesInByte) further.push(reader.byte());
  for (let place = 0; place < balances; place += 1) {
    const move = place < movesInControl ? control >> (2 + 2 * place) : furtherMove(further, place);
    end.amounts[place] = readBalance(reader, move & 3, end.amounts[place] ?? 0);
  }
  return { at: end.at, outcome: 'ok', reading: readingOf(end.at, shape, end.amounts) };
}

const none: never[] = [];

function furtherMove(bytes: readonly number[], place: number): number {
  const index = place - movesInControl;
  return (bytes[Math.floor(index / movesInByte)] ?? 0) >> (2 * (index % movesInByte));
}

function readFirstRecord(reader: ByteReader, end: RunEnd): PollRecord {
  const control = reader.byte();
  readTime(reader, end);
  if ((control & 7) !== 0) {
    if (control > 7) throw new PollCodecError('a failed poll holds a balance');
    return failedPoll(end.at, control);
  }
  end.amounts[0] = readBalance(reader, (control >> 3) & 3, end.amounts[0] ?? 0);
  end.amounts[1] = readBalance(reader, (control >> 5) & 3, end.amounts[1] ?? 0);
  if (control >= currencyChanged)
    end.shape = readListed(end.shapes, reader, () => ({ ids: classicIds, currency: readText(reader) }));
  if (end.shape === null) throw new PollCodecError('a reading names no currency');
  return { at: end.at, outcome: 'ok', reading: readingOf(end.at, end.shape, end.amounts) };
}

function failedPoll(at: number, code: number): PollRecord {
  const outcome = outcomeOfCode[code];
  if (outcome === undefined || outcome === 'ok')
    throw new PollCodecError('stored polls name an unknown outcome');
  return { at, outcome, reading: null };
}

function readTime(reader: ByteReader, end: RunEnd): void {
  const zigzag = reader.varint();
  const change = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  if (end.polls === 0) {
    end.at = change;
  } else {
    end.stepMs += change;
    end.at += end.stepMs;
  }
  end.polls += 1;
  if (Math.abs(end.at) > latestInstant) throw new PollCodecError('a stored poll has an impossible instant');
}

function readBalance(reader: ByteReader, move: number, before: Micros): Micros {
  if (move === unchanged) return before;
  const negative = move === whole && reader.byte() === 1;
  const magnitude = reader.varint();
  if (move === whole) return negative ? -magnitude : magnitude;
  const after = move === rose ? before + magnitude : move === fell ? before - magnitude : Number.NaN;
  if (!Number.isSafeInteger(after)) throw new PollCodecError('a stored balance is out of range');
  return after;
}

/** The item that an index names: one listed before in this run, or a new one that `readNew` reads after the index. */
function readListed(shapes: Shape[], reader: ByteReader, readNew: (reader: ByteReader) => Shape): Shape {
  const index = reader.varint();
  const listed = shapes[index];
  if (listed !== undefined) return listed;
  if (index > shapes.length) throw new PollCodecError('a reading names balances that were never introduced');
  const added = readNew(reader);
  shapes.push(added);
  return added;
}

function readShape(reader: ByteReader): Shape {
  const count = reader.varint();
  if (count > reader.remaining) throw new PollCodecError('stored polls are cut off');
  const ids: string[] = [];
  for (let place = 0; place < count; place += 1) ids.push(readText(reader));
  return { ids, currency: readText(reader) };
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  if (length > reader.remaining) throw new PollCodecError('stored polls are cut off');
  let text = '';
  for (let count = 0; count < length; count += 1) text += String.fromCharCode(reader.varint());
  return text;
}
