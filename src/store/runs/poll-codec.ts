import type { Micros } from '../../domain/money.ts';
import type { PollRecord, Reading } from '../../domain/reading.ts';
import {
  amountsOf,
  checksumOf,
  codeOfOutcome,
  currencyChanged,
  decodeInto,
  decodePolls,
  fell,
  firstVersion,
  headerBytes,
  isClassic,
  isShapeOf,
  latestInstant,
  maxFirstOutcome,
  movesInByte,
  movesInControl,
  putChecksum,
  type RunEnd,
  rose,
  type Shape,
  shapeChanged,
  shapeOf,
  startOfRun,
  unchanged,
  version,
  whole,
} from './decode-polls.ts';
import { ByteWriter } from './poll-bytes.ts';

/**
 * Appends polls to a run without decoding it again. To continue an unfinished run of either version, give its bytes;
 * throws `PollCodecError` if they are not a run. `writes` is the version of the result. Version 1 has no checksum and is for a
 * database that a program of 0.2 may take over. It becomes version 2 with the first poll that does not fit into it.
 */
export class PollEncoder {
  /** Meaningless while the run is empty, like `latestAt`. */
  earliestAt = Number.POSITIVE_INFINITY;
  latestAt = Number.NEGATIVE_INFINITY;
  #version: number;
  #writer: ByteWriter;
  #end: RunEnd = startOfRun();
  /** The checksum of the records up to `#summedBytes`. */
  #checksum = 0;
  #summedBytes = headerBytes;

