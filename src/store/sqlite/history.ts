import type { PollRecord, Reading } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import { groupOverlapping } from '../runs/overlap.ts';
import {
  byStorage,
  cut,
  decodeRun,
  likelySpansMs,
  type StoredRun,
  spanOf,
  unlessDamaged,
} from '../runs/stored-run.ts';
import type { Connection } from './connection.ts';
import type { FoundDamage } from './damaged-runs.ts';
import { guardStorage } from './failure.ts';
import type { SqliteReader } from './port.ts';

interface RunData {
  readonly data: Buffer;
  readonly polls: number;
}

interface TailRow {
  readonly no: number;
  readonly data: Buffer | null;
  readonly polls: number;
  readonly latestAt: number | null;
}

interface Snapshot {
  readonly account: string;
  readonly runs: readonly StoredRun[];
  readonly tail: readonly PollRecord[];
}

/** What can be asked of the stored polls. Nothing stays open in the database between two parts that a caller takes. */
type History = Pick<SqliteReader, 'polls' | 'readings' | 'readingBefore'>;

/** `damaged` hears of each run that is left out because it cannot be read. */
export function openHistory(
  db: Connection,
  path: string,
  damaged: (found: FoundDamage) => void = () => {},
): History {
  const findTail = db.prepare<[string], TailRow>(
    'SELECT no, tail AS data, tail_polls AS polls, tail_latest_at AS latestAt FROM account WHERE id = ?',
  );
  const findRuns = db.prepare<[number, number, number], StoredRun>(
    `SELECT seq, earliest_at AS earliestAt, latest_at AS latestAt FROM segment
     WHERE account_no = ? AND latest_at >= ? AND earliest_at < ? ORDER BY latest_at DESC`,
  );
  const findData = db.prepare<[number], RunData>('SELECT data, polls FROM segment WHERE seq = ?');

  /** The tail and the sealed runs that touch the span, as of one moment, newest first. */
  const snapshot = db.transaction(({ account, since, until }: HistoryQuery): Snapshot => {
    const row = findTail.get(account);
    if (row === undefined) return { account, runs: [], tail: [] };
    const tail = readTail(account, row);
    const sealed = findRuns.all(row.no, since, until);
    const runs = tail.length === 0 ? sealed : [{ seq: null, ...spanOf(tail) }, ...sealed];
    return { account, runs: runs.sort((left, right) => right.latestAt - left.latestAt), tail };
  });

  function readTail(account: string, { data, polls, latestAt }: TailRow): readonly PollRecord[] {
    if (data === null) return [];
    return unlessDamaged(
      () => decodeRun({ data, polls }),
      (error) => {
        damaged({ account, seq: null, earliestAt: null, latestAt, polls, error });
        return [];
      },
    );
  }

  const takeSnapshot = (query: HistoryQuery) => guardStorage(path, () => snapshot.deferred(query));

  function readRun(run: StoredRun, { account, tail }: Snapshot): readonly PollRecord[] {
    const { seq, earliestAt, latestAt } = run;
    if (seq === null) return tail;
    const row = guardStorage(path, () => findData.get(seq));
    // Retention may have deleted it since the snapshot.
    if (row === undefined) return [];
    return unlessDamaged(
      () => decodeRun(row, run),
      (error) => {
        damaged({ account, seq, earliestAt, latestAt, polls: row.polls, error });
        return [];
      },
    );
  }

  /** The polls of a span, oldest first or as they were stored, some at a time. */
  function* spans(query: HistoryQuery): Generator<readonly PollRecord[]> {
    const found = takeSnapshot(query);
    const runs = found.runs.toSorted(byStorage);
    if (query.asStored === true) {
      for (const run of runs) yield cut(readRun(run, found), run, query);
      return;
    }
    for (const group of groupOverlapping(runs)) {
      const polls = group.flatMap((run) => cut(readRun(run, found), run, query));
      // Within a run polls are in order; runs overlap only where the clock was set back.
      yield group.length === 1 ? polls : polls.sort((left, right) => left.at - right.at);
    }
  }

  /** The newest reading before the span's end in the runs that touch it. */
  function newestIn(query: HistoryQuery): Reading | null {
    const found = takeSnapshot(query);
    let newest: Reading | null = null;
    for (const run of found.runs) {
      if (newest !== null && run.latestAt < newest.at) break;
      for (const { reading } of readRun(run, found)) {
        if (reading !== null && reading.at < query.until && (newest === null || reading.at > newest.at))
          newest = reading;
      }
    }
    return newest;
  }

  return {
    polls: spans,
    *readings(query) {
      for (const span of spans(query)) yield span.flatMap(({ reading }) => reading ?? []);
    },
    readingBefore(account, at) {
      for (const spanMs of likelySpansMs) {
        const since = at - spanMs;
        const found = newestIn({ account, since, until: at });
        // Runs that end before the span hold nothing newer than its beginning.
        if (found !== null && found.at >= since) return found;
      }
      return newestIn({ account, since: Number.MIN_SAFE_INTEGER, until: at });
    },
  };
}
