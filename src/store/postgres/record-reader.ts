import type { AccountState } from '../../domain/account-state.ts';
import type { Alert, Incident } from '../../domain/alert.ts';
import type { Notification } from '../../domain/outbox.ts';
import type { Silence } from '../../domain/silence.ts';
import type {
  DamagedRun,
  GroupBackoff,
  StoredSpending,
  StoredState,
  StoreReader,
} from '../../ports/store.ts';
import { incidentFromBody } from '../incident-body.ts';
import { DamagedRecordError } from '../runs/damaged-record.ts';
import type { Ask, Database, Value } from './connection.ts';
import { asStorageError } from './failure.ts';

/** So many rows are asked for at once: a few megabytes, well within the time that a statement may take. */
const pageRows = 2000;

interface BodyRow {
  readonly body: string;
}

/** One moment of everything that a daemon goes on from; silences that were over at `now` are left out. And what is asked by itself. */
type RecordReader = Pick<StoreReader, 'incidents' | 'incident' | 'silences'> & {
  load(now: number): Promise<StoredState>;
  messages(limit: number, before: number): Promise<readonly Notification[]>;
};

const findIncidents = `SELECT body FROM incident
  WHERE ($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR rule = $2)
    AND ($3::bigint IS NULL OR fired_at < $3)
    AND ($4::bigint IS NULL OR ended_at IS NULL OR ended_at > $4 OR fired_at >= $4)
  ORDER BY fired_at DESC, no DESC LIMIT $5`;

export function openRecordReader({ ask, snapshot }: Database): RecordReader {
  return {
    load: (now) => snapshot((asked) => loadAll(asked, now)),
    async incidents({ account, rule, since, until, limit }) {
      const values = [account, rule, until, since].map((value) => value ?? null);
      // The end is exclusive, so that what has no length, such as an event, is found by its beginning.
      const rows = await ask<BodyRow>(findIncidents, [...values, limit ?? null]);
      return rows.map(parseIncident);
    },
    async incident(id) {
      const [row] = await ask<BodyRow>('SELECT body FROM incident WHERE id = $1', [id]);
      return row === undefined ? null : parseIncident(row);
    },
    silences: (notOverAt) => findSilences(ask, notOverAt),
    async messages(limit, before) {
      const newest =
        'SELECT body FROM message WHERE created_at < $1 ORDER BY created_at DESC, no DESC LIMIT $2';
      return (await ask<BodyRow>(newest, [before, limit])).map(parseBody<Notification>);
    },
  };
}

async function findSilences(ask: Ask, notOverAt: number): Promise<readonly Silence[]> {
  const found = 'SELECT body FROM silence WHERE ends_at > $1 ORDER BY ends_at, id';
  return (await ask<BodyRow>(found, [notOverAt])).map(parseBody<Silence>);
}

async function loadAll(ask: Ask, now: number): Promise<StoredState> {
  const bodies = async <T>(text: string, values: readonly Value[] = []): Promise<readonly T[]> =>
    (await ask<BodyRow>(text, values)).map(parseBody<T>);
  const notes = await ask<{ name: string; value: string }>(
    "SELECT name, value FROM note WHERE name NOT LIKE '@%'",
  );
  return {
    accounts: await loadAccounts(ask),
    spending: await loadSpending(ask),
    backoffs: await bodies<GroupBackoff>('SELECT body FROM backoff ORDER BY group_key'),
    alerts: await loadAlerts(ask),
    incidents: await loadIncidents(ask),
    messages: await bodies<Notification>(
      "SELECT body FROM message WHERE state = 'pending' ORDER BY created_at, no",
    ),
    silences: await findSilences(ask, now),
    notes: Object.fromEntries(notes.map(({ name, value }) => [name, value])),
    damaged: await ask<DamagedRun>(
      `SELECT account, earliest_at AS "earliestAt", latest_at AS "latestAt", polls, found_at AS "foundAt"
       FROM damaged_run ORDER BY no`,
    ),
  };
}

/** Rows a page at a time; `after` gives from the last row of a page what the next one begins after. */
async function allPages<Row>(
  ask: Ask,
  text: string,
  first: readonly Value[],
  after: (row: Row) => readonly Value[],
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let from = first;
  for (;;) {
    const page = await ask<Row>(text, [...from, pageRows]);
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return rows;
    from = after(last);
  }
}

async function loadAccounts(ask: Ask): Promise<readonly AccountState[]> {
  const rows = await allPages<BodyRow & { readonly no: number }>(
    ask,
    'SELECT no, body FROM account WHERE body IS NOT NULL AND no > $1 ORDER BY no LIMIT $2',
    [0],
    ({ no }) => [no],
  );
  return rows.map(parseBody<AccountState>);
}

async function loadSpending(ask: Ask): Promise<readonly StoredSpending[]> {
  const rows = await allPages<StoredSpending & { readonly no: number }>(
    ask,
    `SELECT no, id AS account, state AS bytes FROM spending JOIN account ON no = account_no
     WHERE body IS NOT NULL AND account_no > $1 ORDER BY account_no LIMIT $2`,
    [0],
    ({ no }) => [no],
  );
  return rows.map(({ account, bytes }) => ({ account, bytes }));
}

async function loadAlerts(ask: Ask): Promise<readonly Alert[]> {
  const rows = await allPages<BodyRow & { readonly account: string; readonly rule: string }>(
    ask,
    'SELECT account, rule, body FROM alert WHERE (account, rule) > ($1, $2) ORDER BY account, rule LIMIT $3',
    ['', ''],
    ({ account, rule }) => [account, rule],
  );
  return rows.map(parseBody<Alert>);
}

type IncidentRow = BodyRow & { readonly firedAt: number; readonly no: number };

/** What is not settled, by its own index, and what is settled but for a message that waits. */
async function loadIncidents(ask: Ask): Promise<readonly Incident[]> {
  const unsettled = await allPages<IncidentRow>(
    ask,
    `SELECT fired_at AS "firedAt", no, body FROM incident
     WHERE settled = 0 AND (fired_at, no) > ($1, $2) ORDER BY fired_at, no LIMIT $3`,
    [Number.MIN_SAFE_INTEGER, 0],
    ({ firedAt, no }) => [firedAt, no],
  );
  const spokenOf = await ask<IncidentRow>(
    `SELECT fired_at AS "firedAt", no, body FROM incident WHERE settled = 1 AND id IN (
       SELECT item ->> 'incident' FROM message, json_array_elements(message.body::json -> 'items') AS item
       WHERE message.state = 'pending')`,
  );
  return [...unsettled, ...spokenOf]
    .sort((left, right) => left.firedAt - right.firedAt || left.no - right.no)
    .map(parseIncident);
}

function parseIncident(row: BodyRow): Incident {
  return incidentFromBody(parseBody(row));
}

/** Only this program writes bodies, by JSON.stringify of a T, so that what comes back is one. */
function parseBody<T>(row: BodyRow): T {
  try {
    return JSON.parse(row.body) as T;
  } catch {
    throw asStorageError(new DamagedRecordError('a stored record is not whole'), 'read');
  }
}
