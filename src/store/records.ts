import type { Alert, Incident } from '../domain/alert.ts';
import { parseJson, parseJsonObject } from '../domain/json.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Notification } from '../domain/outbox.ts';
import { inParts } from '../domain/parts.ts';
import { keptAfterEndMs, type Silence } from '../domain/route.ts';
import { hourMs } from '../domain/time.ts';
import { isOfAnotherVersion } from '../engine/orders.ts';
import {
  type DamagedRecord,
  type DamagedRun,
  type GroupBackoff,
  type IncidentQuery,
  type LeftOrder,
  type StoredSpending,
  type StoredState,
  untoldDamageNote,
} from '../ports/store.ts';
import { type Asking, ask, type Value } from './asking.ts';
import { accountFromBody, incidentFromBody, type StoredAccount, type StoredIncident } from './bodies.ts';
import { faultOfNote, faultOfRecord } from './shapes.ts';

/** Rows per page: a few megabytes, well within the time that a statement may take. */
const pageRows = 2000;

/** A record as its row gives it. `second` is the second part of a key that has two. */
interface BodyRow {
  readonly key: string;
  readonly second?: string;
  readonly body: string;
  readonly at?: number;
  /** The columns by which the row of an incident is found. */
  readonly account?: string;
  readonly rule?: string;
}

type IncidentRow = BodyRow & { readonly firedAt: number; readonly no: number };

// In the order of their numbers: the clock may have been set back since. The plus sign keeps SQLite from reading the whole table in that order.
const pendingMessages =
  "SELECT id AS key, body, created_at AS at FROM message WHERE state = 'pending' ORDER BY +no";
const incidentRow = 'SELECT fired_at AS "firedAt", no, id AS key, account, rule, body FROM incident';

/**
 * Everything that a daemon continues from. Silences that were long over at `now` are left out. Records that cannot be read are left out
 * and named in `damagedRecords`. With `isLenient`, this also holds for a table that is damaged as a whole.
 */
export function* loadState(now: number, isLenient = false): Asking<StoredState> {
  const damagedRecords: DamagedRecord[] = [];
  function* part<T>(source: string, read: Asking<readonly T[]>): Asking<readonly T[]> {
    try {
      return yield* read;
    } catch (error) {
      if (!isLenient || !(error instanceof StorageError) || error.kind !== 'corrupt') throw error;
      damagedRecords.push({ source, key: '', second: null, body: null, reason: error.message });
      return [];
    }
  }
  function* bodies<T extends object>(source: string, read: Asking<readonly BodyRow[]>): Asking<readonly T[]> {
    return sift<T>(source, yield* read, damagedRecords);
  }
  const records = <T extends object>(source: string, read: Asking<readonly BodyRow[]>) =>
    part(source, bodies<T>(source, read));

  // Notes that begin with "@" are not part of the state: the owner of a database and its id, for example.
  const notes = yield* part(
    'note',
    ask<{ name: string; value: string }>("SELECT name, value FROM note WHERE name NOT LIKE '@%'"),
  );
  const readable = notes.filter(({ name: key, value: body }) => {
    const reason = faultOfNote(key, body);
    if (reason !== null) damagedRecords.push({ source: 'note', key, second: null, body, reason });
    return reason === null;
  });
  damagedRecords.push(...readUntold(readable.find(({ name }) => name === untoldDamageNote)?.value));
  const accounts = yield* records<StoredAccount>('account', askAccounts());
  const spending = yield* part('spending', askSpending());
  const backoffs = yield* records<GroupBackoff>(
    'backoff',
    ask('SELECT group_key AS key, body FROM backoff ORDER BY group_key'),
  );
  const alerts = yield* records<Alert>('alert', askAlerts());
  const messages = yield* records<Notification>('message', ask(pendingMessages));
  const lostSince = Math.min(...damagedRecords.flatMap(({ at = [] }) => at));
  const incidents = yield* records<StoredIncident>('incident', askIncidents(messages, lostSince));
  const silences = yield* records<Silence>('silence', askSilences(now - keptAfterEndMs));
  const damaged = yield* part(
    'damaged_run',
    ask<DamagedRun>(
      `SELECT account, earliest_at AS "earliestAt", latest_at AS "latestAt", polls, found_at AS "foundAt"
       FROM damaged_run ORDER BY no`,
    ),
  );
  return {
    accounts: accounts.map(accountFromBody),
    spending: spending.map(({ account, bytes }) => ({ account, bytes })),
    backoffs,
    alerts,
    incidents: incidents.map(incidentFromBody),
    messages,
    silences,
    notes: Object.fromEntries(readable.map(({ name, value }) => [name, value])),
    damaged,
    ...(damagedRecords.length === 0 ? {} : { damagedRecords }),
  };
}

