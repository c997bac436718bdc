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
 * Throws `StorageError` where the log that a killed daemon left is damaged: a command would fold in what lies before that, show it as all there
 * is, and remove the log with every trace of the rest. To be called before anything is read.
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

/** What was committed to the file that a killed daemon had open is none of the file that was put in its place: SQLite would mix both. */
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

/** The copy of a damaged log until the database itself says that it was found: a start that fails in between may fold the log in and remove it. */
export function keptLog(path: string): string {
  return `${path}-wal.damaged`;
}

/**
 * Before anything is opened: SQLite reads a log up to the first damaged frame, and forgets what was committed behind it. Gives what is lost, also of a log that an
 * earlier start kept; null for a sound log. Throws where a full disk leaves no room to keep it, and where the log is another file's.
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

/** Whether the log of a database has all that was committed to it: looked at again, as a command that ends folds it in and removes it. */
function isWhole(path: string): boolean {
  return [1, 2, 3].some(() => {
    try {
      // Counted first: another command may be adding to the log.
      const framesLeft = countFramesLeft(path);
      const { isDamaged, soundFrames } = readLog(`${path}-wal`);
      return !isDamaged && soundFrames >= framesLeft;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  });
}

/** Places in the index of a log, https://sqlite.org/walformat.html, 2.1. */
const index = { bytes: 100, copyBytes: 48, isMade: 12, frames: 16, salts: 32, folded: 96 };

/**
 * The number of frames of the log that a killed process had committed that were not all in the database itself, by the index that it left; 0 where that
 * says nothing of this log.
 */
function countFramesLeft(path: string): number {
  const { bytes, copyBytes, isMade, frames, salts, folded } = index;
  const found = readFirst(`${path}-shm`, bytes);
  if (found === null || found[isMade] !== 1) return 0;
  if (found.compare(found, copyBytes, 2 * copyBytes, 0, copyBytes) !== 0) return 0;
  const log = readFirst(`${path}-wal`, headerBytes);
  if (log !== null && log.compare(found, salts, salts + 8, 16, 24) !== 0) return 0;
  // In the order of this machine.
  const read = endianness() === 'LE' ? found.readUInt32LE.bind(found) : found.readUInt32BE.bind(found);
  return read(frames) > read(folded) ? read(frames) : 0;
}

/** Null where the file is shorter, or not there. */
function readFirst(path: string, bytes: number): Buffer | null {
  if (sizeOfFile(path) < bytes) return null;
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, bytes);
  } finally {
    closeSync(file);
  }
}

/** Sizes and places of https://sqlite.org/fileformat2.html, 4.1 and 4.2. */
export const headerBytes = 32;
export const frameHeaderBytes = 24;
const sizeAfterCommit = 4;
const magic = 0x377f0682;

/**
 * Reads the log that a killed process left, frame by frame: how many SQLite reads at its next start, and whether whole ones lie where it stops to
 * read, or behind: what they hold was committed, and one of them is damaged. A frame that was not written to its end is no damage.
 */
export function readLog(path: string) {
  const none = { soundFrames: 0, isDamaged: false };
  if (sizeOfFile(path) <= headerBytes) return none;
  const file = openSync(path, 'r');
  try {
    const header = readAt(file, 0, headerBytes);
    // A file that had grown when the power went is all zeros: nothing was committed. Frames behind a header of zeros were.
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
      // A change that failed half-way, as on a full disk, leaves frames behind shorter ones that were committed after it: none of them ends a commit.
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
