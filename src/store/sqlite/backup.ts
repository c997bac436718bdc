import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { type Connection, wordFinding } from './connection.ts';
import { asStorageError } from './failure.ts';

/** So many pages at a time; between two steps a daemon goes on with its work. */
const pagesPerStep = 500;

/**
 * Copies a live database into one file that needs no other files, checks the copy and only then gives it
 * its name. Throws `StorageError` when there is a file of that name already.
 *
 * `inOneStep` is for a process that does not write the database itself: the copy would start again whenever
 * the daemon commits.
 */
export async function copyDatabase(
  db: Connection,
  file: string,
  options: { readonly inOneStep: boolean },
): Promise<void> {
  refuseTarget(file);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    await db.backup(partial, { progress: () => (options.inOneStep ? 0x7fffffff : pagesPerStep) });
    finishCopy(partial, file);
    refuseTarget(file);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw asStorageError(file, error);
  }
}

function refuseTarget(file: string): void {
  if (existsSync(file))
    throw new StorageError(
      'other',
      `${file} exists already: a backup never overwrites a file, name another one`,
    );
  const directory = dirname(file);
  if (!existsSync(directory))
    throw new StorageError('other', `the directory ${directory} for the backup does not exist: create it`);
}

function finishCopy(partial: string, file: string): void {
  const copy = new Database(partial);
  try {
    copy.pragma('journal_mode = DELETE');
    const finding = String(copy.pragma('integrity_check(1)', { simple: true }));
    if (finding !== 'ok')
      throw new StorageError(
        'corrupt',
        `the copy for ${file} is damaged (${wordFinding(finding)}): the database itself may be`,
      );
  } finally {
    copy.close();
  }
}