/** Newest first. */
export function* findIncidents(query: IncidentQuery): Asking<readonly Incident[]> {
  const { account, rule, since, until, limit } = query;
  const values: Value[] = [];
  const conditions = [
    { bound: account, condition: 'account = $' },
    { bound: rule, condition: 'rule = $' },
    { bound: until, condition: 'fired_at < $' },
    // The end is exclusive. An event has no length, so it is found by its beginning.
    { bound: since, condition: '(ended_at IS NULL OR ended_at > $ OR fired_at >= $)' },
  ].flatMap(({ bound, condition }) =>
    bound === undefined ? [] : [condition.replaceAll('$', `$${values.push(bound)}`)],
  );
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const last = `LIMIT $${values.push(limit ?? Number.MAX_SAFE_INTEGER)}`;
  const newest = `SELECT id AS key, account, rule, body FROM incident ${where} ORDER BY fired_at DESC, no DESC ${last}`;
  return sift<StoredIncident>('incident', yield* ask(newest, values)).map(incidentFromBody);
}

/** Soonest end first. */
export function* findSilences(notOverAt: number): Asking<readonly Silence[]> {
  return sift<Silence>('silence', yield* askSilences(notOverAt));
}

/** Newest first. */
export function* findMessages(limit: number, before: number): Asking<readonly Notification[]> {
  const newest =
    'SELECT id AS key, body FROM message WHERE created_at < $1 ORDER BY created_at DESC, no DESC LIMIT $2';
  return sift<Notification>('message', yield* ask(newest, [before, limit]));
}

/** The value of the note about these records. It leaves out whole tables: one that cannot be read is found again at each start. */
export function writeUntold(records: readonly DamagedRecord[]): string {
  return JSON.stringify(records.filter(({ key }) => key !== '').map((record) => ({ ...record, body: null })));
}

/** Reads the text that `writeUntold` wrote. */
export function readUntold(value: string | undefined): readonly DamagedRecord[] {
  if (value === undefined || faultOfNote(untoldDamageNote, value) !== null) return [];
  return JSON.parse(value) as DamagedRecord[];
}

/** Parses bodies and sets apart those that cannot be read. A body that passes its check was written as a T. */
function sift<T extends object>(
  source: string,
  rows: readonly BodyRow[],
  damaged: DamagedRecord[] = [],
): readonly T[] {
  return rows.flatMap(({ key, second = null, body, ...rest }) => {
    const parsed = parseJson(body);
    const names = [key, second, rest.account, rest.rule].filter((name) => name != null);
    const reason = faultOfRecord(source, parsed, names);
    if (reason === null) return [parsed as T];
    damaged.push({ source, key, second, body, reason, ...(rest.at === undefined ? {} : { at: rest.at }) });
    return [];
  });
}

export interface OrderRow {
  readonly no: number;
  readonly body: string;
}

/**
 * The orders that were not given before, and the rows that the next commit deletes. Orders of a program of another version stay for it.
 * `given` remembers all: a database that lost its last commits brings orders back, and they must not be given again.
 */
