import type { Reading } from '../domain/reading.ts';
import {
  type BalanceState,
  balanceStateBytes,
  readBalanceState,
  writeBalanceState,
} from './balance-state.ts';
import type { PeriodSums } from './periods.ts';

/** Grows with each change of what the bytes mean. What another version wrote is learned from history again, and what is damaged too. */
const version = 7;
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

/** What of an account's spending outlives a restart. */
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

/** What `writeSpending` wrote; null for bytes of another version, or damaged ones. */
export function readSpending(stored: Uint8Array): LastingSpending | null {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  if (bytes.length < headAt || bytes[0] !== version) return null;
  if (checksumOf(bytes) !== bytes.readUInt32LE(checksumAt)) return null;
  let place = headAt + bytes.readUInt16LE(headLengthAt);
  // Only `writeSpending` made it: the checksum was right.
  const { held, ...known } = JSON.parse(bytes.toString('utf8', headAt, place)) as Head;
  const states = held.map((isHeld) => {
    if (!isHeld) return null;
    place += balanceStateBytes;
    return readBalanceState(bytes.subarray(place - balanceStateBytes, place));
  });
  return { ...known, states };
}

/** FNV-1a of what follows it: a flipped bit always changes it. */
function checksumOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let place = headLengthAt; place < bytes.length; place++)
    hash = Math.imul(hash ^ (bytes[place] ?? 0), 0x01000193);
  return hash >>> 0;
}
