import type { ColumnKind, Row } from '../tables.ts';

/**
 * Arrays in the binary form that PostgreSQL takes for a parameter (array_recv in its src/backend/utils/adt/arrayfuncs.c):
 * bytes go as they are, and text needs no quoting. All numbers are big-endian 32-bit integers.
 *
 * ```
 * array   = dimensions(0|1) hasNull(0|1) typeOid [length lowerBound(1)] element*
 * element = byteLength bytes, or -1 for null
 * ```
 */
const byteaOid = 17;
const bigintOid = 20;
const textOid = 25;

const headerBytes = 20;

/** What a parameter is cast to that holds a column of rows. */
export const arrayTypes: Readonly<Record<ColumnKind, string>> = {
  integer: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
};

/** Parameters that hold rows: an array for each column, which `arrayTypes` says what to cast to. */
export function columnArrays(kinds: readonly ColumnKind[], rows: readonly Row[]): readonly Buffer[] {
  return kinds.map((kind, index) => {
    const values = rows.map((row) => row[index] ?? null);
    if (kind === 'integer')
      return bigintArray(values.map((value) => (typeof value === 'number' ? value : null)));
    if (kind === 'text') return textArray(values.map((value) => (typeof value === 'string' ? value : null)));
    return bytesArray(values.map((value) => (value instanceof Uint8Array ? value : null)));
  });
}

export function bytesArray(values: readonly (Uint8Array | null)[]): Buffer {
  return packArray(
    byteaOid,
    values,
    (value) => value.length,
    (value, target, at) => target.set(value, at),
  );
}

export function textArray(values: readonly (string | null)[]): Buffer {
  return packArray(
    textOid,
    values,
    (value) => Buffer.byteLength(value),
    (value, target, at) => target.write(value, at),
  );
}

/** For a parameter that is cast to `bigint[]`: safe integers. */
export function bigintArray(values: readonly (number | null)[]): Buffer {
  return packArray(bigintOid, values, () => 8, putBigint);
}

function packArray<T>(
  oid: number,
  values: readonly (T | null)[],
  lengthOf: (value: T) => number,
  put: (value: T, target: Buffer, at: number) => void,
): Buffer {
  const lengths = values.map((value) => (value === null ? -1 : lengthOf(value)));
  const size = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), headerBytes);
  const packed = Buffer.allocUnsafe(values.length === 0 ? 12 : size);
  packed.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  packed.writeInt32BE(lengths.includes(-1) ? 1 : 0, 4);
  packed.writeInt32BE(oid, 8);
  if (values.length === 0) return packed;
  packed.writeInt32BE(values.length, 12);
  packed.writeInt32BE(1, 16);
  let at = headerBytes;
  for (const [index, value] of values.entries()) {
    const length = lengths[index] ?? -1;
    packed.writeInt32BE(length, at);
    at += 4;
    if (value === null) continue;
    put(value, packed, at);
    at += length;
  }
  return packed;
}

function putBigint(value: number, target: Buffer, at: number): void {
  const high = Math.floor(value / 2 ** 32);
  target.writeInt32BE(high, at);
  target.writeUInt32BE(value - high * 2 ** 32, at + 4);
}
