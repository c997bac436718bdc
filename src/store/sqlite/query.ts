import { OperatorError } from '../../domain/operator-error.ts';
import type { SqlAnswer, SqlFile, SqlValue } from '../../ports/store.ts';
import type { FoundDamage } from '../runs/damaged-runs.ts';
import { type Connection, connectForReading } from './connection.ts';
import { asStorageError, guardStorage, isSqliteError } from './failure.ts';
import { requireSchema } from './migrate.ts';
import { addPollTables } from './poll-tables.ts';
import { openHistory } from './reader.ts';

/**
 * Opens a database to ask it in SQL, whether or not a daemon writes it meanwhile. Changes nothing: the connection refuses to,
 * and what is not a query is refused before SQLite sees it. `damaged` hears of each run that is left out. Throws `StorageError` as
 * `openReader` does.
 */
export function openSqlFile(path: string, damaged: (found: FoundDamage) => void = () => {}): SqlFile {
  const opened: Connection[] = [];
  const close = () => {
    for (const db of opened) db.close();
  };
  try {
    for (const _ of ['for the query', 'for the polls that it reads']) opened.push(connectForReading(path));
    const [db, source] = opened;
    if (db === undefined || source === undefined) throw new TypeError('two connections were opened');
    guardStorage(path, () => {
      requireSchema(db, path);
      // Views that this connection alone sees are written nowhere, and the switch knows no difference.
      db.pragma('query_only = OFF');
      addPollTables(db, openHistory(source, path, damaged));
      db.pragma('query_only = ON');
    });
    return { ask: (sql) => ask(db, path, sql), close };
  } catch (error) {
    close();
    throw error;
  }
}

function ask(db: Connection, path: string, sql: string): SqlAnswer {
  // A pragma may take effect while it is prepared, so SQLite is not even shown one.
  if (!isQuery(sql)) {
    return {
      kind: 'refused',
      reason: 'only read-only statements are allowed: SELECT, WITH, VALUES or EXPLAIN QUERY PLAN',
    };
  }
  try {
    const statement = db.prepare<[], SqlValue[]>(sql);
    if (!statement.reader || !statement.readonly)
      return { kind: 'refused', reason: 'only read-only statements are allowed' };
    const columns = statement.columns().map(({ name }) => name);
    return { kind: 'answer', columns, rows: step(() => statement.raw().safeIntegers().iterate(), path) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', reason: 'one statement at a time' };
    if (isSqliteError(error, 'SQLITE_ERROR')) return { kind: 'refused', reason: messageOf(error) };
    throw asStorageError(path, error);
  }
}

/** Begins with a word that begins queries, after whatever space and comments. */
function isQuery(sql: string): boolean {
  const bare = sql.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
  return /^(?:EXPLAIN\s+QUERY\s+PLAN\s+)?(?:SELECT|WITH|VALUES)\b/i.test(bare);
}

/** What the rows bring to light is the query's fault (`json` of what is none) or the database's. */
function* step(start: () => Iterable<SqlValue[]>, path: string): Generator<readonly SqlValue[]> {
  try {
    for (const row of start()) yield row.map(shorten);
  } catch (error) {
    if (isSqliteError(error, 'SQLITE_ERROR')) throw new OperatorError(messageOf(error), { cause: error });
    throw asStorageError(path, error);
  }
}

/** SQLite's integers have 64 bits: a number holds those of 53 alone. */
function shorten(value: SqlValue): SqlValue {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
