import type { Alert, LastNotified } from '../domain/alert.ts';
import { isObject, keyOf, parseJson } from '../domain/json.ts';
import type { Rates } from '../domain/one-sum.ts';
import type { AnnouncedRun, AuditEntry, ExpectedTopUp, KnownSession } from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import type { Silence } from '../domain/route.ts';
import { severities } from '../domain/severity.ts';
import type { MemberCard } from '../ports/cluster.ts';
import { type DamagedRecord, type GroupBackoff, type Unstored, untoldDamageNote } from '../ports/store.ts';
import type { StoredAccount, StoredIncident } from './bodies.ts';
import { databaseIdNote } from './tables.ts';

/** Whether this program can continue from a stored value. Extra keys that a newer program added to an object do not matter. */
type Check = (value: unknown) => boolean;
/** One check for each key of the type: a new key of the type does not compile without one. */
type Shape<T> = { readonly [Key in keyof Required<T>]: Check };

/** The latest instant that a Date can hold. */
const maxInstant = 8.64e15;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const number: Check = (value) => Number.isFinite(value);
const instant: Check = (value) => typeof value === 'number' && Math.abs(value) <= maxInstant;
const micros: Check = (value) => Number.isSafeInteger(value);

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
/** A key that earlier versions did not store, or that is left out when there is nothing to say. */
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const recordOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);

function each<Key extends string>(check: Check, ...keys: readonly Key[]): Readonly<Record<Key, Check>>;
function each(check: Check, ...keys: readonly string[]) {
  return Object.fromEntries(keys.map((key) => [key, check]));
}

function objectOf<T>(shape: Shape<T>): Check {
  const checks = Object.entries<Check>(shape);
  return (value) => isObject(value) && checks.every(([key, check]) => check(keyOf(value, key)));
}

function unionOf(by: string, shapes: Readonly<Record<string, Shape<object>>>): Check {
  const checks = new Map(Object.entries(shapes).map(([name, shape]) => [name, objectOf(shape)]));
  return (value) => checks.get(String(keyOf(value, by)))?.(value) === true;
}

const severity = oneOf(severities);
const rises = number;
const quantities = { money: { micros: number }, duration: { ms: number }, text: { text } };
const quantity = unionOf('unit', quantities);
const factValue = unionOf('unit', { ...quantities, instant: { at: instant }, count: { count: number } });
const facts = listOf(objectOf<Alert['facts'][number]>({ name: text, value: factValue }));

const reading: Check = (value) =>
  isObject(value) &&
  text(keyOf(value, 'currency')) &&
  instant(keyOf(value, 'at')) &&
  Object.entries(value).every(([key, amount]) => key === 'currency' || micros(amount));
const providerFacts = { autoRecharge: flag, creditLimitMicros: micros, pendingMicros: micros };

const account = objectOf<StoredAccount>({
  account: text,
  ...each(orNull(text), 'outcome', 'failure'),
  ...each(number, 'consecutiveFailures', 'unwatchedMs'),
  failureCode: orNull(number),
  firstSeenAt: instant,
  ...each(orNull(instant), 'polledAt', 'changedAt', 'retryAt'),
  seriesSince: orAbsent(instant),
  ...each(orNull(reading), 'reading', 'previous'),
  usage: recordOf(text),
  facts: orAbsent((value) =>
    Object.entries(providerFacts).every(([key, is]) => orAbsent(is)(keyOf(value, key))),
  ),
  purse: orAbsent(
    orNull(objectOf({ address: text, key: text, host: orAbsent(text), entry: orAbsent(text) })),
  ),
});

const alertParts = {
  ...each(text, 'account', 'rule', 'type'),
  balance: orNull(text),
  severity,
  ...each(orNull(quantity), 'value', 'threshold'),
  facts,
  flappingSince: orNull(instant),
};
const alert = objectOf<Alert>({
  ...alertParts,
  state: oneOf(['inactive', 'pending', 'firing'] satisfies Alert['state'][]),
  incident: orNull(text),
  ...each(orNull(instant), 'breachedSince', 'recoveringSince'),
  rising: orNull(objectOf({ severity, since: instant })),
  changedAt: listOf(instant),
});

