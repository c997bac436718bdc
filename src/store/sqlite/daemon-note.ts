import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseJsonObject } from '../../domain/json.ts';
import type { StorageSettings } from '../../domain/settings.ts';

/** The note that a daemon leaves next to its SQLite file while it runs. */
export interface DaemonNote {
  readonly address: string | null;
  readonly database: string | null;
  /** The fingerprint of the files that it has checked and put in force. */
  readonly checked: string | null;
  /** The identity of the file that it has open; null where an older one left the note. */
  readonly file: string | null;
  /** The identity of its write-ahead log and when that was made, likewise: the log of a copied folder is another. */
  readonly log: string | null;
  readonly version: string;
}

/** For commands with another environment or a broken configuration. Holds no secret; without it all works as before. */
export function leaveDaemonNote({ path }: Pick<StorageSettings, 'path'>, note: DaemonNote): void {
  if (path === undefined) return;
  try {
    const file = noteBeside(path);
    writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    removeDaemonNote({ path });
  }
}

export function removeDaemonNote({ path }: Pick<StorageSettings, 'path'>): void {
  if (path === undefined) return;
  try {
    rmSync(noteBeside(path), { force: true });
  } catch {
    // A note of a daemon that is gone names an address at which nobody answers, or a daemon with another database.
  }
}

/** The note of a SQLite file's daemon; null where it left nothing, or nothing that can be read. */
export function readDaemonNote(path: string): Omit<DaemonNote, 'version'> | null {
  try {
    const note = parseJsonObject(readFileSync(noteBeside(path), 'utf8'));
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    return (
      note && {
        address: text(note.address),
        database: text(note.database),
        checked: text(note.checked),
        file: text(note.file),
        log: text(note.log),
      }
    );
  } catch {
    return null;
  }
}

/** Behind a symbolic link it is the same database; the path as given where no file is. */
export function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function noteBeside(path: string): string {
  return `${realPathOf(path)}-daemon`;
}
