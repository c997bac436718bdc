import { closeSync, openSync, readSync } from 'node:fs';
import { sizeOfFile } from './file-system.ts';

/** Sizes and places of https://sqlite.org/fileformat2.html, 4.1 and 4.2. */
const headerBytes = 32;
const frameHeaderBytes = 24;
const magic = 0x377f0682;

/** How much of a write-ahead log SQLite reads at its next start, and whether that is all that was written. */
interface LogState {
  readonly soundFrames: number;
  /** Whole frames of this log lie where SQLite stops to read, or behind: what they hold was committed, and one of them is damaged. */
  readonly isDamaged: boolean;
}

/** Reads the log that a killed process left, frame by frame. A frame that was not written to its end is no damage. */
export function readLog(path: string): LogState {
  const none = { soundFrames: 0, isDamaged: false };
  if (sizeOfFile(path) <= headerBytes) return none;
  const file = openSync(path, 'r');
  try {
    const header = readAt(file, 0, headerBytes);
    if (header === null || header.every((byte) => byte === 0)) return none;
    const isBig = (header.readUInt32BE(0) & 1) === 1;
    const pageBytes = header.readUInt32BE(8);
    let sums = sumOn([0, 0], header.subarray(0, 24), isBig);
    if ((header.readUInt32BE(0) & ~1) !== magic || !isSum(sums, header, 24))
      return { ...none, isDamaged: true };
    let soundFrames = 0;
    let isSound = true;
    for (let place = headerBytes; ; place += frameHeaderBytes + pageBytes) {
      const frame = readAt(file, place, frameHeaderBytes + pageBytes);
      if (frame === null) return { soundFrames, isDamaged: false };
      const isOwn = frame.compare(header, 16, 24, 8, 16) === 0;
      sums = sumOn(sumOn(sums, frame.subarray(0, 8), isBig), frame.subarray(frameHeaderBytes), isBig);
      isSound &&= isOwn && isSum(sums, frame, 16);
      if (isSound) soundFrames += 1;
      else if (isOwn) return { soundFrames, isDamaged: true };
    }
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, place: number, length: number): Buffer | null {
  const bytes = Buffer.alloc(length);
  return readSync(file, bytes, 0, length, place) === length ? bytes : null;
}

type Sums = readonly [number, number];

function sumOn([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [one, two] = [first, second];
  for (let place = 0; place < bytes.length; place += 8) {
    one = (one + two + (isBig ? bytes.readUInt32BE(place) : bytes.readUInt32LE(place))) >>> 0;
    two = (two + one + (isBig ? bytes.readUInt32BE(place + 4) : bytes.readUInt32LE(place + 4))) >>> 0;
  }
  return [one, two];
}

function isSum([one, two]: Sums, bytes: Buffer, place: number): boolean {
  return bytes.readUInt32BE(place) === one && bytes.readUInt32BE(place + 4) === two;
}
