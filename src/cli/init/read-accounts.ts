import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { ownOf } from '../../domain/own.ts';
import { severities } from '../../domain/severity.ts';
import type { ProviderDescription } from '../../providers/describe-provider.ts';
import { didYouMean, listWords } from '../../wording/lists.ts';
import { CommandError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { suggest } from '../read-options.ts';
import { explainFileError, HistoryFileError, readCsv } from '../replay/read-csv.ts';
import { escapePlaceholders } from './asker.ts';

/** Columns that are copied unchanged into the account. */
const plainColumns = ['name', 'currency', 'timezone', 'leadTime', 'note', 'topUpUrl', 'runbookUrl'] as const;
const columns = ['id', 'provider', 'url', 'credentials', 'labels', 'thresholds', ...plainColumns];

export interface SheetAccount {
  readonly line: number;
  /** The kind of the provider. */
  readonly type: string;
  /** The base address, in place of the provider's own; null if none is given. */
  readonly url: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly thresholds: Readonly<Record<string, number>>;
  /** The account as it is written in a list. */
  readonly account: { readonly id: string } & Readonly<Record<string, unknown>>;
}

/** A problem in a spreadsheet. The column is null if the problem is about the whole line. */
export interface SheetProblem {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

interface Row {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
}

/** The accounts of a CSV file, with all problems in it. Throws `CommandError` if it cannot be read as CSV. */
export async function readAccounts(
  { cwd }: Pick<CommandContext, 'cwd'>,
  file: string,
  kinds: readonly ProviderDescription[],
): Promise<{ readonly accounts: readonly SheetAccount[]; readonly problems: readonly SheetProblem[] }> {
  const problems: SheetProblem[] = [];
  const lines = new Map<string, number>();
  const accounts = (await readRows(resolve(cwd, file))).map((row) => {
    const report = (column: string | null, message: string): void => {
      problems.push({ line: row.line, column, message });
    };
    const read = readAccount(row, kinds, report);
    const before = lines.get(read.account.id);
    if (before !== undefined) report('id', `line ${before} has this id already`);
    lines.set(read.account.id, row.line);
    return read;
  });
  return { accounts, problems };
}

async function readRows(path: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let header: readonly string[] | null = null;
  const take = (cells: readonly string[], line: number): void => {
    if (cells.every((cell) => cell.trim() === '')) return;
    if (header === null) header = readHeader(cells);
    else {
      refuseRest(cells.slice(header.length), line);
      const named = header.map(
        // A cell may span lines, but a configuration's texts have only one.
        (name, place) =>
          [name, escapePlaceholders((cells[place] ?? '').replace(/\s+/g, ' ').trim())] as const,
      );
      rows.push({ line, cells: new Map(named) });
    }
  };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
    // Spreadsheets write the separator that is usual in their country.
    const [separator = ','] = /[,;\t]/.exec(text) ?? [];
    await readCsv(Readable.from([text]), { take, separator, onPiece: () => undefined });
  } catch (error) {
    if (error instanceof TypeError && 'code' in error)
      throw new CommandError(`${path} is not UTF-8: save it as "CSV UTF-8"`);
    throw explainFileError(error, path);
  }
  if (rows.length === 0) throw new CommandError(`${path} has no accounts: the first line names the columns`);
  return rows;
}

/** Refuses a cell too many: it is a part of another one, for example after the thousands separator of a threshold. */
function refuseRest(rest: readonly string[], line: number): void {
  if (rest.some((cell) => cell.trim() !== ''))
    throw new HistoryFileError(
      `line ${line}: has more cells than the first line; one with a separator needs quotes`,
    );
}

function readHeader(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const unknown = names.find((name) => name !== '' && !columns.includes(name));
  if (unknown !== undefined)
    throw new HistoryFileError(
      // If the line with the names is missing, the text may be a key, so only short words without digits are quoted.
      `line 1: ${/\d|.{16}/.test(unknown) ? `cell ${names.indexOf(unknown) + 1}` : `"${unknown}"`} is no column: ${didYouMean(unknown, columns) ?? `there are ${columns.join(', ')}`}`,
    );
  const missing = ['id', 'credentials'].find((name) => !names.includes(name));
  if (missing !== undefined) throw new HistoryFileError(`line 1: the column "${missing}" is missing`);
  const twice = names.find((name, place) => name !== '' && names.indexOf(name) < place);
  if (twice !== undefined) throw new HistoryFileError(`line 1: the column "${twice}" stands there twice`);
  return names;
}

type Report = (column: string | null, message: string) => void;

/** The needs of the usual kind: the credentials, why its address is required, and the balance to which the thresholds apply. */
const usualNeeds = { names: ['authSecret'], needed: 'its base address', balance: 'sms' };

/** The needs of another kind of provider. The thresholds apply to its first balance; others have to be written by hand. */
function needsOf(kind: ProviderDescription | undefined) {
  const names = (kind?.credentials ?? []).map(({ name }) => name);
  return { names, needed: kind?.details?.baseUrl, balance: kind?.details?.balances[0]?.id ?? '' };
}

function refuseKind(type: string, types: readonly string[]): string {
  return types.includes(type)
    ? `cannot stand in a table: docs/configuration.md says what to write for "${type}"`
    : `is no kind of provider: ${suggest(type, types)}`;
}

function readAccount({ line, cells }: Row, kinds: readonly ProviderDescription[], report: Report) {
  const cell = (name: string): string => cells.get(name) ?? '';
  const [usual] = kinds;
  const type = cell('provider') || (usual?.type ?? '');
  const kind = kinds.find((each) => each.type === type && (each === usual || each.details !== null));
  const types = kinds.map((each) => each.type);
  if (kind === undefined) report('provider', refuseKind(type, types));
  const url = cell('url') || null;
  const isUsual = kind === usual;
  const { names, needed, balance } = isUsual ? usualNeeds : needsOf(kind);
  if (url !== null && !/^https?:\/\/./.test(url)) report('url', 'must start with https:// or http://');
  if (url === null && needed) report('url', `is needed: ${needed}`);
  const credentials = kind === undefined ? {} : readCredentials(cell('credentials'), names, report);
  const labels = readPairs(cell('labels'), 'labels', report);
  const thresholds = readThresholds(cell('thresholds'), report);
  const plain = plainColumns.flatMap((name) => (cell(name) === '' ? [] : [[name, cell(name)]]));
  const account = {
    id: cell('id'),
    ...Object.fromEntries(plain),
    ...(isUsual ? { ...credentials, ...(url === null ? {} : { baseUrl: url }) } : { credentials }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(thresholds).length === 0 ? {} : { thresholds: { [balance]: thresholds } }),
  };
  return { line, type, url, labels, thresholds, account };
}

/** Reads `env:NAME` or `file:/path` for a single credential, or `name=env:NAME` for each of several. */
function readCredentials(text: string, names: readonly string[], report: Report): Record<string, string> {
  const [only] = names;
  const isOne = names.length === 1 && only !== undefined && !text.startsWith(`${only}=`);
  const given = isOne ? { [only]: text } : readPairs(text, 'credentials', report);
  for (const name of names) if (!ownOf(given, name)) report('credentials', `lacks ${name}`);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      // The text is never quoted: it may be a key in the wrong place.
      if (!names.includes(name))
        report('credentials', `must be of ${listWords(names, 'and')}, and names something else`);
      if (value !== '' && !/^(?:env:[A-Za-z_]\w*|file:[^{}]+)$/.test(value))
        report(
          'credentials',
          'must name where each key is, as env:NAME or file:/path: a table is no place for a key',
        );
      return [name, `\${${value}}`];
    }),
  );
}

function readThresholds(text: string, report: Report): Record<string, number> {
  const known: readonly string[] = severities;
  return Object.fromEntries(
    Object.entries(readPairs(text, 'thresholds', report)).map(([severity, amount]) => {
      // Refuses 1.500, which is 1500 in some countries.
      if (!known.includes(severity) || !/^-?\d+(?:\.(?!\d{3}$)\d+)?$/.test(amount))
        report(
          'thresholds',
          `must be such as "warning=1500 critical=50.5", of ${listWords(severities)}, with no separator of thousands`,
        );
      return [severity, Number(amount)];
    }),
  );
}

/** Reads `team=identity; env=prod`, separated by spaces, semicolons or commas. */
function readPairs(text: string, column: string, report: Report): Record<string, string> {
  const pairs = text.split(/[\s;,]+/).filter((pair) => pair !== '');
  if (!pairs.every((pair) => /^[^=]+=./.test(pair)))
    report(column, 'must be pairs such as "name=value name=value"');
  const read = pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2));
  if (new Set(read.map(([name]) => name)).size < read.length) report(column, 'names something twice');
  return Object.fromEntries(read);
}
