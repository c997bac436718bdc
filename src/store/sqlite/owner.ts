import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import { OperatorError, StorageError } from '../../domain/operator-error.ts';
import { isoText } from '../../domain/time.ts';
import type { DamagedRecord } from '../../ports/store.ts';
import { faultOfNote } from '../shapes.ts';
import { databaseIdNote } from '../tables.ts';
import { type Connection, connectForReading } from './connection.ts';
import { closing } from './failure.ts';
import { identifyFile, sizeOfFile } from './file-system.ts';
import { isLocked } from './side-lock.ts';

/**
 * The daemon that holds a database, as it notes itself inside it. A note there belongs to the file, whatever names lead to it and whatever
 * happens to its lock. `path` and `file` are the name and identity of the file that the daemon opened: in a backup they name another file.
 */
interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: number;
  readonly program: string;
  readonly path: string;
  readonly file: string | null;
  readonly life: Life | null;
}

/** Tells a process from another one with the same number, even in another container or after a restart. */
interface Life {
  readonly boot: string;
  readonly namespace: string;
  readonly startTicks: string;
}

/** Another daemon noted itself in the database: this one must end before it sends anything twice. */
export class TakenOverError extends OperatorError {
  constructor(path: string, owner: Owner | null) {
    super(`database ${path} was taken over by ${nameOwner(owner)}: this daemon ends, one is enough`);
    this.name = 'TakenOverError';
  }
}

/** The name of the note. No note of the engine begins with "@". */
const ownerNote = '@owner';

const findNote = 'SELECT value FROM note WHERE name = ?';

/** Notes this process in an open database as the one daemon that holds it. It already has the side lock. */
export function claim(
  db: Connection,
  given: { readonly path: string; readonly startedAt: number; readonly program: string },
) {
  const own: Owner = {
    pid: process.pid,
    host: hostname(),
    ...given,
    file: identifyFile(given.path),
    life: readLife(process.pid),
  };
  const body = JSON.stringify(own);
  db.prepare('INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)').run(ownerNote, body);
  db.prepare(
    'INSERT INTO note (name, value) VALUES (?, lower(hex(randomblob(8)))) ON CONFLICT DO NOTHING',
  ).run(databaseIdNote);
  return {
    /** Returns, for a connection, a function that throws `TakenOverError` if another daemon has claimed the database. Cheap: it reads one row. */
    verifier(current: Connection): () => void {
      const find = current.prepare<[string], string>(findNote).pluck();
      return () => {
        const found = find.get(ownerNote);
        if (found === body) return;
        const other = readOwner(current);
        if (other !== null || found === undefined) throw new TakenOverError(given.path, other);
        // The note was damaged meanwhile: it is written again.
        current.prepare('UPDATE note SET value = ? WHERE name = ?').run(body, ownerNote);
      };
    },
    /** Deletes the note, if the database can be written. */
    end(current: Connection): void {
      try {
        current.prepare('DELETE FROM note WHERE name = ? AND value = ?').run(ownerNote, body);
      } catch {
        // The next start sees that the process is gone.
      }
    },
  };
}

/**
 * Throws `StorageError` of kind `busy` if the daemon that last claimed this very file still runs, under whatever name it
 * opened it. A daemon that is gone blocks nothing, unless the newest data lies in the log of another name of the file.
 */
export function refuseOwned(db: Connection, path: string): void {
  const owner = readOwner(db);
  if (owner === null || owner.file !== identifyFile(path)) return;
  const elsewhere = owner.path !== path;
  if (isAlive(owner) || (elsewhere && isLocked(owner.path))) throw inUse(path, owner);
  if (elsewhere && identifyFile(owner.path) === owner.file && sizeOfFile(`${owner.path}-wal`) > 0) {
    throw new StorageError(
      'other',
      `database ${path} is ${owner.path} by another name, and the newest part of it lies in ${owner.path}-wal: ` +
        'set storage.path to that name',
    );
  }
}

export function inUse(path: string, owner: Owner | null): StorageError {
  return new StorageError(
    'busy',
    `database ${path} is in use by ${nameOwner(owner !== null && isGone(owner) ? null : owner)}: stop it first, or give this one another storage.path`,
  );
}

/** The id of the database in a file; null if there is none, or it cannot be read. Changes nothing. */
export function readDatabaseId(path: string): string | null {
  return readUnlessBroken(
    () => connectForReading(path, () => undefined),
    (db) => db.prepare<[string], string>(findNote).pluck().get(databaseIdNote) ?? null,
  );
}

/** The process that noted itself in the file, running or not; null if there is none, or it cannot be read. */
export function readOwnerOf(path: string): Owner | null {
  return readUnlessBroken(
    () => new Database(path, { readonly: true, fileMustExist: true, timeout: 0 }),
    readOwner,
  );
}

function readUnlessBroken<T>(open: () => Connection, read: (db: Connection) => T): T | null {
  try {
    return closing(open(), read);
  } catch {
    return null;
  }
}

function nameOwner(owner: Owner | null): string {
  if (owner === null) return 'another process';
  const { program, pid, host, startedAt } = owner;
  return `${program}, process ${pid} on ${host}, running since ${isoText(startedAt)}`;
}

/** Null also if the note is damaged: the side lock, or the other daemon's next commit, then shows who holds the database. */
function readOwner(db: Connection): Owner | null {
  const body = db.prepare<[string], string>(findNote).pluck().get(ownerNote);
  return body === undefined || faultOfNote(ownerNote, body) !== null ? null : (JSON.parse(body) as Owner);
}

/** The notes with the daemon and the database's id that cannot be read. */
export function findDamagedNames(db: Connection): readonly DamagedRecord[] {
  return [ownerNote, databaseIdNote].flatMap((key) => {
    const body = db.prepare<[string], string>(findNote).pluck().get(key);
    const reason = body === undefined ? null : faultOfNote(key, body);
    return body === undefined || reason === null ? [] : [{ source: 'note', key, second: null, body, reason }];
  });
}

function isAlive({ pid, life }: Owner): boolean {
  return life !== null && isDeepStrictEqual(life, readLife(pid));
}

/** True only if that is sure: nothing is known here of a process in another container or on another machine. */
function isGone(owner: Owner): boolean {
  const own = readLife(process.pid);
  const isFromHere = owner.life?.boot === own?.boot && owner.life?.namespace === own?.namespace;
  return own !== null && isFromHere && !isAlive(owner);
}

/** Read from proc(5); null if there is no such process, or no /proc. A zombie counts as gone. */
function readLife(pid: number): Life | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name, which may contain blanks and brackets. The third field is the state.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (/^[ZXx]/.test(fields[0] ?? '')) return null;
    return {
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      namespace: readlinkSync('/proc/self/ns/pid'),
      startTicks: fields[19] ?? '',
    };
  } catch {
    return null;
  }
}