  constructor(run: Uint8Array | null = null, writes: 1 | 2 = version) {
    const goesOn = run?.[0] === writes;
    this.#version = writes;
    this.#writer = new ByteWriter(goesOn ? run : emptyRun(writes));
    if (run === null) return;
    const polls = decodeInto(run, goesOn ? this.#end : startOfRun());
    if (goesOn) for (const { at } of polls) this.#note(at);
    else for (const poll of polls) this.append(poll);
  }

  get polls(): number {
    return this.#end.polls;
  }

  get byteLength(): number {
    return this.#writer.length;
  }

  /** The run so far. A view: valid until the next `append`. */
  bytes(): Uint8Array {
    const bytes = this.#writer.bytes();
    if (this.#version === firstVersion) return bytes;
    this.#checksum = checksumOf(bytes, this.#summedBytes, this.#checksum);
    this.#summedBytes = bytes.length;
    putChecksum(bytes, this.#checksum);
    return bytes;
  }

  /** Throws RangeError for an instant or a balance that is not an integer or is out of range, and leaves the run as it was. */
  append(poll: PollRecord): void {
    const { reading } = poll;
    checkInstant(poll.at);
    if (reading === null) {
      if (poll.outcome === 'ok') throw new RangeError('a poll that ended ok needs its reading');
      this.#writer.reserve(16);
      const code = codeOfOutcome[poll.outcome];
      if (code > maxFirstOutcome) this.#leaveFirstVersion();
      this.#writer.byte(this.#version === firstVersion ? code : (code << 1) | 1);
      this.#putTime(poll.at);
      return;
    }
    if (poll.outcome !== 'ok') throw new RangeError(`a poll that ended ${poll.outcome} has no reading`);
    if (reading.at !== poll.at) throw new RangeError('a reading has the instant of its poll');
    const { balances } = reading;
    for (const micros of Object.values(balances))
      if (!Number.isSafeInteger(micros)) throw new RangeError(`no balance that can be stored: ${micros}`);
    this.#putReading(reading);
  }

  #leaveFirstVersion(): void {
    if (this.#version !== firstVersion) return;
    const polls = decodePolls(this.#writer.bytes());
    this.#version = version;
    this.#writer = new ByteWriter(emptyRun(version));
    this.#end = startOfRun();
    for (const poll of polls) this.append(poll);
  }

  #putReading(reading: Reading): void {
    const known = this.#end.shape;
    const shape = known !== null && isShapeOf(known, reading) ? null : shapeOf(reading);
    // Leaving version 1 appends all polls again, so this poll's values are read only after it.
    if (shape !== null && !isClassic(shape)) this.#leaveFirstVersion();
    const amounts = amountsOf(reading);
    const moves = amounts.map((amount, index) => moveOf(this.#end.amounts[index] ?? 0, amount));
    this.#writer.reserve(32 + 12 * amounts.length + (shape === null ? 0 : maxBytesOf(shape)));
    if (this.#version === firstVersion) {
      this.#writer.byte((packMoves(moves, 0, 2) << 3) | (shape === null ? 0 : currencyChanged));
      this.#putTime(reading.at);
      this.#putBalances(moves, amounts);
      if (shape !== null) this.#putShape(shape);
      return;
    }
    this.#writer.byte((packMoves(moves, 0, movesInControl) << 2) | (shape === null ? 0 : shapeChanged));
    this.#putTime(reading.at);
    if (shape !== null) this.#putShape(shape);
    for (let from = movesInControl; from < moves.length; from += movesInByte)
      this.#writer.byte(packMoves(moves, from, movesInByte));
    this.#putBalances(moves, amounts);
  }

  #putTime(at: number): void {
    const end = this.#end;
    const stepMs = end.polls === 0 ? 0 : at - end.at;
    const change = end.polls === 0 ? at : stepMs - end.stepMs;
    this.#writer.varint(change < 0 ? -change * 2 - 1 : change * 2);
    end.at = at;
    end.stepMs = stepMs;
    end.polls += 1;
    this.#note(at);
  }

  #note(at: number): void {
    if (at < this.earliestAt) this.earliestAt = at;
    if (at > this.latestAt) this.latestAt = at;
  }

  #putBalances(moves: readonly number[], amounts: readonly Micros[]): void {
    for (let index = 0; index < amounts.length; index += 1) {
      const after = amounts[index] ?? 0;
      const move = moves[index] ?? unchanged;
      const before = this.#end.amounts[index] ?? 0;
      this.#end.amounts[index] = after;
      if (move === unchanged) continue;
      if (move === whole) this.#writer.byte(after < 0 ? 1 : 0);
      this.#writer.varint(Math.abs(move === whole ? after : after - before));
    }
  }

  #putShape(shape: Shape): void {
    const { shapes } = this.#end;
    const known = shapes.findIndex((other) => isSame(other, shape));
    this.#end.shape = shape;
    this.#writer.varint(known === -1 ? shapes.length : known);
    if (known !== -1) return;
    shapes.push(shape);
    if (this.#version !== firstVersion) {
      this.#writer.varint(shape.ids.length);
      for (const id of shape.ids) this.#putText(id);
    }
    this.#putText(shape.currency);
  }

  #putText(text: string): void {
    this.#writer.varint(text.length);
    for (let index = 0; index < text.length; index += 1) this.#writer.varint(text.charCodeAt(index));
  }
}

function emptyRun(writes: number): Uint8Array {
  return writes === firstVersion ? Uint8Array.of(firstVersion) : Uint8Array.of(version, 0, 0, 0, 0);
}

function isSame(one: Shape, other: Shape): boolean {
  return (
    one.currency === other.currency &&
    one.ids.length === other.ids.length &&
    one.ids.every((id, index) => id === other.ids[index])
  );
}

/** An upper bound: a varint of a UTF-16 unit takes three bytes at most. */
function maxBytesOf({ ids, currency }: Shape): number {
  return [...ids, currency].reduce((bytes, text) => bytes + 8 + 3 * text.length, 0);
}

function packMoves(moves: readonly number[], from: number, count: number): number {
  let packed = 0;
  for (let index = 0; index < count; index += 1) packed |= (moves[from + index] ?? unchanged) << (2 * index);
  return packed;
}

function moveOf(before: Micros, after: Micros): number {
  if (after === before) return unchanged;
  const change = after - before;
  if (!Number.isSafeInteger(change)) return whole;
  return change > 0 ? rose : fell;
}

function checkInstant(at: number): void {
  if (!Number.isInteger(at) || Math.abs(at) > latestInstant)
    throw new RangeError(`no instant that can be stored: ${at}`);
}
