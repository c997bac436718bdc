import { pipeline } from 'node:stream/promises';
import type { CsvError } from 'csv-parse';
import { CommandError } from '../command.ts';

/** The file cannot be used; the message names the line and says what is allowed. */
export class HistoryFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HistoryFileError';
  }
}

/** The error to throw for a file that could not be read. */
export function explainFileError(error: unknown, name: string): unknown {
  if (error instanceof HistoryFileError) return new CommandError(`${name}: ${error.message}`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  if (code === 'ENOENT') return new CommandError(`${name}: there is no such file`);
  if (code === 'EISDIR') return new CommandError(`${name} is a folder, a CSV file is needed`);
  return code === null ? error : new CommandError(`${name} cannot be read: ${code}`);
}

/** More than any record of balances needs: a quote that is never closed must not collect the whole file. */
const maxRecord = 10_000;
const byteOrderMark = '\uFEFF';
/** Matches the beginning of a compressed file, a workbook, or a text in another encoding. */
const noText = /^.{0,3}(?:[^\P{Cc}\s]|\uFFFD)/u;

interface CsvSink {
  /** `line`: where the record begins. The cells are valid until the next record. */
  readonly take: (cells: readonly string[], line: number) => void;
  readonly onPiece: (characters: number) => void;
  /** Default: a comma. */
  readonly separator?: string;
}

/**
 * Reads CSV (RFC 4180; LF or CRLF; a byte order mark is fine) in pieces of any size. Plain lines are split at their separators.
 * From the first line with a quote, or with more characters than any record has, a parser continues at a tenth of the speed.
 * Throws `HistoryFileError`.
 */
export async function readCsv(
  pieces: AsyncIterable<string>,
  { take, onPiece, separator = ',' }: CsvSink,
): Promise<void> {
  const plain = new PlainLines(take, separator);
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      onPiece(step.value.length);
      if (plain.add(step.value)) continue;
      const rest = textFrom(plain.rest, { iterator, onPiece });
      await readQuoted(rest, { take, separator, firstLine: plain.line });
      return;
    }
    plain.end();
  } finally {
    // Closes a file that was not read to its end.
    await iterator.return?.();
  }
}

async function* textFrom(
  rest: string,
  { iterator, onPiece }: { readonly iterator: AsyncIterator<string>; readonly onPiece: CsvSink['onPiece'] },
): AsyncGenerator<string> {
  yield rest;
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
    yield step.value;
    onPiece(step.value.length);
  }
}

class PlainLines {
  /** The number of the line that `rest` begins with. */
  line = 1;
  /** Text that is not split yet: an incomplete line, or one that is not plain and everything after it. */
  rest = '';
  readonly #take: CsvSink['take'];
  readonly #separator: string;
  readonly #cells: string[] = [];

  constructor(take: CsvSink['take'], separator: string) {
    this.#take = take;
    this.#separator = separator;
  }

  /** Splits plain lines. Returns false at a line that it cannot split. */
  add(piece: string): boolean {
    const isBegin = this.line === 1 && this.rest === '';
    if (isBegin && noText.test(piece))
      throw new HistoryFileError('it is no text in UTF-8: unpack it, or save it as "CSV UTF-8"');
    const text = this.rest + (isBegin && piece.startsWith(byteOrderMark) ? piece.slice(1) : piece);
    const quoteAt = text.indexOf('"');
    const plainTo = quoteAt < 0 ? text.length : quoteAt;
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0 && end < plainTo; end = text.indexOf('\n', start)) {
      if (end - start > maxRecord) break;
      this.#split(text, start, text[end - 1] === '\r' && end > start ? end - 1 : end);
      start = end + 1;
    }
    this.rest = text.slice(start);
    return quoteAt < 0 && this.rest.length <= maxRecord;
  }

  /** Splits the last line, which may lack its line end. */
  end(): void {
    if (this.rest !== '') this.#split(this.rest, 0, this.rest.length);
  }

  #split(text: string, from: number, to: number): void {
    let count = 0;
    let start = from;
    const separator = this.#separator;
    // For an empty line, the search would go through all the text after it.
    const first = from === to ? -1 : text.indexOf(separator, from);
    for (let end = first; end >= 0 && end < to; end = text.indexOf(separator, start)) {
      this.#cells[count++] = text.slice(start, end);
      start = end + 1;
    }
    this.#cells[count++] = text.slice(start, to);
    this.#cells.length = count;
    this.#take(this.#cells, this.line++);
  }
}

async function readQuoted(
  text: AsyncIterable<string>,
  { take, separator, firstLine }: Required<Omit<CsvSink, 'onPiece'>> & { readonly firstLine: number },
): Promise<void> {
  // Loaded only when a file needs it.
  const { CsvError, parse } = await import('csv-parse');
  let line = firstLine;
  const parser = parse({
    delimiter: separator,
    max_record_size: maxRecord,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    on_record: (cells: string[], { lines }) => {
      take(cells, line);
      line = firstLine + lines;
      return null;
    },
  });
  try {
    // The parser's output is empty: `on_record` takes every record.
    await pipeline(text, parser.resume());
  } catch (error) {
    throw error instanceof CsvError ? new HistoryFileError(`line ${line}: ${explain(error)}`) : error;
  }
}

function explain(error: CsvError): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE') return `the line has more than ${maxRecord} characters`;
  return 'a quote is not closed, or stands inside a field';
}
