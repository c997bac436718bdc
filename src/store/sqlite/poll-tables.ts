import { isoText } from '../../domain/moment.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Reading } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import { amountsOf, isClassic, shapeOf } from '../runs/run-format.ts';
import type { Connection } from './connection.ts';
import type { SqliteReader } from './port.ts';

/**
 * Makes stored polls tables of `db`: views `reading`, `balance` and `poll` of all accounts, and functions `reading_of`, `balance_of` and
 * `poll_of` of one account and, where given, of a span (`since` included, `until` not). A view looks an account up by its id, so
 * that a condition on `account` decodes that account alone.
 *
 * `history` reads over another connection to the same database: one that is busy with a query answers no second one.
 */
export function addPollTables(db: Connection, history: Pick<SqliteReader, 'readings' | 'polls'>): void {
  const parameters = ['of_account', 'since', 'until'];
  db.table('reading_of', {
    columns: ['at', 'sms', 'voip', 'currency'],
    parameters,
    *rows(...span) {
      for (const readings of history.readings(readSpan(span))) yield* readings.flatMap(readingRows);
    },
  });
  db.table('balance_of', {
    columns: ['at', 'balance', 'amount', 'currency'],
    parameters,
    *rows(...span) {
      for (const readings of history.readings(readSpan(span))) yield* readings.flatMap(balanceRows);
    },
  });
  db.table('poll_of', {
    columns: ['at', 'outcome'],
    parameters,
    *rows(...span) {
      for (const polls of history.polls(readSpan(span)))
        for (const { at, outcome } of polls) yield [instantText(at), outcome];
    },
  });
  db.exec(`
    CREATE TEMP VIEW reading AS
      SELECT a.id AS account, r.at, r.sms, r.voip, r.currency FROM main.account a CROSS JOIN reading_of(a.id) r;
    CREATE TEMP VIEW balance AS
      SELECT a.id AS account, b.at, b.balance, b.amount, b.currency FROM main.account a CROSS JOIN balance_of(a.id) b;
    CREATE TEMP VIEW poll AS
      SELECT a.id AS account, p.at, p.outcome FROM main.account a CROSS JOIN poll_of(a.id) p`);
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

/** As SQLite's own functions write and read instants, or milliseconds as the other tables hold them; null for none. */
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

/** UTC as SQLite's `datetime` writes it, with milliseconds: texts compare as the instants do. */
function instantText(at: number): string {
  return isoText(at).slice(0, 23).replace('T', ' ');
}

/** None for a reading of other balances than `sms` and `voip`: those stand in `balance`. */
function readingRows(reading: Reading): (string | number)[][] {
  const amounts = amountsOf(reading).map((micros) => micros / 1e6);
  return isClassic(shapeOf(reading)) ? [[instantText(reading.at), ...amounts, reading.currency]] : [];
}

function balanceRows(reading: Reading): (string | number)[][] {
  const { ids, currency } = shapeOf(reading);
  const at = instantText(reading.at);
  return amountsOf(reading).map((micros, place) => [at, ids[place] ?? '', micros / 1e6, currency]);
}
