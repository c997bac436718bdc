import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseJsonObject } from '../../domain/json.ts';
import type { StorageSettings } from '../../domain/settings.ts';

/** The note that a daemon leaves next to its SQLite file while it runs. */
export interface DaemonNote {
  readonly address: string | null;
  readonly database: string | null;
  /** The fingerprint of the configuration files that it has checked and uses. */
  readonly checked: string | null;
  /** The identity of the database file that it has open; null if an older program left the note. */
  readonly file: string | null;
  /** The identity and creation time of its write-ahead log; null as for `file`. The log of a copied folder has another identity. */
  readonly log: string | null;
  readonly version: string;
}

/** The note is for commands with another environment or a broken configuration. It holds no secret. Without it everything works as before. */
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
    // The note of a daemon that is gone names an address where nobody answers, or another database's daemon does.
  }
}

/** The note of a SQLite file's daemon; null if there is none, or none that can be read. */
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

/** The path without symbolic links, which lead to the same database; the path as given if there is no file. */
export function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function noteBeside(path: string): string {
  return `${realPathOf(path)}-daemon`;
}
