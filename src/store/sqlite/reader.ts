import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { type HistoryQuery, type StoredState, setBackNote } from '../../ports/store.ts';
import { type Asking, askAtOnce, type Statement } from '../asking.ts';
import { findIncidents, findMessages, findSilences, loadState, parseOrders } from '../records.ts';
import { createHistory, type HistoryQuestion, readingsOf } from '../runs/history.ts';
import type { FoundDamage } from '../runs/stored-run.ts';
import { readStatement, tables } from '../tables.ts';
import { type Connection, connectForReading, openAsk } from './connection.ts';
import { asStorageError, closing, guardStorage } from './failure.ts';
import { removePartial } from './file-system.ts';
import { findDamage, refuseUnsound } from './integrity.ts';
import { requireSchema } from './migrate.ts';
import { findOrders } from './orders.ts';
import type { SqliteReader } from './port.ts';

/**
 * Opens a database for reading, whether or not a daemon writes to it meanwhile. Changes nothing.
 *
 * `now` is the wall clock; without it, `load` also returns silences that are over. `damaged` is called for each run that is left out. Throws
 * `StorageError` if there is no database, or if it is of another version of lowwater.
 */
export function openSqliteReader(options: {
  readonly path: string;
  readonly now?: () => number;
  readonly damaged?: (found: FoundDamage) => void;
}): SqliteReader {
  const { path, now = () => Number.MIN_SAFE_INTEGER, damaged = () => {} } = options;
  const db = connectForReading(path, requireSound);
  const reader = readFrom({ db, path, now, ownsWrites: false, damaged });
  return { ...reader, load: () => refuseDamaged(reader.load(), path), close: () => db.close() };
}

/** A check for `connectForReading`, used when the stored data is read. */
export function requireSound(db: Connection, path: string): void {
  requireSchema(db, path);
  refuseUnsound(db, path);
}

/** Throws if records are damaged: until the daemon sets them aside and reports them at its start, the rest might look like all of them. */
function refuseDamaged(stored: StoredState, path: string): StoredState {
  const first = stored.damagedRecords?.find(({ body }) => body !== null);
  if (first === undefined) return stored;
  const { source, key, reason } = first;
  throw new StorageError(
    'corrupt',
    `database ${path}: the ${source} ${key} cannot be read (${reason}): start the daemon, which sets it aside, or restore a backup`,
  );
}

export function readFrom(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  readonly ownsWrites: boolean;
  readonly damaged: (found: FoundDamage) => void;
}): Omit<SqliteReader, 'close'> {
  const { db, path, now, ownsWrites, damaged } = options;
  const ask = openAsk(db);
  const answer = ({ text, values }: Statement) => ask(text, values);
  const read = <Result>(asking: Asking<Result>): Result =>
    guardStorage(path, () => askAtOnce(asking, answer));
  const load = db.transaction(() => askAtOnce(loadState(now()), answer));
  return {
    ...openHistory(db, path, damaged),
    load: () => guardStorage(path, () => load.deferred()),
    incidents: (query) => read(findIncidents(query)),
    silences: (notOverAt) => read(findSilences(notOverAt)),
    messages: (limit, before = Number.MAX_SAFE_INTEGER) => read(findMessages(limit, before)),
    leftOrders: () => guardStorage(path, () => parseOrders(ask(findOrders))),
    backup: (file) => copyDatabase(db, file, !ownsWrites),
  };
}

/** A single statement, so that it sees the database at one moment. */
const findRuns = `SELECT tail AS data, tail_polls AS polls, tail_latest_at AS latestAt, (
    SELECT json_group_array(json_array(seq, earliest_at, latest_at)) FROM segment
    WHERE account_no = account.no AND latest_at >= $2 AND earliest_at < $3
  ) AS runs, (SELECT value FROM note WHERE name = '${setBackNote}') AS setBack FROM account WHERE id = $1`;
const findData = 'SELECT seq, data, polls FROM segment WHERE seq = $1';
const findNamed = 'SELECT 1 FROM segment INDEXED BY segment_by_time WHERE +seq = $1';

/** Reads stored polls. `damaged` is called for each run that is left out because it cannot be read. */
export function openHistory(
  db: Connection,
  path: string,
  damaged: (found: FoundDamage) => void,
): Pick<SqliteReader, 'polls' | 'readings' | 'readingBefore'> {
  const ask = openAsk(db);
  const history = createHistory(damaged, 1);
  /** Retention may have deleted a run since it was listed. An index that still names the run shows that the table lost it. */
  const findRun = (seq: number): readonly { readonly seq: number }[] => {
    const found = ask<{ seq: number }>(findData, [seq]);
    if (found.length === 0 && ask(findNamed, [seq]).length > 0)
      throw new Database.SqliteError(`row ${seq} missing from table segment`, 'SQLITE_CORRUPT');
    return found;
  };
  const answer = (question: HistoryQuestion): unknown => {
    if (!('account' in question)) return new Map(question.flatMap(findRun).map((row) => [row.seq, row]));
    const { account, since, until } = question;
    const [row] = ask<{ runs: string }>(findRuns, [account, since, until]);
    return row && { ...row, runs: JSON.parse(row.runs) };
  };
  const read = <Result>(asking: Asking<Result, HistoryQuestion>): Result =>
    guardStorage(path, () => askAtOnce(asking, answer));
  function* polls(query: HistoryQuery) {
    for (const portion of read(history.portions(query))) yield* read(portion);
  }
  return {
    polls,
    *readings(query) {
      for (const part of polls(query)) yield readingsOf(part);
    },
    readingBefore: (account, at) => read(history.readingBefore(account, at)),
  };
}

/** Pages copied per step. Between two steps a daemon goes on with its work. */
const pagesPerStep = 500;

/**
 * Copies a live database into one file that needs no other files. The copy gets its name only after it was checked. Throws `StorageError`
 * if a file of that name exists.
 *
 * `inOneStep` is for a process that does not write the database itself: else the copy would start again whenever the daemon commits.
 */
async function copyDatabase(db: Connection, file: string, inOneStep: boolean): Promise<void> {
  refuseTarget(file);
  guardStorage(db.name, () => tables.map((table) => db.prepare(readStatement(table))));
  const partial = `${file}.partial`;
  try {
    removePartial(partial);
    await db.backup(partial, { progress: () => (inOneStep ? 0x7fffffff : pagesPerStep) });
    finishCopy(partial, file);
    refuseTarget(file);
    renameSync(partial, file);
  } catch (error) {
    try {
      removePartial(partial);
    } catch {
      // If the file cannot be removed, it could not be made either.
    }
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
  const finding = closing(new Database(partial), (copy) => {
    copy.pragma('journal_mode = DELETE');
    return findDamage(copy);
  });
  if (finding !== undefined)
    throw new StorageError(
      'corrupt',
      `the copy for ${file} is damaged (${finding}): the database itself may be`,
    );
}
