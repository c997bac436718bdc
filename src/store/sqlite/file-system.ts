import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StorageSettings } from '../../domain/settings.ts';
import { type DaemonNote, realPathOf } from './daemon-note.ts';

/** The permission bits for users who are neither the owner nor in the group. */
const others = 0o007;

interface FileSystemConcern {
  readonly name: string;
  readonly warning: string;
}

const network =
  'the database lies on a network file system, which does not lock or share memory as SQLite needs: move it to a local disk';
const layer = "the database lies in a container's own layer and is lost with the container: mount a volume";

/** Keyed by the magic numbers of Linux's statfs(2). */
const concerns: ReadonlyMap<number, FileSystemConcern> = new Map([
  [0x6969, { name: 'nfs', warning: network }],
  [0x517b, { name: 'smb', warning: network }],
  [0xff534d42, { name: 'cifs', warning: network }],
  [0xfe534d42, { name: 'smb2', warning: network }],
  [0x01021997, { name: '9p', warning: network }],
  [0x794c7630, { name: 'overlay', warning: layer }],
]);

/** The danger of a directory's file system; null if none is known. */
export function describeFileSystem(directory: string): FileSystemConcern | null {
  return process.platform === 'linux' ? concernOf(statfsSync(directory).type) : null;
}

export function concernOf(type: number): FileSystemConcern | null {
  return concerns.get(type) ?? null;
}

export function identifyFile(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/** Includes the instant of creation, if the file system knows it: the number of a removed file is given to another one. */
function identifyBirth(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

/** The file and the log that a daemon opens by this path, as in its note. */
export function identifyOpen({ path }: Pick<StorageSettings, 'path'>): Pick<DaemonNote, 'file' | 'log'> {
  if (path === undefined) return { file: null, log: null };
  const real = realPathOf(path);
  return { file: identifyFile(real), log: identifyBirth(`${real}-wal`) };
}

export function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Creates a missing file, readable by its owner alone. Removes access that an earlier version left to others. */
export function openPrivately(path: string): string {
  if (identifyFile(path) === null) closeSync(openSync(path, 'a', 0o600));
  const real = realpathSync(path);
  for (const file of [real, `${real}-wal`, `${real}-shm`]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined && (found.mode & others) !== 0) chmodSync(file, found.mode & 0o770);
  }
  return real;
}

/** Removes an incomplete copy and the files that SQLite keeps beside it: a process that was killed, or had no room, leaves them all. */
export function removePartial(copy: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
}

/** False for file systems that make inodes as needed: they report a count of zero. */
export function hasNoInodes(directory: string): boolean {
  try {
    const { files, ffree } = statfsSync(directory);
    return files > 0 && ffree === 0;
  } catch {
    return false;
  }
}

export function sizeOfFileSystem(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return blocks * bsize;
}

/** Why no file can exist at the path, worded to follow the path: its directory is missing, or it is a directory; null if a file can. */
export function findMisplacement(path: string): string | null {
  const directory = dirname(path);
  if (!existsSync(directory))
    return `: the directory ${directory} does not exist: create it or set storage.path`;
  const target = brokenTarget(path);
  if (target !== null)
    return ` is a symbolic link to ${target}, which leads nowhere: correct the link or set storage.path`;
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return null;
  return there.isDirectory()
    ? ' is a directory: set storage.path to a file in it'
    : ' is no regular file: set storage.path to one';
}

/** The target of a symbolic link if no file can be made there, because its directory is missing or it leads to itself; else null. */
function brokenTarget(path: string): string | null {
  if (existsSync(path) || lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
  const target = resolve(dirname(path), readlinkSync(path));
  const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink || !existsSync(dirname(target)) ? target : null;
}
