/** One record of a CSV text, with the line on which it begins. A record that is no CSV says why. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
  readonly problem: string | null;
}

const byteOrderMark = '\ufeff';

/** More than any record of balances needs: a quote that is never closed must not gather the whole file. */
const longestRecord = 10_000;

/**
 * Splits CSV (RFC 4180) into records: fields in double quotes may hold commas, line breaks and doubled
 * quotes; lines end with LF or CRLF. Text is pushed in pieces of any size.
 */
export class CsvLines {
  readonly #take: (row: CsvRow) => void;
  #rest = '';
  #line = 1;
  #atStart = true;

  constructor(take: (row: CsvRow) => void) {
    this.#take = take;
  }

  push(piece: string): void {
    let text = this.#rest + piece;
    if (this.#atStart && text !== '') {
      if (text.startsWith(byteOrderMark)) text = text.slice(1);
      this.#atStart = false;
    }
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      const record = text.slice(from, end);
      if (isOpen(record) && record.length <= longestRecord) continue;
      this.#takeRecord(record);
      from = end + 1;
    }
    this.#rest = text.slice(from);
    if (this.#rest.length > 2 * longestRecord)
      this.#refuse(`the line has more than ${longestRecord} characters`);
  }

  /** The last line may have no end. */
  end(): void {
    if (this.#rest !== '') this.#takeRecord(this.#rest);
    this.#rest = '';
  }

  #refuse(problem: string): void {
    this.#take({ cells: [], line: this.#line, problem });
  }

  #takeRecord(record: string): void {
    const line = this.#line;
    const text = record.endsWith('\r') ? record.slice(0, -1) : record;
    if (!text.includes('"')) {
      this.#line += 1;
      this.#take({ cells: text.split(','), line, problem: null });
      return;
    }
    this.#line += record.split('\n').length;
    const cells = splitQuoted(text);
    if (cells === null)
      this.#take({ cells: [], line, problem: 'a quote is not closed, or stands inside a field' });
    else this.#take({ cells, line, problem: null });
  }
}

/** True while a quoted field goes on over the line's end: quotes come in pairs otherwise. */
function isOpen(record: string): boolean {
  if (!record.includes('"')) return false;
  return (record.split('"').length - 1) % 2 === 1;
}

const quotedField = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** The fields of a record with quotes; null when the quotes are not as they should be. */
function splitQuoted(record: string): string[] | null {
  const cells: string[] = [];
  quotedField.lastIndex = 0;
  for (;;) {
    const match = quotedField.exec(record);
    if (match === null) return null;
    const [, quoted, bare = '', separator] = match;
    cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (separator === '') return cells;
  }
}
