import type { PollRecord, Reading } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import type { FoundDamage } from '../runs/damaged-runs.ts';
import {
  arrangeRuns,
  mergeRuns,
  newerReading,
  readingsOf,
  readRun,
  type StoredRun,
  spanOf,
  spansBefore,
} from '../runs/stored-run.ts';
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
    return data === null
      ? []
      : readRun({ account, seq: null, data, polls, earliestAt: null, latestAt }, damaged);
  }

  const takeSnapshot = (query: HistoryQuery) => guardStorage(path, () => snapshot.deferred(query));

  function pollsOf({ account, tail }: Snapshot): (run: StoredRun) => readonly PollRecord[] {
    return (run) => {
      const { seq } = run;
      if (seq === null) return tail;
      const row = guardStorage(path, () => findData.get(seq));
      // Retention may have deleted it since the snapshot.
      return row === undefined ? [] : readRun({ account, ...run, ...row }, damaged);
    };
  }

  /** The polls of a span, oldest first or as they were stored, some at a time. */
  function* spans(query: HistoryQuery): Generator<readonly PollRecord[]> {
    const found = takeSnapshot(query);
    for (const group of arrangeRuns(found.runs, query)) yield mergeRuns(group, query, pollsOf(found));
  }

  /** The newest reading before the span's end in the runs that touch it. */
  function newestIn(query: HistoryQuery): Reading | null {
    const found = takeSnapshot(query);
    let newest: Reading | null = null;
    for (const run of found.runs) {
      if (newest !== null && run.latestAt < newest.at) break;
      newest = newerReading(pollsOf(found)(run), query.until, newest);
    }
    return newest;
  }

  return {
    polls: spans,
    *readings(query) {
      for (const span of spans(query)) yield readingsOf(span);
    },
    readingBefore(account, at) {
      for (const query of spansBefore(account, at)) {
        const found = newestIn(query);
        // Runs that end before the span hold nothing newer than its beginning.
        if (found !== null && found.at >= query.since) return found;
      }
      return null;
    },
  };
}
