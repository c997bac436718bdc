import type { OperatorOrder } from '../../domain/operator.ts';
import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ClusterLook, LoadOptions } from '../../ports/cluster.ts';
import type { StoredState, StoreFile } from '../../ports/store.ts';
import { type Asking, askInTurn, type Statement } from '../asking.ts';
import { findIncident, findIncidents, findMessages, findSilences, loadState } from '../records.ts';
import { type Ask, type Database, openDatabase } from './connection.ts';
import { openHistory } from './history.ts';
import { lookAround, onlySlot } from './lease.ts';
import { requireSchema } from './migrate.ts';

/**
 * Opens the database to read it, whether or not daemons write it meanwhile. Changes nothing.
 *
 * `now` is the wall clock; without it `load` also gives silences that are over. Rejects with `StorageError` when the database
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

/** Leaves an order in the database, where the owner of the accounts finds it. Rejects as `openPostgresReader` does. */
export async function leavePostgresOrder(options: {
  readonly url: Secret;
  readonly program: string;
  readonly order: OperatorOrder;
}): Promise<void> {
  const { url, program, order } = options;
  await withSchema(url, program, (database) => insertOrder(database, order));
}

/** Lets `use` work with a database of this program's schema, and closes it. */
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

/** The daemons that share a database, and who owns the accounts. Rejects as `openPostgresReader` does. */
export async function lookAtCluster(options: {
  readonly url: Secret;
  readonly program: string;
}): Promise<ClusterLook> {
  return withSchema(options.url, options.program, lookAround);
}

export async function insertOrder({ change }: Database, order: OperatorOrder): Promise<void> {
  await change('INSERT INTO operator_order (slot, body) VALUES ($1, $2)', [onlySlot, JSON.stringify(order)]);
}

/** Only `insertOrder` of the same schema writes orders; one that is no JSON any more is dropped with the next commit. */
export function parseOrder(row: { readonly body: string }): OperatorOrder[] {
  try {
    return [JSON.parse(row.body) as OperatorOrder];
  } catch {
    return [];
  }
}

/** All questions that a database can answer; shared by the reader and the daemons' store. */
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
    incident: (id) => read(findIncident(id)),
    silences: (notOverAt) => read(findSilences(notOverAt)),
    messages: (limit, before = Number.MAX_SAFE_INTEGER) => read(findMessages(limit, before)),
    async leftOrders() {
      const sql = 'SELECT body FROM operator_order WHERE slot = $1 ORDER BY no';
      return (await database.ask<{ readonly body: string }>(sql, [onlySlot])).flatMap(parseOrder);
    },
    backup: async () => {
      throw new StorageError(
        'other',
        'the PostgreSQL database is copied by its own tools: pg_dump --format=custom --file=FILE, with the address of storage.postgres.url',
      );
    },
  };
}

/** Pages of which the server is too busy are asked for again as a quarter of them, but with no fewer rows than these. */
const leastRows = 30;

/** What is stored, for the owner, beside whom nobody writes: a page that fails is asked for again, and the pages before it stay. */
export function loadOwned(ask: Ask, now: number, { goOn, isLenient }: LoadOptions): Promise<StoredState> {
  let divisor = 1;
  const valuesOf = ({ values, isPage }: Statement): Statement['values'] =>
    isPage ? values.with(-1, Math.max(leastRows, Math.floor(Number(values.at(-1)) / divisor))) : values;
  return askInTurn(loadState(now, isLenient), async (statement) => {
    for (;;) {
      try {
        return await ask(statement.text, valuesOf(statement));
      } catch (error) {
        if (!(error instanceof StorageError) || error.kind === 'corrupt' || error.kind === 'unfit')
          throw error;
        if (!(await goOn())) throw error;
        if (statement.isPage) divisor *= 4;
      }
    }
  });
}
