import { dayMs, formatDuration } from '../../domain/duration.ts';
import { inParts } from '../../domain/parts.ts';
import type { SqlAnswer, SqlValue } from '../../ports/store.ts';
import { formatCsvLine } from '../../views/csv.ts';
import { type Command, CommandError, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadForOperator } from '../load-configuration.ts';
import { warnOfDamage } from '../open-reader.ts';
import { readDuration } from '../read-options.ts';
import { formatTable } from '../terminal/table.ts';

type Answer = Extract<SqlAnswer, { kind: 'answer' }>;

/** Answers shorter than this are read whole before a line is written, and hold nothing while somebody looks at them. */
const chunkRows = 10_000;

const defaultLimitMs = 60_000;
const maxLimitMs = dayMs;

export const queryCommand: Command = {
  name: 'query',
  summary: 'ask the database in SQL',
  details: `Read-only SQL (SQLite's) over what is stored, with or without a running daemon, with three tables more than the
file has: reading(account, at, sms, voip, currency), balance(account, at, balance, amount, currency) for the balances of any provider, and
poll(account, at, outcome). With a condition on the account they are quick; reading_of, balance_of and poll_of take (ACCOUNT, SINCE, UNTIL). Instants in them are UTC, as datetime()
writes them. docs/storage.md describes all tables, with examples.

The daemon waits for no query; as long as one runs, the log of the database grows. So it is ended after --timeout.`,
  positionals: [{ name: 'SQL', summary: 'one SELECT, WITH, VALUES or EXPLAIN QUERY PLAN' }],
  options: {
    csv: { summary: 'print CSV' },
    json: { summary: 'print JSON: a list with an object for each row' },
    timeout: { value: 'DURATION', summary: 'how long it may take (1m; at most 1d)' },
  },
  examples: [
    `lowwater query "SELECT date(at) AS day, min(sms), max(sms) FROM reading WHERE account = 'otp' GROUP BY day"`,
    `lowwater query --csv "SELECT * FROM reading_of('otp', datetime('now', '-7 days'))"`,
  ],
  run: async (context, input) => {
    if (input.flag('csv') && input.flag('json')) throw new UsageError('either --csv or --json');
    const limitMs = readDuration(input, 'timeout') ?? defaultLimitMs;
    if (limitMs > maxLimitMs) throw new UsageError('--timeout is at most 1d');
    const { settings } = await loadForOperator(context, input);
    const { path } = settings.storage;
    if (path === undefined)
      throw new CommandError(
        'query asks a SQLite file: ask a PostgreSQL database by psql, or copy it into a file by `lowwater migrate-store --to FILE` first',
      );
    const [{ openSqlFile }, { endProcessAfter }] = await Promise.all([
      import('../../store/store.ts'),
      import('../../system/watchdog.ts'),
    ]);
    const file = openSqlFile(path, (found) => warnOfDamage(context, found));
    const release = endProcessAfter(
      limitMs,
      `the query took longer than ${formatDuration(limitMs)} and was ended, so that the log of the database does not grow: ask for less, or raise --timeout`,
    );
    try {
      const answer = file.ask(input.positional('SQL'));
      if (answer.kind === 'refused') throw new UsageError(answer.reason);
      if (input.flag('csv')) await printCsv(context, answer);
      else if (input.flag('json')) await printRecords(context, answer);
      else await printTable(context, answer);
    } finally {
      release();
      file.close();
    }
    return exitCodes.ok;
  },
};

async function printCsv({ stdout, signal }: CommandContext, { columns, rows }: Answer): Promise<void> {
  let head = formatCsvLine(columns);
  for (const chunk of inParts(rows, chunkRows)) {
    await stdout.write(head + chunk.map((row) => formatCsvLine(row.map(textOf))).join(''));
    if (signal.aborted) return;
    head = '';
  }
  if (head !== '') await stdout.write(head);
}

/** One JSON document, some rows at a time. */
async function printRecords({ stdout, signal }: CommandContext, { columns, rows }: Answer): Promise<void> {
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(`two columns are called ${twice}`, 'name one of them: … AS other');
  let before = '[';
  for (const chunk of inParts(rows, chunkRows)) {
    const records = chunk.map((row) => `{${row.map(member).join(',')}}`);
    if (records.length > 0) await stdout.write(`${before}\n${records.join(',\n')}`);
    if (signal.aborted) return;
    if (records.length > 0) before = ',';
  }
  await stdout.write(before === '[' ? '[]\n' : '\n]\n');

  function member(value: SqlValue, index: number): string {
    const json = value instanceof Uint8Array ? textOf(value) : value;
    return `${JSON.stringify(columns[index])}:${typeof json === 'bigint' ? json : JSON.stringify(json)}`;
  }
}

async function printTable({ stdout, stderr }: CommandContext, { columns, rows }: Answer): Promise<void> {
  const taken = Iterator.from(rows)
    .take(chunkRows + 1)
    .toArray();
  const first = taken.slice(0, chunkRows);
  await stdout.write(
    formatTable<readonly SqlValue[]>({
      columns: columns.map((header, index) => ({
        header,
        minWidth: 12,
        align: first.every((row) => ['number', 'bigint'].includes(typeof (row[index] ?? 0)))
          ? 'right'
          : 'left',
        value: (row) => textOf(row[index] ?? null),
      })),
      rows: first,
      output: stdout,
    }),
  );
  if (taken.length > first.length)
    await stderr.write(`These are the first ${chunkRows} rows; --csv and --json print all of them.\n`);
}

function textOf(value: SqlValue): string {
  if (value === null) return '';
  return value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex')}'` : String(value);
}
