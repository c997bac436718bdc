import { hourMs } from '../domain/duration.ts';
import { type Micros, parseMicros } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { Balance, PollRecord, Reading } from '../domain/reading.ts';
import { HistoryFileError, readCsv } from './read-csv.ts';

/** Where the readings of one account are kept, in any order, and read from in that of time. */
export interface PollShelf {
  append(poll: PollRecord): void;
  /** Whether each was later than all before it: then nothing needs to be looked through for what is repeated. */
  readonly ascends: boolean;
  /** From `since` (included) to `until` (excluded), oldest first, many at a time. */
  polls(since: number, until: number): Iterable<readonly PollRecord[]>;
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
  const table = new HistoryTable(newShelf, columns);
  await readCsv(pieces, { take: (cells, line) => table.take(cells, line), onPiece });
  return table.finish();
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
  readonly #instants = new Instants();
  /** The last line's: most lines have the same. */
  #currency: { readonly text: string; readonly currency: string } | null = null;
  #last: { readonly text: string | null; readonly shelf: Shelf } | null = null;
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
    const balances: Record<Balance, Micros> = {};
    for (const column of places.balances) {
      const text = cells[column.place] ?? '';
      // Accounts of another provider have other balances.
      if (text !== '' || !this.#columns.isMixed) balances[column.balance] = readMoney(column, text, line);
    }
    const reading: Reading = {
      at: this.#instants.read(cells[places.at] ?? '', line),
      balances,
      currency: this.#currencyOf(cells[places.currency] ?? '', line),
    };
    const shelf = this.#shelfOf(places.account < 0 ? null : (cells[places.account] ?? ''), line);
    shelf.append({ at: reading.at, outcome: 'ok', reading });
  }

  #currencyOf(text: string, line: number): string {
    if (this.#currency?.text !== text)
      this.#currency = { text, currency: detached(readCurrency(text, line)) };
    return this.#currency.currency;
  }

  /** `text` is null where the file has no column for accounts. */
  #shelfOf(text: string | null, line: number): Shelf {
    if (this.#last?.text === text) return this.#last.shelf;
    const account = text === null ? '' : plain(text);
    if (text !== null && account === '') throw new HistoryFileError(`line ${line}: no account is named`);
    const shelf = this.#shelves.get(account) ?? this.#newShelf();
    this.#shelves.set(detached(account), shelf);
    this.#last = { text, shelf };
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

/** What follows the hour in what `history --csv` writes. */
const restOfHour = /^:[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;
const hourLength = '2026-11-20T08'.length;

/** Reads instants, faster in the hour of the last one. */
class Instants {
  #hour = 'none';
  #startsAt = 0;

  read(text: string, line: number): number {
    const isQuick = restOfHour.test(text.slice(hourLength));
    if (isQuick && text.startsWith(this.#hour)) {
      const seconds =
        60 * Number(text.slice(hourLength + 1, hourLength + 3)) + Number(text.slice(hourLength + 4, -1));
      return this.#startsAt + Math.round(1000 * seconds);
    }
    const at = readAt(text, line);
    if (isQuick) {
      this.#hour = detached(text.slice(0, hourLength));
      this.#startsAt = Math.floor(at / hourMs) * hourMs;
    }
    return at;
  }
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

/** A copy: a part of a text keeps the whole text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}
