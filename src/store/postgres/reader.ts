import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import type { LoadOptions } from '../../ports/cluster.ts';
import {
  type HistoryQuery,
  type LeftOrder,
  type StoredState,
  type StoreFile,
  type StoreReader,
  setBackNote,
} from '../../ports/store.ts';
import { type Asking, askInTurn, type Statement } from '../asking.ts';
import { findIncidents, findMessages, findSilences, loadState, parseOrders } from '../records.ts';
import {
  createHistory,
  type HistoryQuestion,
  type RunData,
  type RunsRow,
  readingsOf,
} from '../runs/history.ts';
import type { FoundDamage } from '../runs/stored-run.ts';
import { faultOfNote } from '../shapes.ts';
import { databaseIdNote } from '../tables.ts';
import { onlySlot } from './commit.ts';
import { type Ask, type Database, openDatabase } from './connection.ts';
import { noneReadable } from './failure.ts';
import { requireSchema } from './migrate.ts';

/**
 * Opens the database for reading, whether or not daemons write to it meanwhile. Changes nothing.
 *
 * `now` is the wall clock; without it, `load` also returns silences that are over. Rejects with `StorageError` if the database
 * cannot be reached or is of another version of lowwater.
 */
export async function openPostgresReader(options: {
  readonly url: Secret;
  readonly program: string;
  readonly now?: () => number;
}): Promise<StoreFile> {
  const { url, program, now = () => Number.MIN_SAFE_INTEGER } = options;
  const database = await openOfSchema(url, program);
  return { ...readFrom(database, now), close: () => database.close() };
}

/** Runs `use` with a database of this program's schema, then closes it. Rejects as `openPostgresReader` does. */
export async function withSchema<T>(
  url: Secret,
  program: string,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openOfSchema(url, program);
  return use(database).finally(() => database.close());
}

