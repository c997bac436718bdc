import type { CsvError } from 'csv-parse';
import { type Micros, parseMicros } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { Balance, PollRecord, Reading } from '../domain/reading.ts';

/** The file cannot be used; the message names the line and says what is allowed. */
export class HistoryFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HistoryFileError';
  }
}

/** Where the readings of one account are kept, in any order, and read from in that of time. */
export interface PollShelf {
  append(poll: PollRecord): void;
  /** From `since` (included) to `until` (excluded), oldest first. */
  polls(since: number, until: number): Iterable<PollRecord>;
}

/** The columns that are no balances; `account` may be missing. */
const ownColumns = ['at', 'currency', 'account'] as const;

/** ISO 8601 with a zone; seconds and their fractions may be missing. */
const instantPattern = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** A year with a digit too many would be replayed hour by hour. */
const minYear = 1970;
const maxYear = 2100;
/** Longer ones are no currency; the provider's answers are held to less. */
const maxCurrencyLength = 16;
const maxQuoteLength = 40;
/** More than any record of balances needs: a quote that is never closed must not gather the whole file. */
const maxRecord = 10_000;

/** The balances that the configured accounts have, each once. `isMixed`: not every account has all of them. */
export interface BalanceColumns {
  readonly balances: readonly Balance[];
  readonly isMixed: boolean;
}

/**
 * Reads readings from CSV as `history --csv` writes it (RFC 4180; the columns in any order; LF or CRLF; a
 * byte order mark and quotes are fine): `at`, the balances, `currency` and, where the file holds several accounts,
 * `account`. Text comes in pieces of any size, so that a file of a million lines is never in memory as one.
 *
 * Gives a shelf of readings by account; the account is '' where the file has no such column. Throws
 * `HistoryFileError`, which names the line.
 */
export async function readHistoryCsv<Shelf extends PollShelf>(
  pieces: AsyncIterable<string>,
  newShelf: () => Shelf,
  columns: BalanceColumns,
  onPiece: (characters: number) => void = () => undefined,
): Promise<Map<string, Shelf>> {
  // Loaded where a file is read: no other command needs it.
  const { CsvError, parse } = await import('csv-parse');
  const table = new HistoryTable(newShelf, columns);
  let line = 1;
  const parser = parse({
    bom: true,
    max_record_size: maxRecord,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    on_record: (cells: string[], { lines }) => {
      table.take(cells, line);
      line = lines + 1;
      return null;
    },
  });
  const ended = new Promise<void>((resolve, reject) => parser.on('end', resolve).on('error', reject));
  // It is waited for below, whenever it fails.
  ended.catch(() => undefined);
  // Nothing comes out of it: every record is taken as it is found.
  parser.resume();
  try {
    for await (const piece of pieces) {
      parser.write(piece);
      onPiece(piece.length);
      if (parser.destroyed) break;
    }
    if (!parser.destroyed) parser.end();
    await ended;
  } catch (error) {
    throw error instanceof CsvError ? new HistoryFileError(`line ${line}: ${explain(error)}`) : error;
  }
  return table.finish();
}

function explain(error: CsvError): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE') return `the line has more than ${maxRecord} characters`;
  return 'a quote is not closed, or stands inside a field';
}

/** Where each column stands. */
interface Places extends Readonly<Record<(typeof ownColumns)[number], number>> {
  readonly balances: readonly BalanceColumn[];
}

interface BalanceColumn {
  readonly balance: Balance;
  readonly place: number;
  /** The last amount: balances often stay as they are for many lines. */
  known: { readonly text: string; readonly micros: Micros };
}

class HistoryTable<Shelf extends PollShelf> {
  readonly #newShelf: () => Shelf;
  readonly #shelves = new Map<string, Shelf>();
  #places: Places | null = null;
  #width = 0;
  readonly #allowed: string;
  readonly #columns: BalanceColumns;

  constructor(newShelf: () => Shelf, columns: BalanceColumns) {
    this.#newShelf = newShelf;
    this.#columns = columns;
    this.#allowed = `the header is at,${columns.balances.join()},currency and optionally account`;
  }

