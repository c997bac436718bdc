import { crc32 } from 'node:zlib';
import type { Micros } from '../../domain/money.ts';
import { type OutcomeKind, outcomeKinds, type Reading } from '../../domain/reading.ts';
import { PollCodecError } from './poll-bytes.ts';

/**
 * Polls as bytes. A run of polls of one account is one byte string that grows at its end: a poll that found the balances
 * unchanged costs 2 to 4 bytes, a changed one about 7. All integers are little-endian base-128 varints.
 *
 * ```
 * run     = version(2) checksum record*
 * checksum = 4 bytes, little-endian: CRC-32 (as zlib's) of everything behind it
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
 * A balance is compared with the last one at its place in the list, 0 at first. A failed poll has none and leaves the last ones
 * as they are. Time may go backwards.
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
 * 0.1.0 and 0.2.0 wrote it, and it is read for ever. docs/storage.md says the same for others.
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
export const outcomeOfCode: readonly OutcomeKind[] = outcomeKinds.toSorted(
  (left, right) => codeOfOutcome[left] - codeOfOutcome[right],
);

/** How a balance moved. */
export const unchanged = 0;
export const rose = 1;
export const fell = 2;
export const whole = 3;

/** The bit of the control byte that says that another shape follows, and in version 1 that another currency does. */
export const shapeChanged = 2;
export const currencyChanged = 0x80;
/** Version 1 has three bits for the outcome. */
export const maxFirstOutcome = 7;
/** The moves of so many balances stand in the control byte, and of so many in each byte after it. */
export const movesInControl = 3;
export const movesInByte = 4;

/** Instants beyond these (the year 10889) have differences whose differences are no longer exact. */
export const latestInstant = 2 ** 48;

/** Which balances a reading has, in which order, and in which currency. */
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

export const classicIds: readonly string[] = ['sms', 'voip'];

/** Whether the balances are those of the two first versions of lowwater, and of version 1 of a run. */
export function isClassic({ ids }: Shape): boolean {
  return ids.length === 2 && ids[0] === 'sms' && ids[1] === 'voip';
}

export function amountsOf({ balances }: Reading): Micros[] {
  return Object.values(balances);
}

/** A reading with these amounts in the order of the shape's ids. */
export function readingOf(at: number, { ids, currency }: Shape, amounts: readonly Micros[]): Reading {
  const balances: Record<string, Micros> = {};
  for (let place = 0; place < ids.length; place += 1) balances[ids[place] ?? ''] = amounts[place] ?? 0;
  return { at, balances, currency };
}

/** The checksum of a run's bytes from one place on, going on from that of the bytes before. */
export function checksumOf(run: Uint8Array, from = headerBytes, before = 0): number {
  return crc32(run.subarray(from), before);
}

export function putChecksum(run: Uint8Array, checksum: number): void {
  for (let place = 0; place < 4; place += 1) run[1 + place] = (checksum >>> (8 * place)) & 0xff;
}

/** Throws `PollCodecError` where the bytes are not those that were written. */
export function refuseAltered(run: Uint8Array): void {
  let stored = 0;
  for (let place = 4; place >= 1; place -= 1) stored = stored * 256 + (run[place] ?? 0);
  if (run.length < headerBytes || checksumOf(run) !== stored)
    throw new PollCodecError('stored polls do not match their checksum');
}
