import type { Micros } from '../../domain/money.ts';
import type { PollRecord } from '../../domain/reading.ts';
import { ByteReader, PollCodecError } from './poll-bytes.ts';
import {
  classicIds,
  currencyChanged,
  fell,
  firstVersion,
  headerBytes,
  latestInstant,
  movesInByte,
  movesInControl,
  outcomeOfCode,
  type RunEnd,
  readingOf,
  refuseAltered,
  rose,
  type Shape,
  shapeChanged,
  startOfRun,
  unchanged,
  version,
  whole,
} from './run-format.ts';

/** The polls of a run in the order in which they were appended. Throws `PollCodecError` when the bytes are no run. */
export function decodePolls(run: Uint8Array): PollRecord[] {
  return decodeInto(run, startOfRun());
}

/** As `decodePolls`, and leaves in `end` what the next record is compared with. */
export function decodeInto(run: Uint8Array, end: RunEnd): PollRecord[] {
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

/** Reads at least two bytes, so that decoding any bytes ends. */
function readRecord(reader: ByteReader, end: RunEnd): PollRecord {
  const control = reader.byte();
  readTime(reader, end);
  if ((control & 1) === 1) return failedPoll(end.at, control >> 1);
  if ((control & shapeChanged) !== 0) end.shape = readShape(reader, end.shapes);
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

/** A record of version 1. */
function readFirstRecord(reader: ByteReader, end: RunEnd): PollRecord {
  const control = reader.byte();
  readTime(reader, end);
  if ((control & 7) !== 0) {
    if (control > 7) throw new PollCodecError('a failed poll holds a balance');
    return failedPoll(end.at, control);
  }
  end.amounts[0] = readBalance(reader, (control >> 3) & 3, end.amounts[0] ?? 0);
  end.amounts[1] = readBalance(reader, (control >> 5) & 3, end.amounts[1] ?? 0);
  if (control >= currencyChanged) end.shape = readListed(reader, end.shapes, () => readFirstShape(reader));
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

/** What an index names: something listed before in this run, or what `readNew` reads behind it. */
function readListed(reader: ByteReader, shapes: Shape[], readNew: () => Shape): Shape {
  const index = reader.varint();
  const listed = shapes[index];
  if (listed !== undefined) return listed;
  if (index > shapes.length) throw new PollCodecError('a reading names balances that were never introduced');
  const added = readNew();
  shapes.push(added);
  return added;
}

function readShape(reader: ByteReader, shapes: Shape[]): Shape {
  return readListed(reader, shapes, () => {
    const count = reader.varint();
    if (count > reader.remaining) throw new PollCodecError('stored polls are cut off');
    const ids: string[] = [];
    for (let place = 0; place < count; place += 1) ids.push(readText(reader));
    return { ids, currency: readText(reader) };
  });
}

function readFirstShape(reader: ByteReader): Shape {
  return { ids: classicIds, currency: readText(reader) };
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  if (length > reader.remaining) throw new PollCodecError('stored polls are cut off');
  let text = '';
  for (let count = 0; count < length; count += 1) text += String.fromCharCode(reader.varint());
  return text;
}