async function openOfSchema(url: Secret, program: string): Promise<Database> {
  const database = openDatabase({ url });
  try {
    await requireSchema(database.ask, program);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Leaves an order in the database for the owner of the accounts. */
export async function insertOrder({ change }: Database, order: LeftOrder): Promise<void> {
  await change('INSERT INTO operator_order (slot, body) VALUES ($1, $2)', [onlySlot, JSON.stringify(order)]);
}

export function readFrom(
  database: Database,
  now: () => number,
  damaged: Parameters<typeof openHistory>[1] = () => {},
): Omit<StoreFile, 'close'> {
  const answer = ({ text, values }: Statement) => database.ask(text, values);
  const read = <Result>(asking: Asking<Result>): Promise<Result> => askInTurn(asking, answer);
  return {
    ...openHistory(database, damaged),
    load: () =>
      database.snapshot((ask) => askInTurn(loadState(now()), ({ text, values }) => ask(text, values))),
    incidents: (query) => read(findIncidents(query)),
    silences: (notOverAt) => read(findSilences(notOverAt)),
    messages: (limit, before = Number.MAX_SAFE_INTEGER) => read(findMessages(limit, before)),
    async leftOrders() {
      const sql = 'SELECT body FROM operator_order WHERE slot = $1 ORDER BY no';
      return parseOrders(await database.ask(sql, [onlySlot]));
    },
    backup: async () => {
      throw new StorageError(
        'other',
        'the PostgreSQL database is copied by its own tools: pg_dump --format=custom --file=FILE, with the address of storage.postgres.url',
      );
    },
  };
}

/** If the server is too busy for a page, a quarter of the rows is asked for, but never fewer than these. */
const leastRows = 30;

/** Loads for the owner. Nobody else writes meanwhile: a page that fails is asked for again, and earlier pages stay valid. */
export async function loadOwned(
  ask: Ask,
  now: number,
  { goOn, progressed, isLenient }: LoadOptions,
): Promise<StoredState> {
  let divisor = 1;
  const valuesOf = ({ values, isPage }: Statement): Statement['values'] =>
    isPage ? values.with(-1, Math.max(leastRows, Math.floor(Number(values.at(-1)) / divisor))) : values;
  const stored = await askInTurn(loadState(now, isLenient), async (statement) => {
    for (;;) {
      try {
        const rows = await ask(statement.text, valuesOf(statement));
        progressed?.();
        return rows;
      } catch (error) {
        if (!mayPass(error) || !(await goOn())) throw error;
        if (statement.isPage) divisor *= 4;
      }
    }
  });
  // Damaged rows that are still in their table would be overwritten.
  const inPlace = stored.damagedRecords?.filter(({ body }) => body !== null) ?? [];
  for (const [source, read] of Object.entries({ account: stored.accounts, alert: stored.alerts })) {
    const damaged = inPlace.filter((record) => record.source === source);
    if (read.length === 0 && damaged.length > 1) throw noneReadable(`${source}s`);
  }
  return stored;
}

function mayPass(error: unknown): boolean {
  return error instanceof StorageError && error.kind !== 'corrupt' && error.kind !== 'unfit';
}

const findRuns = `SELECT tail AS data, coalesce(tail_polls, 0) AS polls, tail_latest_at AS "latestAt", (
    SELECT coalesce(json_agg(json_build_array(seq, earliest_at, latest_at)), '[]') FROM segment
    WHERE account_no = account.no AND latest_at >= since AND earliest_at < until
  ) AS runs, (SELECT value FROM note WHERE name = '${setBackNote}') AS "setBack"
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (id, since, until, nth)
  LEFT JOIN account USING (id) ORDER BY nth`;
const findData = 'SELECT seq, data, polls FROM segment WHERE seq = ANY($1::bigint[])';

/** The number of runs read at once: some tens of kilobytes, some thousands of polls. */
const runsAtOnce = 40;

/** `damaged` is called for each run that is left out because it cannot be read. */
export function openHistory(
  { ask }: Database,
  damaged: (run: FoundDamage) => void,
): Pick<StoreReader, 'polls' | 'readings' | 'readingBefore'> {
  const runsOf = together(async (queries: readonly HistoryQuery[]) => {
    const ids = queries.map(({ account }) => account);
    const since = queries.map((query) => query.since);
    const until = queries.map((query) => query.until);
    return ask<RunsRow>(findRuns, [ids, since, until]);
  });
  const dataOf = together(async (asked: readonly (readonly number[])[]) => {
    const rows = await ask<RunData>(findData, [asked.flat()]);
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    return asked.map(() => bySeq);
  });
  const answer = (question: HistoryQuestion): Promise<unknown> =>
    'account' in question ? runsOf(question) : dataOf(question);
  const history = createHistory(damaged, runsAtOnce);
  async function* polls(query: HistoryQuery) {
    for (const portion of await askInTurn(history.portions(query), answer))
      yield* await askInTurn(portion, answer);
  }
  return {
    polls,
    async *readings(query) {
      for await (const part of polls(query)) yield readingsOf(part);
    },
    readingBefore: (account, at) => askInTurn(history.readingBefore(account, at), answer),
  };
}

/**
 * Combines all questions of one turn of the event loop into one statement: a page with thousands of accounts would otherwise wait for
 * thousands of answers. `askAll` returns answers in the order of the questions.
 */
function together<Asked, Answer>(
  askAll: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
): (one: Asked) => Promise<Answer | undefined> {
  let gathering: { readonly asked: Asked[]; readonly answers: Promise<readonly Answer[]> } | null = null;
  return async (one) => {
    if (gathering === null) {
      const asked: Asked[] = [];
      const answers = Promise.resolve().then(() => {
        gathering = null;
        return askAll(asked);
      });
      gathering = { asked, answers };
    }
    const nth = gathering.asked.push(one) - 1;
    return (await gathering.answers)[nth];
  };
}

/** The parts of configurations by hash, for those that daemons have published. */
export async function findConfigurations(
  { ask }: Database,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await ask<{ hash: string; parts: string }>(
    'SELECT hash, parts FROM configuration WHERE hash = ANY($1::text[])',
    [hashes],
  );
  return new Map(rows.map(({ hash, parts }) => [hash, parts]));
}

/** The id of the database; null if no daemon of this version has opened it. */
export async function findDatabaseId({ ask }: Pick<Database, 'ask'>): Promise<string | null> {
  const [row] = await ask<{ value: string }>('SELECT value FROM note WHERE name = $1', [databaseIdNote]);
  return row === undefined || faultOfNote(databaseIdNote, row.value) !== null ? null : row.value;
}
