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

/** Columns that stand in an account as they are. */
const plainColumns = ['name', 'currency', 'timezone', 'leadTime', 'note', 'topUpUrl', 'runbookUrl'] as const;
const columns = ['id', 'provider', 'url', 'credentials', 'labels', 'thresholds', ...plainColumns];

export interface SheetAccount {
  readonly line: number;
  /** A kind of provider. */
  readonly type: string;
  /** Asked in place of the provider's own address; null where none is given. */
  readonly url: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly thresholds: Readonly<Record<string, number>>;
  /** As it stands in a list of accounts. */
  readonly account: Readonly<Record<string, unknown>>;
}

/** Something wrong in a spreadsheet; the column is null where it is about the whole line. */
export interface SheetProblem {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

interface Row {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
}

/** The accounts of a CSV file, and all that is wrong with them. Throws `CommandError` where it cannot be read as such. */
export async function readAccounts(
  { cwd }: Pick<CommandContext, 'cwd'>,
  file: string,
  kinds: readonly ProviderDescription[],
): Promise<{ readonly accounts: readonly SheetAccount[]; readonly problems: readonly SheetProblem[] }> {
  const problems: SheetProblem[] = [];
  const accounts = (await readRows(resolve(cwd, file))).map((row) => {
    const report = (column: string | null, message: string): void => {
      problems.push({ line: row.line, column, message });
    };
    return readAccount(row, kinds, report);
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
      const named = header.map((name, place) => [name, (cells[place] ?? '').trim()] as const);
      rows.push({ line, cells: new Map(named) });
    }
  };
  try {
    const text = await readFile(path, 'utf8');
    // Spreadsheets separate by semicolons where the comma is the decimal sign.
    const separator = /^[^,\n]*;/.test(text) ? ';' : ',';
    await readCsv(Readable.from([text]), { take, separator, onPiece: () => undefined });
  } catch (error) {
    throw explainFileError(error, path);
  }
  if (rows.length === 0) throw new CommandError(`${path} has no accounts: the first line names the columns`);
  return rows;
}

function readHeader(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const unknown = names.find((name) => name !== '' && !columns.includes(name));
  if (unknown !== undefined)
    throw new HistoryFileError(
      `line 1: "${unknown}" is no column: ${didYouMean(unknown, columns) ?? `there are ${columns.join(', ')}`}`,
    );
  const missing = ['id', 'credentials'].find((name) => !names.includes(name));
  if (missing !== undefined) throw new HistoryFileError(`line 1: the column "${missing}" is missing`);
  return names;
}

type Report = (column: string | null, message: string) => void;

function readAccount({ line, cells }: Row, kinds: readonly ProviderDescription[], report: Report) {
  const cell = (name: string): string => cells.get(name) ?? '';
  const [usual] = kinds;
  const type = cell('provider') || (usual?.type ?? '');
  const kind = kinds.find((each) => each.type === type && (each === usual || each.details !== null));
  if (kind === undefined)
    report(
      'provider',
      `is no kind of provider: ${suggest(
        type,
        kinds.map((each) => each.type),
      )}`,
    );
  const url = cell('url') || null;
  const isUsual = kind === usual;
  const needed = isUsual ? 'its base address' : kind?.details?.baseUrl;
  if (url === null && needed) report('url', `is needed: ${needed}`);
  const names = isUsual ? ['authSecret'] : (kind?.credentials ?? []).map(({ name }) => name);
  const credentials = kind === undefined ? {} : readCredentials(cell('credentials'), names, report);
  const labels = readPairs(cell('labels'), 'labels', report);
  const thresholds = readThresholds(cell('thresholds'), report);
  // Of the first balance: other ones are written by hand.
  const balance = isUsual ? 'sms' : (kind?.details?.balances[0]?.id ?? '');
  const plain = plainColumns.flatMap((name) => (cell(name) === '' ? [] : [[name, cell(name)]]));
  const account = {
    id: cell('id'),
    ...Object.fromEntries(plain),
    ...(isUsual
      ? { ...credentials, ...(url === null ? {} : { baseUrl: url }) }
      : { provider: type, credentials }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(thresholds).length === 0 ? {} : { thresholds: { [balance]: thresholds } }),
  };
  return { line, type, url, labels, thresholds, account };
}

/** `env:NAME` or `file:/path` of the one credential, or `name=env:NAME` for each of several. */
function readCredentials(text: string, names: readonly string[], report: Report): Record<string, string> {
  const [only] = names;
  const isOne = names.length === 1 && only !== undefined && !text.startsWith(`${only}=`);
  const given = isOne ? { [only]: text } : readPairs(text, 'credentials', report);
  for (const name of names) if (!ownOf(given, name)) report('credentials', `lacks ${name}`);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      // Never quoted: it may be a key that stands in the wrong place.
      if (!names.includes(name))
        report('credentials', `must be of ${listWords(names, 'and')}, and names something else`);
      if (value !== '' && !/^(?:env|file):./.test(value))
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
      if (!known.includes(severity) || !/^-?\d+(?:\.\d+)?$/.test(amount))
        report('thresholds', `must be such as "warning=200 critical=50", of ${listWords(severities)}`);
      return [severity, Number(amount)];
    }),
  );
}

/** `team=identity; env=prod`: separated by spaces, semicolons or commas. */
function readPairs(text: string, column: string, report: Report): Record<string, string> {
  const pairs = text.split(/[\s;,]+/).filter((pair) => pair !== '');
  if (!pairs.every((pair) => /^[^=]+=./.test(pair)))
    report(column, 'must be pairs such as "name=value name=value"');
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
}
