import type { Alert, Incident } from '../../domain/alert.ts';
import type { Notification } from '../../domain/outbox.ts';
import type { Silence } from '../../domain/route.ts';
import type {
  DamagedRun,
  GroupBackoff,
  IncidentQuery,
  StoredSpending,
  StoredState,
} from '../../ports/store.ts';
import { accountFromBody, incidentFromBody, type StoredAccount, type StoredIncident } from '../bodies.ts';
import { databaseIdNote } from '../tables.ts';
import type { Connection } from './connection.ts';
import { DamagedRecordError, guardStorage } from './failure.ts';
import { ownerNote } from './owner.ts';
import type { SqliteReader } from './port.ts';

interface BodyRow {
  readonly body: string;
}

interface NoteRow {
  readonly name: string;
  readonly value: string;
}

/** One moment of everything that a daemon goes on from; silences that were over at `now` are left out. And what is asked by itself. */
export function openRecordReader(
  db: Connection,
  path: string,
  now: () => number,
): Pick<SqliteReader, 'load' | 'incidents' | 'incident' | 'silences' | 'messages'> {
  const guard = <T>(work: () => T): T => guardStorage(path, work);
  const bodies = <T>(sql: string) => {
    const statement = db.prepare<(string | number)[], BodyRow>(sql);
    return (...values: readonly (string | number)[]): T[] => statement.all(...values).map(parseBody<T>);
  };
  const incidentBodies = (sql: string) => {
    const read = bodies<StoredIncident>(sql);
    return (...values: readonly (string | number)[]): Incident[] => read(...values).map(incidentFromBody);
  };
  const accounts = bodies<StoredAccount>('SELECT body FROM account WHERE body IS NOT NULL ORDER BY no');
  const spending = db.prepare<[], StoredSpending>(
    'SELECT id AS account, state AS bytes FROM spending JOIN account ON no = account_no WHERE body IS NOT NULL',
  );
  const backoffs = bodies<GroupBackoff>('SELECT body FROM backoff ORDER BY group_key');
  const alerts = bodies<Alert>('SELECT body FROM alert ORDER BY account, rule');
  const unsettled = incidentBodies('SELECT body FROM incident WHERE settled = 0 ORDER BY fired_at, no');
  const pending = bodies<Notification>(
    "SELECT body FROM message WHERE state = 'pending' ORDER BY created_at, no",
  );
  const silences = bodies<Silence>('SELECT body FROM silence WHERE ends_at > ? ORDER BY ends_at, id');
  const notes = db.prepare<[string, string], NoteRow>(
    'SELECT name, value FROM note WHERE name NOT IN (?, ?)',
  );
  const damaged = db.prepare<[], DamagedRun>(
    `SELECT account, earliest_at AS earliestAt, latest_at AS latestAt, polls, found_at AS foundAt FROM damaged_run
     ORDER BY no`,
  );
  const incident = incidentBodies('SELECT body FROM incident WHERE id = ?');
  const latest = bodies<Notification>(
    'SELECT body FROM message WHERE created_at < ? ORDER BY created_at DESC, no DESC LIMIT ?',
  );

  /** Those that are settled as far as anybody was told, while the message that says so waits. */
  function spokenOf(messages: readonly Notification[], known: readonly Incident[]): Incident[] {
    const ids = new Set(messages.flatMap(({ items }) => items.map((item) => item.incident)));
    for (const { id } of known) ids.delete(id);
    return [...ids].flatMap((id) => incident(id));
  }

  const load = db.transaction((): StoredState => {
    const messages = pending();
    const incidents = unsettled();
    return {
      accounts: accounts().map(accountFromBody),
      spending: spending.all(),
      backoffs: backoffs(),
      alerts: alerts(),
      incidents: [...incidents, ...spokenOf(messages, incidents)],
      messages,
      silences: silences(now()),
      notes: Object.fromEntries(notes.all(ownerNote, databaseIdNote).map(({ name, value }) => [name, value])),
      damaged: damaged.all(),
    };
  });

  return {
    load: () => guard(() => load.deferred()),
    incidents: (query) =>
      guard(() => {
        const { sql, values } = selectIncidents(query);
        return incidentBodies(sql)(...values);
      }),
    incident: (id) => guard(() => incident(id)[0] ?? null),
    silences: (notOverAt) => guard(() => silences(notOverAt)),
    messages: (limit, before = Number.MAX_SAFE_INTEGER) => guard(() => latest(before, limit)),
  };
}

/** Only this program writes bodies, by JSON.stringify of a T, so that what comes back is one. */
function parseBody<T>(row: BodyRow): T {
  try {
    return JSON.parse(row.body) as T;
  } catch {
    throw new DamagedRecordError('a stored record is not whole');
  }
}

function selectIncidents(query: IncidentQuery): {
  readonly sql: string;
  readonly values: readonly (string | number)[];
} {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const require = (condition: string, ...bound: readonly (string | number)[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (query.account !== undefined) require('account = ?', query.account);
  if (query.rule !== undefined) require('rule = ?', query.rule);
  if (query.until !== undefined) require('fired_at < ?', query.until);
  // The end is exclusive, so that what has no length, such as an event, is found by its beginning.
  if (query.since !== undefined)
    require('(ended_at IS NULL OR ended_at > ? OR fired_at >= ?)', query.since, query.since);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return {
    sql: `SELECT body FROM incident ${where} ORDER BY fired_at DESC, no DESC LIMIT ?`,
    values: [...values, query.limit ?? -1],
  };
}
