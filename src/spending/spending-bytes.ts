import type { Reading } from '../domain/reading.ts';
import {
  type BalanceState,
  balanceStateBytes,
  readBalanceState,
  writeBalanceState,
} from './balance-state.ts';
import { type PeriodSums, readSums, sumsBytes, writeSums } from './periods.ts';

/** Grows with each change of what the bytes mean. What another version wrote is learned from history again, and what is damaged too. */
const version = 7;
const checksumAt = 1;
const headLengthAt = 5;
const headAt = 7;

/** What of an account's spending outlives a restart; `Sums` are those of its periods, or the numbers that they are stored as. */
export interface LastingSpending<Sums> {
  readonly timezone: string;
  readonly last: Reading;
  readonly sums: Sums;
  /** In the order of the balances of `last`; null of one that never fell. */
  readonly states: readonly (BalanceState | null)[];
}

interface Head {
  readonly timezone: string;
  readonly last: Reading;
  /** Which balances have a state, in the order of `last`. */
  readonly held: readonly boolean[];
}

/** Version; checksum of what follows it; length of the head and the head as JSON; the sums of the periods; the states. */
export function writeSpending({ timezone, last, sums, states }: LastingSpending<PeriodSums>): Uint8Array {
  const present = states.filter((state) => state !== null);
  const head = Buffer.from(
    JSON.stringify({ timezone, last, held: states.map((state) => state !== null) } satisfies Head),
  );
  const sumsAt = headAt + head.length;
  const statesAt = sumsAt + sumsBytes(states.length);
  const bytes = new Uint8Array(statesAt + present.length * balanceStateBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, version);
  view.setUint16(headLengthAt, head.length, true);
  bytes.set(head, headAt);
  writeSums(sums, view, sumsAt);
  for (const [place, state] of present.entries())
    writeBalanceState(state, view, statesAt + place * balanceStateBytes);
  view.setUint32(checksumAt, checksumOf(bytes), true);
  return bytes;
}

/** What `writeSpending` wrote; null for bytes of another version, or damaged ones. */
export function readSpending(bytes: Uint8Array): LastingSpending<readonly number[]> | null {
  if (bytes.length < headAt || bytes[0] !== version) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (checksumOf(bytes) !== view.getUint32(checksumAt, true)) return null;
  const sumsAt = headAt + view.getUint16(headLengthAt, true);
  const head = parseHead(bytes.subarray(headAt, sumsAt));
  const { timezone, last, held } = head;
  let place = sumsAt + sumsBytes(held.length);
  const states = held.map((isHeld) => {
    if (!isHeld) return null;
    place += balanceStateBytes;
    return readBalanceState(view, place - balanceStateBytes);
  });
  return { timezone, last, sums: readSums(view, sumsAt, held.length), states };
}

/** FNV-1a of what follows it: a flipped bit always changes it. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let place = headLengthAt; place < bytes.length; place++)
    hash = Math.imul(hash ^ (bytes[place] ?? 0), 0x01000193);
  return hash >>> 0;
}

/** Only `writeSpending` made it: the checksum was right. */
function parseHead(head: Uint8Array): Head {
  return JSON.parse(Buffer.from(head).toString()) as Head;
}
