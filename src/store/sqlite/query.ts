import { OperatorError } from '../../domain/operator-error.ts';
import type { Reading } from '../../domain/reading.ts';
import { isoText } from '../../domain/time.ts';
import type { HistoryQuery, SqlAnswer, SqlFile, SqlValue } from '../../ports/store.ts';
import { amountsOf, isClassic, shapeOf } from '../runs/decode-polls.ts';
import type { FoundDamage } from '../runs/stored-run.ts';
import { type Connection, connectForReading } from './connection.ts';
import { asStorageError, isSqliteError } from './failure.ts';
import type { SqliteReader } from './port.ts';
import { openHistory, requireSound } from './reader.ts';

/**
 * Opens a database for queries in SQL, whether or not a daemon writes to it meanwhile. Changes nothing: the connection refuses changes, and
 * other statements are refused before SQLite sees them. `damaged` is called for each run that is left out. Throws as `openReader` does.
 */
export function openSqlFile(path: string, damaged: (found: FoundDamage) => void = () => {}): SqlFile {
  const source = connectForReading(path, requireSound);
  try {
    // Temporary views are not stored anywhere. They are created before the connection starts to refuse changes.
    const db = connectForReading(path, (made) => {
      addPollTables(made, openHistory(source, path, damaged));
      made.exec(noteWithoutKeys);
    });
    const close = () => {
      for (const opened of [db, source]) opened.close();
    };
    return { ask: (sql) => ask(db, path, sql), close };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Hides keys in the table `note`: with one, anybody, an assistant too, could sign a link that acts. */
const noteWithoutKeys = `CREATE TEMP VIEW note AS
  SELECT name, iif(name GLOB '*link-keys' OR name GLOB '*-key', '[secret]', value) AS value FROM main.note`;

/** Matches `main.note`, in any quotes and with blanks or comments in between. */
const gap = '(?:\\s|--[^\\n]*\\n|/\\*(?:[^*]|\\*(?!/))*\\*/)*';
const noteItself = new RegExp(`\\bmain\\b["'\`\\]]?${gap}\\.${gap}["'\`[]?note\\b`, 'i');

function ask(db: Connection, path: string, sql: string): SqlAnswer {
  // A pragma may take effect while it is prepared, so SQLite is not even shown one.
  if (!isQuery(sql)) {
    return {
      kind: 'refused',
      reason: 'only read-only statements are allowed: SELECT, WITH, VALUES or EXPLAIN QUERY PLAN',
    };
  }
  if (noteItself.test(sql))
    return { kind: 'refused', reason: 'name the table "note" without "main." before it' };
  try {
    const statement = db.prepare<[], SqlValue[]>(sql);
    if (!statement.reader || !statement.readonly)
      return { kind: 'refused', reason: 'only read-only statements are allowed' };
    const columns = statement.columns().map(({ name }) => name);
    return { kind: 'answer', columns, rows: step(() => statement.raw().safeIntegers().iterate(), path) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', reason: 'one statement at a time' };
    if (isOfQuery(error)) return { kind: 'refused', reason: messageOf(error) };
    throw asStorageError(path, error);
  }
}

/** Whether the text, after any blanks and comments, begins with a word that begins queries. */
function isQuery(sql: string): boolean {
  const bare = sql.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
  return /^(?:EXPLAIN\s+QUERY\s+PLAN\s+)?(?:SELECT|WITH|VALUES)\b/i.test(bare);
}

/** An error while rows are read is the fault of the query (`json` of a text that is not JSON) or of the database. */
function* step(start: () => Iterable<SqlValue[]>, path: string): Generator<readonly SqlValue[]> {
  try {
    for (const row of start()) yield row.map(shorten);
  } catch (error) {
    if (isOfQuery(error)) throw new OperatorError(messageOf(error), { cause: error });
    if (error instanceof RangeError)
      throw new OperatorError('a parameter has no value here: write the value itself');
    // The database is not written, so there is no room for sorting or joining.
    if (isSqliteError(error, 'SQLITE_FULL'))
      throw new OperatorError(
        'the folder of temporary files is full: free some space there, name another by SQLITE_TMPDIR, or ask for less',
        { cause: error },
      );
    throw asStorageError(path, error);
  }
}

/** Whether the query names something that does not exist, or makes a value that is too long. */
function isOfQuery(error: unknown): boolean {
  return isSqliteError(error, 'SQLITE_ERROR') || isSqliteError(error, 'SQLITE_TOOBIG');
}

/** SQLite's integers have 64 bits, but a number holds only 53 of them. */
function shorten(value: SqlValue): SqlValue {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Makes stored polls available as tables of `db`: views `reading`, `balance` and `poll` of all accounts, and functions `reading_of`,
 * `balance_of` and `poll_of` of one account and optionally of a span (`since` included, `until` not). A view looks an account up by its
 * id, so that a condition on `account` decodes that account alone.
 *
 * `history` reads over another connection to the same database: a connection that is busy with a query answers no second one.
 */
function addPollTables(db: Connection, history: Pick<SqliteReader, 'readings' | 'polls'>): void {
  const define = <Part>(
    table: string,
    columns: readonly string[],
    read: (query: HistoryQuery) => Iterable<readonly Part[]>,
    rowsOf: (part: Part) => readonly (readonly (string | number)[])[],
  ) => {
    db.table(`${table}_of`, {
      columns: [...columns],
      parameters: ['of_account', 'since', 'until'],
      *rows(...span: unknown[]) {
        for (const parts of read(readSpan(span)))
          for (const part of parts) yield* rowsOf(part).map((row) => [...row]);
      },
    });
    db.exec(`CREATE TEMP VIEW ${table} AS
      SELECT a.id AS account, r.${columns.join(', r.')} FROM main.account a CROSS JOIN ${table}_of(a.id) r`);
  };
  define('reading', ['at', 'sms', 'voip', 'currency'], history.readings, readingRows);
  define('balance', ['at', 'balance', 'amount', 'currency'], history.readings, balanceRows);
  define('poll', ['at', 'outcome'], history.polls, ({ at, outcome }) => [[instantText(at), outcome]]);
}

function readSpan([account, since, until]: readonly unknown[]): HistoryQuery {
  if (typeof account !== 'string')
    throw new OperatorError("reading_of, balance_of and poll_of need an account: reading_of('otp')");
  return {
    account,
    since: readInstant(since) ?? Number.MIN_SAFE_INTEGER,
    until: readInstant(until) ?? Number.MAX_SAFE_INTEGER,
  };
}

/** Reads an instant in the text format of SQLite's functions, or in milliseconds as in the other tables; null for none. */
function readInstant(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const text = String(value);
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text.replace(' ', 'T')}Z`;
  const at = typeof value === 'number' ? value : Date.parse(text.length === 10 ? text : zoned);
  if (Number.isFinite(at)) return at;
  throw new OperatorError(
    `${text} is not a valid timestamp: write 2026-11-01, 2026-11-01 08:00:00 or datetime('now', '-7 days')`,
  );
}

/** UTC as SQLite's `datetime` writes it, with milliseconds: texts sort as the instants do. */
function instantText(at: number): string {
  return isoText(at).slice(0, 23).replace('T', ' ');
}

/** No row for a reading with balances other than `sms` and `voip`: those are in the view `balance`. */
function readingRows(reading: Reading): (string | number)[][] {
  const amounts = amountsOf(reading).map((micros) => micros / 1e6);
  return isClassic(shapeOf(reading)) ? [[instantText(reading.at), ...amounts, reading.currency]] : [];
}

function balanceRows(reading: Reading): (string | number)[][] {
  const { ids, currency } = shapeOf(reading);
  const at = instantText(reading.at);
  return amountsOf(reading).map((micros, place) => [at, ids[place] ?? '', micros / 1e6, currency]);
}