export function takeFresh(
  rows: readonly OrderRow[],
  given: Set<string>,
): { readonly orders: readonly LeftOrder[]; readonly taken: readonly OrderRow[] } {
  const fresh = rows.filter(({ no, body }) => !given.has(`${no} ${body}`));
  for (const { no, body } of fresh) given.add(`${no} ${body}`);
  const taken = rows.filter(({ body }) => !isOfAnotherVersion(parseOrder(body)));
  return { orders: fresh.map(({ body }) => parseOrder(body)), taken };
}

/** An order that is not a JSON object becomes one without a kind, which the reader of orders sets aside. */
export function parseOrders(rows: readonly { readonly body: string }[]): readonly LeftOrder[] {
  return rows.map(({ body }) => parseOrder(body));
}

function parseOrder(body: string): LeftOrder {
  return parseJsonObject(body) ?? { body };
}

/** Asks until a page is empty. `after` returns, from the last row of a page, the values after which the next page begins. */
function* askPages<Row>(
  text: string,
  first: readonly Value[],
  after: (row: Row) => readonly Value[],
): Asking<readonly Row[]> {
  const rows: Row[] = [];
  for (let from = first; ; ) {
    const page = yield* ask<Row>(text, [...from, pageRows], true);
    const last = page.at(-1);
    if (last === undefined) return rows;
    for (const row of page) rows.push(row);
    from = after(last);
  }
}

function askAccounts(): Asking<readonly BodyRow[]> {
  return askPages<BodyRow & { readonly no: number }>(
    'SELECT no, id AS key, body FROM account WHERE body IS NOT NULL AND no > $1 ORDER BY no LIMIT $2',
    [0],
    ({ no }) => [no],
  );
}

function askSpending(): Asking<readonly StoredSpending[]> {
  return askPages<StoredSpending & { readonly no: number }>(
    `SELECT no, id AS account, state AS bytes FROM spending JOIN account ON no = account_no
     WHERE body IS NOT NULL AND account_no > $1 ORDER BY account_no LIMIT $2`,
    [0],
    ({ no }) => [no],
  );
}

function askAlerts(): Asking<readonly BodyRow[]> {
  return askPages<BodyRow>(
    `SELECT account AS key, rule AS second, body FROM alert
     WHERE (account, rule) > ($1, $2) ORDER BY account, rule LIMIT $3`,
    ['', ''],
    ({ key, second = '' }) => [key, second],
  );
}

/** The longest time between the end of an incident and the creation of a message about it. */
const putOutWithinMs = hourMs;

/** Unsettled incidents, and settled ones with a pending message, or that ended later than an hour before `lostSince`: a lost message may name them. */
function* askIncidents(pending: readonly Notification[], lostSince: number): Asking<readonly BodyRow[]> {
  const rows = [
    ...(yield* askPages<IncidentRow>(
      `${incidentRow} WHERE settled = 0 AND (fired_at, no) > ($1, $2) ORDER BY fired_at, no LIMIT $3`,
      [Number.MIN_SAFE_INTEGER, 0],
      ({ firedAt, no }) => [firedAt, no],
    )),
  ];
  if (Number.isFinite(lostSince)) {
    const since = [lostSince - putOutWithinMs];
    rows.push(...(yield* ask<IncidentRow>(`${incidentRow} WHERE settled = 1 AND ended_at >= $1`, since)));
  }
  const named = new Set(pending.flatMap(({ items }) => items.map(({ incident }) => incident)));
  for (const ids of inParts(named, pageRows)) {
    const places = ids.map((_, index) => `$${index + 1}`).join(', ');
    rows.push(...(yield* ask<IncidentRow>(`${incidentRow} WHERE settled = 1 AND id IN (${places})`, ids)));
  }
  return [...new Map(rows.map((row) => [row.no, row])).values()].sort(
    (left, right) => left.firedAt - right.firedAt || left.no - right.no,
  );
}

function askSilences(notOverAt: number): Asking<readonly BodyRow[]> {
  return ask('SELECT id AS key, body FROM silence WHERE ends_at > $1 ORDER BY ends_at, id', [notOverAt]);
}
