import { type Micros, parseMicros } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { Reading } from '../domain/reading.ts';
import { CsvLines, type CsvRow } from './csv-lines.ts';

/** The file cannot be used; the message names the line and says what is allowed. */
export class HistoryFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HistoryFileError';
  }
}

const columns = ['at', 'sms', 'voip', 'currency', 'account'] as const;

type Column = (typeof columns)[number];

/** ISO 8601 with a zone; seconds and their fractions may be missing. */
const instantPattern = /^(\d{4})-(\d\d)-(\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Longer ones are no currency; the provider's answers are held to less. */
const longestCurrency = 16;
const longestQuote = 40;

/**
 * Reads readings from CSV as `history --csv` writes it (RFC 4180; the columns in any order; LF or CRLF; a
 * byte order mark and quotes are fine): `at,sms,voip,currency` and, where the file holds several accounts,
 * `account`. Text comes in pieces of any size, so that a file of a million lines is never in memory as one.
 *
 * Gives the readings by account, oldest first, whatever order they stand in; the account is '' where the file
 * has no such column. Throws `HistoryFileError`, which names the line.
 */
export async function readHistoryCsv(
  pieces: AsyncIterable<string>,
  onPiece: (characters: number) => void = () => undefined,
): Promise<Map<string, Reading[]>> {
  const table = new HistoryTable();
  const lines = new CsvLines((row) => table.take(row));
  for await (const piece of pieces) {
    lines.push(piece);
    onPiece(piece.length);
  }
  lines.end();
  return table.finish();
}

class HistoryTable {
  readonly #readings = new Map<string, Reading[]>();
  #places: Readonly<Record<Column, number>> | null = null;
  #width = 0;
  /** Balances often stay as they are for many lines. */
  readonly #known = { sms: { text: '0', micros: 0 }, voip: { text: '0', micros: 0 } };

  take(row: CsvRow): void {
    if (row.problem !== null) throw new HistoryFileError(`line ${row.line}: ${row.problem}`);
    if (row.cells.length === 1 && row.cells[0] === '') return;
    if (this.#places === null) this.#takeHeader(row);
    else this.#takeReading(row, this.#places);
  }

  finish(): Map<string, Reading[]> {
    if (this.#places === null) {
      throw new HistoryFileError('the file is empty; it needs the header at,sms,voip,currency');
    }
    for (const readings of this.#readings.values()) sortByTime(readings);
    return this.#readings;
  }

  #takeHeader({ cells, line }: CsvRow): void {
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

  #takeReading({ cells, line }: CsvRow, places: Readonly<Record<Column, number>>): void {
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
    const readings = this.#readings.get(account);
    if (readings === undefined) this.#readings.set(account, [reading]);
    else readings.push(reading);
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
  if (currency !== '' && currency.length <= longestCurrency) return currency;
  throw new HistoryFileError(
    `line ${line}: currency ${quote(text)} must have 1 to ${longestCurrency} characters, such as CNY`,
  );
}

/** Without the apostrophe that exports put before what a spreadsheet would take for a formula. */
function plain(text: string): string {
  return text.trim().replace(/^'(?=[=+\-@])/, '');
}

function quote(text: string): string {
  return JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);
}

/** Exports come newest first as well; only those are sorted that are not in order. */
function sortByTime(readings: Reading[]): void {
  const inOrder = readings.every(
    (reading, index) => index === 0 || (readings[index - 1]?.at ?? 0) <= reading.at,
  );
  if (!inOrder) readings.sort((left, right) => left.at - right.at);
}
