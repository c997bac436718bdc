import { closeSync, copyFileSync, openSync, readFileSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { dirname } from 'node:path';
import { plural } from '../../domain/plain-text.ts';
import type { Log } from '../../ports/log.ts';
import type { DamagedRecord } from '../../ports/store.ts';
import { type Migration, readMigrations } from '../migrations.ts';
import { type Connection, connectForWriting, inspectFile, refuseMisplaced } from './connection.ts';
import { guardStorage } from './failure.ts';
import { describeFileSystem, openPrivately, sizeOfFile } from './file-system.ts';
import { mend } from './integrity.ts';
import { migrate, refuseUnknown } from './migrate.ts';
import { claim, findDamagedOwner, inUse, readOwnerOf, refuseOwned, TakenOverError } from './owner.ts';
import type { SqliteStore } from './port.ts';
import { createSelfHealingStore } from './self-healing-store.ts';
import { type SideLock, takeSideLock } from './side-lock.ts';
import { foldLog, setRecordsAside } from './store.ts';

/**
 * Opens the database of a daemon, alone: creates it, or checks and migrates it.
 *
 * - `now` is the wall clock in milliseconds; `program` is the name and version that others see, `lowwater 1.2.0`.
 * - `migrations` are those of this program, where somebody has read them already.
 * - Throws `StorageError`, whose message says what to do, when another daemon holds it, when the file is damaged, of another program or of
 *   a newer lowwater (it is left as it is then), or when it cannot be written.
 * - Where another daemon took the database over all the same, every later change throws `TakenOverError`.
 */
export function openSqliteStore(options: {
  readonly path: string;
  readonly log: Log;
  readonly now: () => number;
  readonly program: string;
  readonly migrations?: readonly Migration[];
}): SqliteStore {
  return guardStorage(options.path, () => openGuarded(options));
}

function openGuarded(options: Parameters<typeof openSqliteStore>[0]): SqliteStore {
  const { log, now, program, migrations = readMigrations() } = options;
  refuseMisplaced(options.path);
  // Behind a symbolic link it is the same database, with the same log and the same lock.
  const path = openPrivately(options.path);
  const lock = takeSideLock(path);
  if (lock === null) throw inUse(path, readOwnerOf(path));
  let db: Connection | null = null;
  try {
    // The next one to open the database makes the index of the log again.
    const framesLeft = countFramesLeft(path);
    const { bytes, mendable } = inspectFile(path, (found, schema) => {
      refuseUnknown(found, path, schema, migrations, program);
      refuseOwned(found, path);
    });
    const concern = describeFileSystem(dirname(path));
    if (concern !== null) log.warn({ path, fileSystem: concern.name }, concern.warning);
    const found = keepDamagedLog(path, framesLeft, now());
    const opened = connectForWriting(path);
    db = opened;
    if (mendable.length > 0) {
      mend(opened, path, bytes);
      found.push(named('index', mendable[0] ?? '', 'it was made again from its table, which is sound'));
    }
    const applied = migrate({ db: opened, path, migrations, program, now: now() });
    for (const { name } of applied) log.info({ path, migration: name }, 'database migrated');
    const store = openClaimed(opened, lock, { path, now, program, found });
    log.info({ path, schema: migrations.length, bytes }, 'database open');
    return store;
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}

/** Before anything is written: SQLite reads a log up to the first damaged frame, and forgets what was committed behind it. */
function keepDamagedLog(path: string, framesLeft: number, now: number): DamagedRecord[] {
  const log = `${path}-wal`;
  const { isDamaged, soundFrames } = readLog(log);
  if (!isDamaged && soundFrames < framesLeft)
    return [named('write-ahead log', log, `${plural(framesLeft - soundFrames, 'page')} of it are missing`)];
  if (!isDamaged) return [];
  const kept = `${log}.damaged-${now}`;
  const lost = `what was committed after its first ${plural(soundFrames, 'page')} cannot be read`;
  try {
    copyFileSync(log, kept);
    return [named('write-ahead log', log, `${lost}; it is kept as ${kept}`)];
  } catch (error) {
    return [named('write-ahead log', log, `${lost}; it could not be kept: ${String(error)}`)];
  }
}

function named(source: string, key: string, reason: string): DamagedRecord {
  return { source, key, second: null, body: null, reason };
}

function openClaimed(
  db: Connection,
  lock: SideLock,
  given: Pick<Parameters<typeof openSqliteStore>[0], 'path' | 'now' | 'program'> & {
    readonly found: readonly DamagedRecord[];
  },
): SqliteStore {
  const { path, now, program, found } = given;
  const damaged = [...found, ...findDamagedOwner(db)];
  if (damaged.length > 0) db.transaction(() => setRecordsAside(db, damaged, now())).immediate();
  const ownership = claim(db, { path, startedAt: now(), program });
  // Folds in the rest of a killed daemon, the new schema and the claim: the file itself is never behind for long.
  foldLog(db);
  const verifier = (current: Connection): (() => void) => {
    const verify = ownership.verifier(current);
    return () => {
      verify();
      if (!lock.renew()) throw new TakenOverError(path, null);
    };
  };
  const store = createSelfHealingStore({ db, path, now, verifier });
  return {
    ...store,
    close() {
      ownership.end(store.connection());
      store.close();
      lock.release();
    },
  };
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
const headerBytes = 32;
const frameHeaderBytes = 24;
const magic = 0x377f0682;

/** The length of a write-ahead log that SQLite reads at its next start, and whether that is all that was written. */
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
    // A file that had grown when the power went is all zeros: nothing was committed. Frames behind a header of zeros were.
    if (header === null || (isBlank(header) && isBlank(readFileSync(path)))) return none;
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

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

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