const lastNotified = objectOf<LastNotified>({
  firstMessage: text,
  subject: orNull(text),
  receipt: orAbsent(text),
  at: instant,
  escalatedAt: orNull(instant),
  acknowledgedAt: orAbsent(orNull(instant)),
  keys: orAbsent(
    objectOf({ first: number, newest: number, taken: orNull(number), unstored: orAbsent(number) }),
  ),
  pausedMs: orAbsent(number),
  severity,
  rises,
  ...each(flag, 'resolved', 'flapping'),
});
const heir = orAbsent(objectOf({ node: text, from: text }));
const resolution = unionOf('kind', {
  recovered: {},
  'topped-up': { micros },
  'rule-removed': { heir },
  'account-removed': { heir },
  'channel-removed': { heir },
  'account-moved': {},
});
const incidentParts = {
  ...alertParts,
  ...each(text, 'id', 'accountName'),
  labels: recordOf(text),
  provider: orAbsent(text),
  currency: orAbsent(orNull(text)),
  worstSeverity: severity,
  rises,
  anotherAt: orAbsent(rises),
  ...each(instant, 'firedAt', 'escalationSince'),
  resolvedAt: orNull(instant),
  resolution: orNull(resolution),
  event: flag,
  acknowledgement: orNull(objectOf({ at: instant, by: text, comment: text, rises, severity })),
  eased: orAbsent(orNull(objectOf({ severity, rises }))),
};
const incident = objectOf<StoredIncident>({ ...incidentParts, told: recordOf(lastNotified) });
const testAlert = objectOf({ ...incidentParts, notified: recordOf(lastNotified) });

const before = orAbsent(objectOf({ severity, rises, acknowledgedAt: orNull(instant) }));
const item = objectOf({ ...each(text, 'incident', 'account', 'rule', 'kind'), at: instant, before });
const message = objectOf<Notification>({
  ...each(text, 'id', 'channel'),
  state: oneOf(['pending', 'delivered', 'dead'] satisfies Notification['state'][]),
  items: listOf(item),
  report: orNull(objectOf({ id: text, since: instant, until: instant })),
  ...each(instant, 'createdAt', 'dueAt', 'giveUpAt'),
  deliveredAt: orNull(instant),
  ...each(number, 'revision', 'attempts'),
  uncertain: flag,
  lastError: orNull(text),
  ...each(orAbsent(listOf(text)), 'owed', 'except'),
});

const matcher = objectOf<Silence['match']>({
  ...each(orAbsent(listOf(text)), 'account', 'provider', 'currency', 'rule'),
  severity: orAbsent(listOf(severity)),
  labels: orAbsent(recordOf(listOf(text))),
  not: orAbsent(isObject),
});
const silence = objectOf<Silence>({
  ...each(text, 'id', 'createdBy', 'comment'),
  match: matcher,
  ...each(instant, 'startsAt', 'endsAt', 'createdAt'),
  expired: orAbsent(flag),
});
const backoff = objectOf<GroupBackoff>({ group: text, strikes: number, until: instant });

/** The checks of the records' bodies by table, each with the keys of the body that are also columns of its row. */
const records: ReadonlyMap<string, { readonly check: Check; readonly names: readonly string[] }> = new Map(
  Object.entries({
    account: { check: account, names: ['account'] },
    alert: { check: alert, names: ['account', 'rule'] },
    incident: { check: incident, names: ['id', 'account', 'rule'] },
    message: { check: message, names: ['id'] },
    silence: { check: silence, names: ['id'] },
    backoff: { check: backoff, names: ['group'] },
  }),
);

const written =
  (check: Check): Check =>
  (value) =>
    check(parseJson(String(value)));