  take(cells: readonly string[], line: number): void {
    if (cells.length === 1 && cells[0] === '') return;
    if (this.#places === null) this.#takeHeader(cells, line);
    else this.#takeReading(cells, line, this.#places);
  }

  finish(): Map<string, Shelf> {
    if (this.#places === null) {
      throw new HistoryFileError(
        `the file is empty; it needs the header at,${this.#columns.balances.join()},currency`,
      );
    }
    return this.#shelves;
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const names = cells.map((cell) => cell.trim().toLowerCase());
    const known = [...ownColumns.slice(0, 1), ...this.#columns.balances, ...ownColumns.slice(1)];
    const unknown = cells.find((_, index) => !known.includes(names[index] ?? ''));
    const allowed = this.#allowed;
    if (unknown !== undefined) {
      const meant = nearestWord(unknown.trim().toLowerCase(), known);
      const hint = meant === null ? allowed : `did you mean "${meant}"? ${allowed}`;
      throw new HistoryFileError(`line ${line}: no column is called ${quote(unknown)}; ${hint}`);
    }
    const required = this.#columns.isMixed ? ownColumns : known;
    const missing = required.find((column) => column !== 'account' && !names.includes(column));
    if (missing !== undefined) {
      throw new HistoryFileError(`line ${line}: the column "${missing}" is missing; ${allowed}`);
    }
    if (new Set(names).size < names.length) {
      throw new HistoryFileError(`line ${line}: a column stands there twice; ${allowed}`);
    }
    this.#width = names.length;
    this.#places = {
      at: names.indexOf('at'),
      currency: names.indexOf('currency'),
      account: names.indexOf('account'),
      balances: this.#columns.balances.map((balance) => ({
        balance,
        place: names.indexOf(balance),
        known: { text: '0', micros: 0 },
      })),
    };
  }

  #takeReading(cells: readonly string[], line: number, places: Places): void {
    if (cells.length !== this.#width) {
      throw new HistoryFileError(
        `line ${line}: ${cells.length} fields, the header has ${this.#width}; a field with a comma needs quotes`,
      );
    }
    const cell = (column: (typeof ownColumns)[number]): string => cells[places[column]] ?? '';
    const balances: Record<Balance, Micros> = {};
    for (const column of places.balances) {
      const text = cells[column.place] ?? '';
      // Accounts of another provider have other balances.
      if (text !== '' || !this.#columns.isMixed) balances[column.balance] = readMoney(column, text, line);
    }
    const reading: Reading = {
      at: readAt(cell('at'), line),
      balances,
      currency: readCurrency(cell('currency'), line),
    };
    const account = places.account < 0 ? '' : plain(cell('account'));
    if (places.account >= 0 && account === '')
      throw new HistoryFileError(`line ${line}: no account is named`);
    this.#shelfOf(account).append({ at: reading.at, outcome: 'ok', reading });
  }

  #shelfOf(account: string): Shelf {
    const known = this.#shelves.get(account);
    if (known !== undefined) return known;
    const shelf = this.#newShelf();
    this.#shelves.set(account, shelf);
    return shelf;
  }
}

function readMoney(column: BalanceColumn, text: string, line: number): Micros {
  const { known, balance } = column;
  if (known.text === text) return known.micros;
  const micros = parseMicros(text.trim());
  if (micros !== null) {
    column.known = { text, micros };
    return micros;
  }
  const allowed = 'write it with a point and without separators, such as -18.383, between ±9007199254';
  throw new HistoryFileError(`line ${line}: ${balance} ${quote(text)} is not an amount; ${allowed}`);
}

function readAt(text: string, line: number): number {
  const trimmed = text.trim();
  const match = instantPattern.exec(trimmed);
  const at = match === null ? Number.NaN : Date.parse(trimmed.replace(',', '.'));
  if (Number.isFinite(at) && match !== null && isDate(match)) {
    const year = Number(match[1]);
    if (year >= minYear && year <= maxYear) return at;
    throw new HistoryFileError(
      `line ${line}: the year ${year} of at ${quote(text)} must be from ${minYear} to ${maxYear}`,
    );
  }
  throw new HistoryFileError(
    `line ${line}: at ${quote(text)} is not a valid timestamp; write ISO 8601 with a zone, such as 2026-11-20T08:00:00Z or 2026-11-20T16:00+08:00`,
  );
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDate([, year = '', month = '', day = '']: RegExpExecArray): boolean {
  return Number(day) <= 28 || Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

function readCurrency(text: string, line: number): string {
  const currency = plain(text);
  if (currency !== '' && currency.length <= maxCurrencyLength) return currency;
  throw new HistoryFileError(
    `line ${line}: currency ${quote(text)} must have 1 to ${maxCurrencyLength} characters, such as CNY`,
  );
}

/** Without the apostrophe that exports put before what a spreadsheet would take for a formula. */
function plain(text: string): string {
  return text.trim().replace(/^'(?=[=+\-@])/, '');
}

function quote(text: string): string {
  return JSON.stringify(text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text);
}
