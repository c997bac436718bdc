import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { env } from 'node:process';
import { interpolate } from '../../config/interpolate.ts';
import { listSecretTexts } from '../../daemon/known-secrets.ts';
import { ownOf } from '../../domain/own.ts';
import { inParts } from '../../domain/parts.ts';
import { dayMs, formatDuration } from '../../domain/time.ts';
import type { SqlAnswer, SqlValue } from '../../ports/store.ts';
import type { StorePlace } from '../../store/migrate-store.ts';
import { formatCsvLine } from '../../views/csv.ts';
import { type Command, CommandError, exitCodes, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration, loadForOperator, requireStorage } from '../load-configuration.ts';
import { damageWarner, programOf, withReader } from '../open-reader.ts';
import { readDuration } from '../read-options.ts';
import { formatTable, printRows } from '../terminal/table.ts';

type Answer = Extract<SqlAnswer, { kind: 'answer' }>;

/** Answers shorter than this are read as a whole before a line is written, so that the database is not held while somebody reads. */
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
    const { path } = requireStorage(await loadForOperator(context, input));
    if (path === undefined)
      throw new CommandError(
        'query asks a SQLite file: ask a PostgreSQL database by psql, or copy it into a file by `lowwater migrate-store --to FILE` first',
      );
    const { openSqlFile } = await import('../../store/store.ts');
    const { endProcessAfter } = await import('../../system/watchdog.ts');
    const file = openSqlFile(path, damageWarner(context));
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

async function printRecords({ stdout, signal }: CommandContext, { columns, rows }: Answer): Promise<void> {
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(`two columns are called ${twice}`, 'name one of them: … AS other');
  let before = '[';
  for (const chunk of inParts(rows, chunkRows)) {
    const records = chunk.map((row) => `{${row.map(member).join(',')}}`);
    await stdout.write(`${before}\n${records.join(',\n')}`);
    if (signal.aborted) return;
    before = ',';
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

export const backupCommand: Command = {
  name: 'backup',
  summary: 'consistent copy of the live database',
  details: `Works while the daemon runs. The copy is one file. To restore: stop the daemon, put the copy in the place of the database,
remove the -wal and -shm files next to it, start the daemon.

A PostgreSQL database is copied by its own tools (pg_dump), and this command says how.`,
  positionals: [{ name: 'FILE', summary: 'the copy; must not exist yet' }],
  examples: ['lowwater backup /backup/lowwater-$(date +%F).db'],
  run: async (context, input) => {
    const file = resolve(context.cwd, input.positional('FILE'));
    if (existsSync(file)) throw new UsageError(`${file} exists; a backup never overwrites a file`);
    const storage = requireStorage(await loadForOperator(context, input));
    await withReader(context, storage, (reader) => reader.backup(file));
    await context.stderr.write(`${storage.path ?? 'the database'} copied to ${file}\n`);
    return exitCodes.ok;
  },
};

export const migrateStoreCommand: Command = {
  name: 'migrate-store',
  summary: 'copy everything into another database: from SQLite to PostgreSQL, or back',
  details: `Reads the database of the configuration and writes another one, which has to be empty: a PostgreSQL database, or a file that is
not there yet. Every daemon has to be stopped. What arrived is counted and compared before it is kept; the database that was read
stays as it is. Then set storage.postgres.url (or storage.path), and start the daemon.

An address may hold placeholders as the configuration does, so that no password stands in the list of processes.

--json prints {"tables":[{"name","rows","bytes"}]}.`,
  options: {
    to: { value: 'URL|FILE', summary: 'the other database, such as postgres://user:password@host/lowwater' },
    json: jsonOption,
  },
  examples: [`lowwater migrate-store --to '\${env:POSTGRES_URL}'`, 'lowwater migrate-store --to lowwater.db'],
  run: async (context, input) => {
    const to = input.option('to');
    if (to === null) throw new UsageError('--to is missing: the address of a PostgreSQL database, or a file');
    const { storage } = (await loadConfiguration(context, input)).settings;
    const { migrateStore } = await import('../../store/migrate-store.ts');
    const copied = await migrateStore({
      from: storage.postgres ?? storage,
      to: await readPlace(context, to),
      program: programOf(context),
      now: context.clock.now(),
    });
    await printRows(context, input, {
      rows: copied,
      json: () => ({ tables: copied }),
      columns: [
        { header: 'TABLE', value: ({ name }) => name },
        { header: 'ROWS', value: ({ rows }) => String(rows), align: 'right' },
        { header: 'BYTES', value: ({ bytes }) => String(bytes), align: 'right' },
      ],
    });
    const next = /^[^:]*:\/\/|^\$/.test(to) ? 'storage.postgres.url' : 'storage.path';
    await context.stderr.write(
      `All of it arrived. The database that was read is as it was; set ${next} for daemons to use the new one.\n`,
    );
    return exitCodes.ok;
  },
};

/** A database that a command names: a file, or an address with placeholders as in the configuration, so that nobody has to type a password. */
async function readPlace({ process }: CommandContext, text: string): Promise<StorePlace> {
  const filled = interpolate(text, {
    env: (name) => ownOf(env, name),
    file(path) {
      try {
        return { text: readFileSync(path, 'utf8') };
      } catch {
        return { failed: 'it cannot be read' };
      }
    },
  });
  if (filled.kind === 'failed') throw new UsageError(`--to: ${filled.messages.join('; ')}`);
  if (!/^[a-z]+:\/\//i.test(filled.text)) return { path: resolve(filled.text) };
  const { postgresAddress } = await import('../../schema/addresses.ts');
  const address = postgresAddress('').safeParse(filled.text);
  if (!address.success)
    throw new UsageError(`--to ${address.error.issues.map(({ message }) => message).join('; ')}`);
  await process.hide(listSecretTexts(address));
  return { url: address.data };
}