const key: Check = (value) => /^[\w-]{8,}$/.test(String(value));
const expected = objectOf<ExpectedTopUp>({
  ...each(text, 'id', 'account', 'balance', 'orderedBy', 'comment'),
  ...each(micros, 'amountMicros', 'receivedMicros'),
  ...each(instant, 'by', 'orderedAt'),
});
const announced = objectOf<AnnouncedRun>({
  ...each(text, 'id', 'account', 'balance', 'announcedBy', 'comment'),
  ...each(micros, 'amountMicros', 'spentMicros', 'usualMicros'),
  ...each(instant, 'startsAt', 'endsAt', 'announcedAt'),
});
const decimal: Check = (value) => /^\d+(\.\d+)?$/.test(String(value)) && Number(value) > 0;
const rates = objectOf<Rates>({ ...each(text, 'date', 'base'), amounts: recordOf(decimal), inverted: flag });
const session = objectOf<KnownSession>({
  ...each(text, 'id', 'from', 'agent'),
  role: oneOf(['operator', 'viewer'] satisfies KnownSession['role'][]),
  ...each(instant, 'endsAt', 'usedAt'),
});
const auditEntry = objectOf<AuditEntry>({
  ...each(text, 'by', 'action', 'detail'),
  ...each(orNull(text), 'from', 'account', 'rule'),
  at: instant,
});

type Status = MemberCard['status'];
const status = objectOf<NonNullable<Status>>({
  process: text,
  skewMs: orNull(number),
  polls: flag,
  stores: orAbsent(flag),
  since: orNull(instant),
});

const pollRecord = objectOf({
  at: instant,
  outcome: text,
  reading: orNull(objectOf({ at: instant, currency: text, balances: recordOf(micros) })),
});
/** The incidents are not checked here: each is checked by itself. */
export const isUnstored = objectOf<Unstored>({
  at: instant,
  polls: listOf(objectOf({ account: text, poll: pollRecord })),
  ...each(listOf(isObject), 'incidents', 'orders'),
});

const damagedRecord = objectOf<DamagedRecord>({
  ...each(text, 'source', 'key', 'reason'),
  ...each(orNull(text), 'second', 'body'),
  at: orAbsent(instant),
});

const owner = objectOf({
  ...each(number, 'pid', 'startedAt'),
  ...each(text, 'host', 'program'),
  path: orAbsent(text),
  file: orAbsent(orNull(text)),
  life: orAbsent(orNull(isObject)),
});

/** The checks of the values of notes, by the part of their name before the colon. Notes of any other name are a newer program's. */
const notes: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    ...each(written(instant), 'alive-at', 'lived-at', 'order-at', 'report', 'retention-at', 'signed-out'),
    ...each(key, 'digest-key', 'calendar-key', 'receiver'),
    'link-keys': (value) => /^\d+:[\w-]{8,}( \d+:[\w-]{8,})*$/.test(String(value)),
    expected: written(listOf(expected)),
    announced: written(listOf(announced)),
    rates: written(rates),
    session: written(session),
    audit: written(auditEntry),
    'test-alert': written(testAlert),
    'set-back': written(listOf(listOf(instant))),
    [untoldDamageNote]: written(listOf(damagedRecord)),
    '@owner': written(owner),
    [databaseIdNote]: (value) => /^[0-9a-f]{16,32}$/.test(String(value)),
  } satisfies Record<string, Check>),
);

/** Null for the whole body of a record, else a clause that says why it is not. `names`: its row's; a flipped bit there names another record. */
export function faultOfRecord(table: string, body: unknown, names?: readonly string[]): string | null {
  if (!isObject(body)) return 'it is not JSON';
  const record = records.get(table);
  if (record?.check(body) === false) return 'it is not whole';
  const wrong = names && record?.names.find((name, place) => keyOf(body, name) !== names[place]);
  return wrong === undefined ? null : `its "${wrong}" is another than its row is found by`;
}

/** `faultOfRecord` for a note. */
export function faultOfNote(name: string, value: string): string | null {
  return notes.get(name.split(':')[0] ?? '')?.(value) === false ? 'it is not whole' : null;
}

/** The status of a member; null when it cannot be read, as from a program that gives none. */
export function readStatus(value: string | null): Status {
  const parsed = parseJson(value ?? 'null');
  return status(parsed) ? (parsed as Status) : null;
}
