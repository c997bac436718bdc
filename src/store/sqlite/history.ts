import type { PollRecord, Reading } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import { groupOverlapping } from '../runs/overlap.ts';
import { byStorage, cut, decodeRun, likelySpansMs, type StoredRun, spanOf } from '../runs/stored-run.ts';
import type { Connection } from './connection.ts';
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
}

/** What can be asked of the stored polls. Nothing stays open in the database between two parts that a caller takes. */
type History = Pick<SqliteReader, 'polls' | 'readings' | 'readingBefore'>;

export function openHistory(db: Connection, path: string): History {
  const findTail = db.prepare<[string], TailRow>(
    'SELECT no, tail AS data, tail_polls AS polls FROM account WHERE id = ?',
  );
  const findRuns = db.prepare<[number, number, number], StoredRun>(
    `SELECT seq, earliest_at AS earliestAt, latest_at AS latestAt FROM segment
     WHERE account_no = ? AND latest_at >= ? AND earliest_at < ? ORDER BY latest_at DESC`,
  );
  const findData = db.prepare<[number], RunData>('SELECT data, polls FROM segment WHERE seq = ?');

  /** The tail and the sealed runs that touch the span, as of one moment, newest first. */
  const snapshot = db.transaction(
    (query: HistoryQuery): { runs: readonly StoredRun[]; tail: readonly PollRecord[] } => {
      const row = findTail.get(query.account);
      if (row === undefined) return { runs: [], tail: [] };
      const tail = row.data === null ? [] : decodeRun({ data: row.data, polls: row.polls });
      const sealed = findRuns.all(row.no, query.since, query.until);
      const runs = tail.length === 0 ? sealed : [{ seq: null, ...spanOf(tail) }, ...sealed];
      return { runs: runs.sort((left, right) => right.latestAt - left.latestAt), tail };
    },
  );

  const takeSnapshot = (query: HistoryQuery) => guardStorage(path, () => snapshot.deferred(query));

  function readRun(run: StoredRun, tail: readonly PollRecord[]): readonly PollRecord[] {
    const { seq } = run;
    if (seq === null) return tail;
    return guardStorage(path, () => {
      const row = findData.get(seq);
      // Retention may have deleted it since the snapshot.
      return row === undefined ? [] : decodeRun(row);
    });
  }

  /** The polls of a span, oldest first or as they were stored, some at a time. */
  function* spans(query: HistoryQuery): Generator<readonly PollRecord[]> {
    const { runs, tail } = takeSnapshot(query);
    if (query.asStored === true) {
      for (const run of [...runs].sort(byStorage)) yield cut(readRun(run, tail), run, query);
      return;
    }
    for (const group of groupOverlapping([...runs].sort(byStorage))) {
      const found = group.flatMap((run) => cut(readRun(run, tail), run, query));
      // Within a run polls are in order; runs overlap only where the clock was set back.
      yield group.length === 1 ? found : found.sort((left, right) => left.at - right.at);
    }
  }

  /** The newest reading before the span's end in the runs that touch it. */
  function newestIn(query: HistoryQuery): Reading | null {
    const { runs, tail } = takeSnapshot(query);
    let newest: Reading | null = null;
    for (const run of runs) {
      if (newest !== null && run.latestAt < newest.at) break;
      for (const { reading } of readRun(run, tail)) {
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
