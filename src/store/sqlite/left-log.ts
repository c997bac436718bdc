import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { StorageError } from '../../domain/operator-error.ts';
import { plural } from '../../domain/plain-text.ts';
import { readDaemonNote } from './daemon-note.ts';
import { identifyOpen, sizeOfFile } from './file-system.ts';
import { isLocked } from './side-lock.ts';

/**
 * Throws `StorageError` if the log that a killed daemon left is damaged. Otherwise a command would fold in what lies before the damage, show
 * that as if it were everything, and remove the log with every trace of the rest. Call it before anything is read.
 */
export function refuseDamagedLog(path: string): void {
  const real = realpathSync(path);
  if (isLocked(real)) return;
  refuseForeignLog(real);
  if (isWhole(real) && !existsSync(keptLog(real))) return;
  throw new StorageError(
    'corrupt',
    `database ${path}: a part of its write-ahead log ${real}-wal is damaged or missing: start the daemon, which keeps it and says what is lost, ` +
      'or restore a backup',
  );
}

/** Throws if the log belongs to a file that was since replaced by this one: SQLite would mix the two. */
function refuseForeignLog(path: string): void {
  const open = readDaemonNote(path);
  const { file, log } = identifyOpen({ path });
  if (log === null || open?.log !== log || open.file === file || sizeOfFile(path) === 0) return;
  if (sizeOfFile(`${path}-wal`) === 0) return;
  throw new StorageError(
    'other',
    `database ${path} was replaced while lowwater had it open, and ${path}-wal belongs to the file before: put that one back, or remove ` +
      `${path}-wal and ${path}-shm to go on with this one`,
  );
}

/** The copy of a damaged log, kept until the database records the damage: a start that fails before that may fold the log in and remove it. */
export function keptLog(path: string): string {
  return `${path}-wal.damaged`;
}

/**
 * Copies a damaged log before anything is opened, because SQLite reads up to the first damaged frame and forgets what follows. Returns what is
 * lost, also by a copy from an earlier start; null for a sound log. Throws if a full disk has no room for it, or if it is another file's.
 */
export function keepDamagedLog(path: string): string | null {
  refuseForeignLog(path);
  const [log, kept] = [`${path}-wal`, keptLog(path)];
  if (!isWhole(path)) {
    if (existsSync(log)) copyFileSync(log, kept);
    else writeFileSync(kept, '');
  } else if (!existsSync(kept)) return null;
  const { isDamaged, soundFrames } = readLog(kept);
  return isDamaged
    ? `what was committed after its first ${plural(soundFrames, 'page')} cannot be read`
    : 'pages of it are missing';
}

/** Whether the log has everything that was committed to it. Tries three times, because a command that ends folds the log in and removes it. */
function isWhole(path: string): boolean {
  return [1, 2, 3].some(() => {
    try {
      // The frames are counted first, because another command may be adding to the log.
      const framesLeft = countFramesLeft(path);
      const { isDamaged, soundFrames } = readLog(`${path}-wal`);
      return !isDamaged && soundFrames >= framesLeft;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  });
}

/** Offsets in the index of a log, https://sqlite.org/walformat.html, 2.1. */
const index = { bytes: 100, copyBytes: 48, isMade: 12, frames: 16, salts: 32, folded: 96 };

/**
 * The number of frames in the log that a killed process committed, by the index that it left, unless all were folded into the database; 0
 * if the index says nothing about this log.
 */
function countFramesLeft(path: string): number {
  const { bytes, copyBytes, isMade, frames, salts, folded } = index;
  const found = readFirst(`${path}-shm`, bytes);
  if (found === null || found[isMade] !== 1) return 0;
  if (found.compare(found, copyBytes, 2 * copyBytes, 0, copyBytes) !== 0) return 0;
  const log = readFirst(`${path}-wal`, headerBytes);
  if (log !== null && log.compare(found, salts, salts + 8, 16, 24) !== 0) return 0;
  // The index has the byte order of this machine.
  const read = endianness() === 'LE' ? found.readUInt32LE.bind(found) : found.readUInt32BE.bind(found);
  return read(frames) > read(folded) ? read(frames) : 0;
}

/** Null if the file is shorter, or does not exist. */
function readFirst(path: string, bytes: number): Buffer | null {
  if (sizeOfFile(path) < bytes) return null;
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, bytes);
  } finally {
    closeSync(file);
  }
}

/** Sizes and offsets from https://sqlite.org/fileformat2.html, 4.1 and 4.2. */
export const headerBytes = 32;
export const frameHeaderBytes = 24;
const sizeAfterCommit = 4;
const magic = 0x377f0682;

/**
 * Reads the log that a killed process left, frame by frame. `soundFrames`: how many SQLite reads at its next start. `isDamaged`: whether whole
 * frames follow; they were committed, so one of them is damaged. A frame that was not written to its end is no damage.
 */
export function readLog(path: string) {
  const none = { soundFrames: 0, isDamaged: false };
  if (sizeOfFile(path) <= headerBytes) return none;
  const file = openSync(path, 'r');
  try {
    const header = readAt(file, 0, headerBytes);
    // A file of zeros had grown when the power failed, and nothing was committed. Frames after a header of zeros were committed.
    if (header === null || isBlank(file)) return none;
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
      // A change that failed half-way, as on a full disk, may leave frames after shorter ones that were committed later. None of them ends a commit.
      else if (isOwn && frame.readUInt32BE(sizeAfterCommit) > 0) return { soundFrames, isDamaged: true };
    }
  } finally {
    closeSync(file);
  }
}

/** Whether a file holds nothing but zeros. It may be large: it is read in portions. */
function isBlank(file: number): boolean {
  const portion = Buffer.alloc(2 ** 16);
  for (let place = 0; ; place += portion.length) {
    const length = readSync(file, portion, 0, portion.length, place);
    if (length === 0) return true;
    if (portion.subarray(0, length).some((byte) => byte !== 0)) return false;
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
