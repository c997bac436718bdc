import { getOrMake } from '../../domain/get-or-make.ts';
import { currencyPattern, type Micros, parseMicros } from '../../domain/money.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
import type { Balance, Reading } from '../../domain/reading.ts';
import { hourMs, isDay } from '../../domain/time.ts';
import { PackedPolls } from '../../store/runs/packed-polls.ts';
import { HistoryFileError, readCsv } from './read-csv.ts';

/** ISO 8601 with a zone. Seconds and their fractions are optional. */
const instantPattern = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Limits of the year: with a digit too many, the time up to it would be replayed hour by hour. */
const minYear = 1970;
const maxYear = 2100;
const maxQuoteLength = 40;

/** The balances of each configured account. The key '' is for a file without a column for accounts. */
type BalancesByAccount = ReadonlyMap<string, readonly Balance[]>;

/**
 * Reads readings from CSV as `history --csv` writes it (RFC 4180; the columns in any order; LF or CRLF; a
 * byte order mark and quotes are fine): `at`, the balances, `currency` and, if the file holds several accounts,
 * `account`. Text comes in pieces of any size, so that a file of a million lines is never in memory as a whole.
 *
 * Returns the readings by account; the account is '' if the file has no such column. A reading that lacks a balance of its account is left
 * out: exports contain such readings from a time when the account had other balances. Throws `HistoryFileError`, which names the line.
 */
export async function readHistoryCsv(
  pieces: AsyncIterable<string>,
  balances: BalancesByAccount,
  onPiece: (characters: number) => void = () => undefined,
  onLacking: (account: string) => void = () => undefined,
): Promise<Map<string, PackedPolls>> {
  const polls = new Map<string, PackedPolls>();
  let readLine: ReadLine | null = null;
  const take = (cells: readonly string[], line: number): void => {
    if (cells.length === 1 && cells[0] === '') return;
    if (readLine === null) {
      readLine = readHeader(cells, balances, line);
      return;
    }
    const { account, reading } = readLine(cells, line);
    const own = () => getOrMake(polls, account, () => new PackedPolls());
    if (reading === null) onLacking(account);
    else own().append({ at: reading.at, outcome: 'ok', reading });
  };
  await readCsv(pieces, { take, onPiece });
  if (readLine !== null) return polls;
  throw new HistoryFileError(
    `the file is empty; it needs the header at,${listBalances(balances).join()},currency`,
  );
}

/** Reads a line below the header. The account is '' if there is no such column; the reading is null if it lacks a balance. */
type ReadLine = (cells: readonly string[], line: number) => { account: string; reading: Reading | null };

function readHeader(
  header: readonly string[],
  balancesByAccount: BalancesByAccount,
  headerLine: number,
): ReadLine {
  const names = header.map((cell) => cell.trim().toLowerCase());
  checkHeader(header, names, { balancesByAccount, line: headerLine });
  const [atPlace = -1, currencyPlace = -1, accountPlace = -1] = ['at', 'currency', 'account'].map((name) =>
    names.indexOf(name),
  );
  const columns = listBalances(balancesByAccount).map((balance) => ({
    balance,
    place: names.indexOf(balance),
    micros: rememberLast((text, line) => readMoney(balance, text, line)),
  }));
  const instant = readInstants();
  const currency = rememberLast(readCurrency);
  const account = rememberLast((text, line) => {
    const id = accountPlace < 0 ? '' : readAccount(text, line);
    const own = balancesByAccount.get(id);
    return {
      id,
      columns: columns.filter(({ balance }) => own?.includes(balance) ?? true),
      isKnown: own !== undefined,
    };
  });
  return (cells, line) => {
    if (cells.length !== names.length) {
      throw new HistoryFileError(
        `line ${line}: ${cells.length} fields, the header has ${names.length}; a field with a comma needs quotes`,
      );
    }
    const { id, columns: its, isKnown } = account(cells[accountPlace] ?? '', line);
    const balances: Record<Balance, Micros> = {};
    let lacks = false;
    for (const { balance, place, micros } of its) {
      const text = cells[place] ?? '';
      if (text !== '') balances[balance] = micros(text, line);
      // An account that is not configured cannot lack a balance, because its balances are unknown.
      else lacks = isKnown;
    }
    const reading: Reading = {
      at: instant(cells[atPlace] ?? '', line),
      balances,
      currency: currency(cells[currencyPlace] ?? '', line),
    };
    return { account: id, reading: lacks ? null : reading };
  };
}

function listBalances(balancesByAccount: BalancesByAccount): readonly Balance[] {
  return [...new Set([...balancesByAccount.values()].flat())];
}

