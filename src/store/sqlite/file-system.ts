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

/** Bits of a mode for those who are neither the owner nor of the group. */
const others = 0o007;

interface FileSystemConcern {
  readonly name: string;
  readonly warning: string;
}

const network =
  'the database lies on a network file system, which does not lock or share memory as SQLite needs: move it to a local disk';
const layer = "the database lies in a container's own layer and is lost with the container: mount a volume";

/** Keyed by the magic numbers of Linux' statfs(2). */
const concerns: ReadonlyMap<number, FileSystemConcern> = new Map([
  [0x6969, { name: 'nfs', warning: network }],
  [0x517b, { name: 'smb', warning: network }],
  [0xff534d42, { name: 'cifs', warning: network }],
  [0xfe534d42, { name: 'smb2', warning: network }],
  [0x01021997, { name: '9p', warning: network }],
  [0x794c7630, { name: 'overlay', warning: layer }],
]);

/** The danger in the file system of a directory; null when nothing is known against it. */
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

/** With the instant at which it was made, where the file system knows that: of a file that is removed the number is given to another. */
function identifyBirth(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

/** The file and the log that a daemon opens by this path, as its note names them. */
export function identifyOpen({ path }: Pick<StorageSettings, 'path'>): Pick<DaemonNote, 'file' | 'log'> {
  if (path === undefined) return { file: null, log: null };
  const real = realPathOf(path);
  return { file: identifyFile(real), log: identifyBirth(`${real}-wal`) };
}

export function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Made where there is none, readable by its owner alone; one that an earlier version left open to others is closed. */
export function openPrivately(path: string): string {
  if (identifyFile(path) === null) closeSync(openSync(path, 'a', 0o600));
  const real = realpathSync(path);
  for (const file of [real, `${real}-wal`, `${real}-shm`]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined && (found.mode & others) !== 0) chmodSync(file, found.mode & 0o770);
  }
  return real;
}

/** A copy that is not whole, with the files that SQLite keeps beside it: who was killed, or had no room, leaves them all. */
export function removePartial(copy: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
}

/** File systems that make inodes as they need them count none. */
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

/** Why no file can be there, as it goes on behind its path: in a directory that is not there, or in place of one; null where one can. */
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

/** The target of a symbolic link behind which no file can be made: its directory is missing, or it leads to itself; else null. */
function brokenTarget(path: string): string | null {
  if (existsSync(path) || lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
  const target = resolve(dirname(path), readlinkSync(path));
  const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink || !existsSync(dirname(target)) ? target : null;
}
