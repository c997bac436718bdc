import type { CsvError } from 'csv-parse';
import { type Micros, parseMicros } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';

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

const columns = ['at', 'sms', 'voip', 'currency', 'account'] as const;

type Column = (typeof columns)[number];

/** ISO 8601 with a zone; seconds and their fractions may be missing. */
const instantPattern = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Longer ones are no currency; the provider's answers are held to less. */
const maxCurrencyLength = 16;
const maxQuoteLength = 40;
/** More than any record of balances needs: a quote that is never closed must not gather the whole file. */
const maxRecord = 10_000;

/**
 * Reads readings from CSV as `history --csv` writes it (RFC 4180; the columns in any order; LF or CRLF; a
 * byte order mark and quotes are fine): `at,sms,voip,currency` and, where the file holds several accounts,
 * `account`. Text comes in pieces of any size, so that a file of a million lines is never in memory as one.
 *
 * Gives a shelf of readings by account; the account is '' where the file has no such column. Throws
 * `HistoryFileError`, which names the line.
 */
export async function readHistoryCsv<Shelf extends PollShelf>(
  pieces: AsyncIterable<string>,
  newShelf: () => Shelf,
  onPiece: (characters: number) => void = () => undefined,
): Promise<Map<string, Shelf>> {
  // Loaded where a file is read: no other command needs it.
  const { CsvError, parse } = await import('csv-parse');
  const table = new HistoryTable(newShelf);
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

class HistoryTable<Shelf extends PollShelf> {
  readonly #newShelf: () => Shelf;
  readonly #shelves = new Map<string, Shelf>();
  #places: Readonly<Record<Column, number>> | null = null;
  #width = 0;
  /** Balances often stay as they are for many lines. */
  readonly #known = { sms: { text: '0', micros: 0 }, voip: { text: '0', micros: 0 } };

  constructor(newShelf: () => Shelf) {
    this.#newShelf = newShelf;
  }

  take(cells: readonly string[], line: number): void {
    if (cells.length === 1 && cells[0] === '') return;
    if (this.#places === null) this.#takeHeader(cells, line);
    else this.#takeReading(cells, line, this.#places);
  }

  finish(): Map<string, Shelf> {
    if (this.#places === null) {
      throw new HistoryFileError('the file is empty; it needs the header at,sms,voip,currency');
    }
    return this.#shelves;
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const names = cells.map((cell) => cell.trim().toLowerCase());
    const unknown = cells.find((_, index) => !columns.some((column) => column === names[index]));
    const allowed = 'the header is at,sms,voip,currency and optionally account';
    if (unknown !== undefined) {
      const meant = nearestWord(unknown.trim().toLowerCase(), columns);
      const hint = meant === null ? allowed : `did you mean "${meant}"? ${allowed}`;
      throw new HistoryFileError(`line ${line}: no column is called ${quote(unknown)}; ${hint}`);
    }
    const place = (column: Column): number => names.indexOf(column);
    const missing = columns.find((column) => column !== 'account' && place(column) < 0);
    if (missing !== undefined) {
      throw new HistoryFileError(`line ${line}: the column "${missing}" is missing; ${allowed}`);
    }
    if (new Set(names).size < names.length) {
      throw new HistoryFileError(`line ${line}: a column stands there twice; ${allowed}`);
    }
    this.#width = names.length;
    this.#places = {
      at: place('at'),
      sms: place('sms'),
      voip: place('voip'),
      currency: place('currency'),
      account: place('account'),
    };
  }

  #takeReading(cells: readonly string[], line: number, places: Readonly<Record<Column, number>>): void {
    if (cells.length !== this.#width) {
      throw new HistoryFileError(
        `line ${line}: ${cells.length} fields, the header has ${this.#width}; a field with a comma needs quotes`,
      );
    }
    const cell = (column: Column): string => cells[places[column]] ?? '';
    const reading: Reading = {
      at: readAt(cell('at'), line),
      sms: this.#readMoney('sms', cell('sms'), line),
      voip: this.#readMoney('voip', cell('voip'), line),
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

  #readMoney(column: 'sms' | 'voip', text: string, line: number): Micros {
    const known = this.#known[column];
    if (known.text === text) return known.micros;
    const micros = parseMicros(text.trim());
    if (micros !== null) {
      this.#known[column] = { text, micros };
      return micros;
    }
    const allowed = 'write it with a point and without separators, such as -18.383, between ±9007199254';
    throw new HistoryFileError(`line ${line}: ${column} ${quote(text)} is no amount; ${allowed}`);
  }
}

function readAt(text: string, line: number): number {
  const trimmed = text.trim();
  const match = instantPattern.exec(trimmed);
  const at = match === null ? Number.NaN : Date.parse(trimmed.replace(',', '.'));
  if (Number.isFinite(at) && match !== null && isDate(match)) return at;
  throw new HistoryFileError(
    `line ${line}: at ${quote(text)} is no instant; write ISO 8601 with a zone, such as 2026-11-20T08:00:00Z or 2026-11-20T16:00+08:00`,
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
