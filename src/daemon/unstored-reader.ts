import type { Incident } from '../domain/alert.ts';
import type { PollRecord } from '../domain/reading.ts';
import type { Records } from '../engine/records.ts';
import type { MonitorState } from '../engine/state.ts';
import type { HistoryQuery, IncidentQuery, StoreReader } from '../ports/store.ts';

/** The database together with what is not stored yet, which may be hours of work: people see the present state even then. */
export function readWithUnstored(store: StoreReader, state: MonitorState): StoreReader {
  // A loop, because tens of thousands of polls may wait to be stored and a report reads each account.
  const pollsOf = ({ account, since, until }: HistoryQuery) => {
    const found: PollRecord[] = [];
    for (const part of state.polls.unstoredParts())
      for (const { account: of, poll } of part)
        if (of === account && since <= poll.at && poll.at < until) found.push(poll);
    return found;
  };
  const readingsOf = (query: HistoryQuery) => pollsOf(query).flatMap(({ reading }) => reading ?? []);
  return {
    load: () => store.load(),
    // Memory is read first: a row that is stored in the meantime is still found, and only once.
    polls: (query) => joinByTime(pollsOf(query), store.polls(query), query),
    readings: (query) => joinByTime(readingsOf(query), store.readings(query), query),
    async readingBefore(account, at) {
      const newer = readingsOf({ account, since: Number.NEGATIVE_INFINITY, until: at }).sort(byTime).at(-1);
      const stored = await store.readingBefore(account, at);
      return newer === undefined || (stored !== null && newer.at < stored.at) ? stored : newer;
    },
    incidents: (query) =>
      joinNewest(state.incidents, query.limit, {
        read: (limit) => store.incidents({ ...query, limit }),
        instantOf: ({ firedAt }) => firedAt,
        isWanted: (incident) => isWithin(incident, query),
      }),
    silences: (notOverAt) => store.silences(notOverAt),
    messages: (limit, before = Number.MAX_SAFE_INTEGER) =>
      joinNewest(state.messages, limit, {
        read: (most) => store.messages(most, before),
        instantOf: ({ createdAt }) => createdAt,
        isWanted: ({ createdAt }) => createdAt < before,
      }),
    close: () => store.close(),
  };
}

/** Oldest first, in parts as they are stored. Stored rows that memory has too are left out. */
async function* joinByTime<Row extends { readonly at: number }>(
  unstored: readonly Row[],
  stored: AsyncIterable<readonly Row[]>,
  { asStored = false }: HistoryQuery,
): AsyncIterable<readonly Row[]> {
  const known = new Set(unstored.map(({ at }) => at));
  const waiting = asStored ? [...unstored] : unstored.toSorted(byTime);
  for await (const part of stored) {
    const last = asStored ? Number.NEGATIVE_INFINITY : (part.at(-1)?.at ?? Number.NEGATIVE_INFINITY);
    const due = waiting.splice(0, waiting.filter(({ at }) => at <= last).length);
    const others = known.size === 0 ? part : part.filter(({ at }) => !known.has(at));
    yield due.length === 0 ? others : [...others, ...due].sort(byTime);
  }
  if (waiting.length > 0) yield waiting;
}

/** Newest first. A stored row that memory says is not wanted makes room for an older one: fewer rows than `limit` means there are no more. */
async function joinNewest<Row extends { readonly id: string }>(
  records: Records<Row>,
  limit = Number.MAX_SAFE_INTEGER,
  { read, instantOf, isWanted }: NewestRows<Row>,
): Promise<readonly Row[]> {
  const ids = records.unsaved.unstoredParts().flatMap((part) => [...part]);
  const newer = new Map(ids.map((id) => [id, records.get(id)]));
  const unstored = [...newer.values()].flatMap((row) => row ?? []).filter(isWanted);
  const most = Math.min(limit + newer.size - unstored.length, Number.MAX_SAFE_INTEGER);
  const stored = await read(most);
  // Of rows of one instant, the one noted last comes first, as it will when stored.
  return [...unstored.reverse(), ...stored.filter(({ id }) => !newer.has(id))]
    .sort((left, right) => instantOf(right) - instantOf(left))
    .slice(0, limit);
}

interface NewestRows<Row> {
  readonly read: (limit: number) => Promise<readonly Row[]>;
  readonly instantOf: (row: Row) => number;
  readonly isWanted: (row: Row) => boolean;
}

function isWithin({ account, rule, firedAt, resolvedAt, event }: Incident, query: IncidentQuery): boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = query;
  const endedAt = event ? firedAt : (resolvedAt ?? Number.POSITIVE_INFINITY);
  return (
    (query.account ?? account) === account &&
    (query.rule ?? rule) === rule &&
    firedAt < until &&
    (endedAt > since || firedAt >= since)
  );
}

function byTime(left: { readonly at: number }, right: { readonly at: number }): number {
  return left.at - right.at;
}