function checkHeader(
  header: readonly string[],
  names: readonly string[],
  { balancesByAccount, line }: { readonly balancesByAccount: BalancesByAccount; readonly line: number },
): void {
  const all = listBalances(balancesByAccount);
  const allowed = `the header is at,${all.join()},currency and optionally account`;
  const known = ['at', ...all, 'currency', 'account'];
  const unknown = header.find((_, index) => !known.includes(names[index] ?? ''));
  if (unknown !== undefined) {
    const meant = nearestWord(unknown.trim().toLowerCase(), known);
    const hint = meant === null ? allowed : `did you mean "${meant}"? ${allowed}`;
    throw new HistoryFileError(`line ${line}: no column is called ${quote(unknown)}; ${hint}`);
  }
  const lists = [...balancesByAccount.values()];
  const shared = all.filter((balance) => lists.every((list) => list.includes(balance)));
  const needed = names.includes('account') ? shared : (balancesByAccount.get('') ?? shared);
  const missing = ['at', ...needed, 'currency'].find((column) => !names.includes(column));
  if (missing !== undefined)
    throw new HistoryFileError(`line ${line}: the column "${missing}" is missing; ${allowed}`);
  if (new Set(names).size < names.length)
    throw new HistoryFileError(`line ${line}: a column stands there twice; ${allowed}`);
}

type ReadCell<Value> = (text: string, line: number) => Value;

/** Reads a cell once for all consecutive lines with the same text, as most lines have. */
function rememberLast<Value>(read: ReadCell<Value>): ReadCell<Value> {
  let last: { readonly text: string; readonly value: Value } | null = null;
  return (text, line) => {
    if (last?.text !== text) last = { text, value: read(text, line) };
    return last.value;
  };
}

function readMoney(balance: Balance, text: string, line: number): Micros {
  const micros = parseMicros(text.trim());
  if (micros !== null) return micros;
  const allowed = 'write it with a point and without separators, such as -18.383, between ±9007199254';
  throw new HistoryFileError(`line ${line}: ${balance} ${quote(text)} is not an amount; ${allowed}`);
}

/** The text after the hour in the output of `history --csv`. */
const restOfHour = /^:[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;
const hourLength = '2026-11-20T08'.length;

/** Reads instants. It is faster for those within the hour of the last one. */
function readInstants(): ReadCell<number> {
  let hour = 'none';
  let startsAt = 0;
  return (text, line) => {
    // 24:00 means 00:00 of the next day, and no minute may follow it.
    const isQuick = restOfHour.test(text.slice(hourLength)) && !text.startsWith('24', hourLength - 2);
    if (isQuick && text.startsWith(hour)) {
      const seconds =
        60 * Number(text.slice(hourLength + 1, hourLength + 3)) + Number(text.slice(hourLength + 4, -1));
      return startsAt + Math.round(1000 * seconds);
    }
    const at = readAt(text, line);
    if (isQuick) {
      hour = detached(text.slice(0, hourLength));
      startsAt = Math.floor(at / hourMs) * hourMs;
    }
    return at;
  };
}

function readAt(text: string, line: number): number {
  const trimmed = text.trim();
  const isDated = instantPattern.test(trimmed) && isDay(trimmed.slice(0, 10));
  const at = isDated ? Date.parse(trimmed.replace(',', '.')) : Number.NaN;
  if (Number.isFinite(at)) {
    const year = Number(trimmed.slice(0, 4));
    if (year >= minYear && year <= maxYear) return at;
    throw new HistoryFileError(
      `line ${line}: the year ${year} of at ${quote(text)} must be from ${minYear} to ${maxYear}`,
    );
  }
  throw new HistoryFileError(
    `line ${line}: at ${quote(text)} is not a valid timestamp; write ISO 8601 with a zone, such as 2026-11-20T08:00:00Z or 2026-11-20T16:00+08:00`,
  );
}

function readAccount(text: string, line: number): string {
  const account = plain(text);
  if (account === '') throw new HistoryFileError(`line ${line}: no account is named`);
  return account;
}

function readCurrency(text: string, line: number): string {
  const currency = plain(text);
  if (currencyPattern.test(currency)) return currency;
  throw new HistoryFileError(
    `line ${line}: currency ${quote(text)} must have 1 to 16 visible characters, such as CNY`,
  );
}

/** Removes the apostrophe that exports put before a text that a spreadsheet would take for a formula. */
function plain(text: string): string {
  return detached(text.trim().replace(/^'(?=[=+\-@＝＋－＠])/, ''));
}

function quote(text: string): string {
  return JSON.stringify(text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text);
}

/** Copies the text: a part of a text would keep the whole text in memory. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}
