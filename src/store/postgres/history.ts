import type { PollRecord, Reading } from '../../domain/reading.ts';
import type { HistoryQuery, StoreReader } from '../../ports/store.ts';
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
import { bigintArray, textArray } from './binary-array.ts';
import type { Database } from './connection.ts';

/** For each account its tail and the sealed runs that touch a span, as [seq, earliest, latest]; in the order that was asked. */
const findRuns = `SELECT tail AS data, coalesce(tail_polls, 0) AS polls, tail_latest_at AS "latestAt", (
    SELECT coalesce(json_agg(json_build_array(seq, earliest_at, latest_at)), '[]') FROM segment
    WHERE account_no = account.no AND latest_at >= since AND earliest_at < until
  ) AS runs FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (id, since, until, nth)
  LEFT JOIN account USING (id) ORDER BY nth`;
const findData = 'SELECT seq, data, polls FROM segment WHERE seq = ANY($1::bigint[])';

/** So many runs are asked for at once: some tens of kilobytes, some thousands of polls. */
const runsAtOnce = 40;

interface RunsRow {
  readonly data: Buffer | null;
  readonly polls: number;
  readonly latestAt: number | null;
  readonly runs: readonly (readonly [number, number, number])[];
}

interface DataRow {
  readonly seq: number;
  readonly data: Buffer;
  readonly polls: number;
}

interface Snapshot {
  readonly account: string;
  readonly runs: readonly StoredRun[];
  readonly tail: readonly PollRecord[];
}

/** What can be asked of the stored polls. Nothing stays open in the database between two chunks that a caller takes. */
type History = Pick<StoreReader, 'polls' | 'readings' | 'readingBefore'>;

/** `damaged` hears of each run that is left out because it cannot be read. */
export function openHistory({ ask }: Database, damaged: (run: FoundDamage) => void): History {
  const runsOf = together(async (queries: readonly HistoryQuery[]) => {
    const ids = textArray(queries.map(({ account }) => account));
    const since = bigintArray(queries.map((query) => query.since));
    const until = bigintArray(queries.map((query) => query.until));
    return ask<RunsRow>(findRuns, [ids, since, until]);
  });
  const dataOf = together(async (asked: readonly (readonly number[])[]) => {
    const rows = await ask<DataRow>(findData, [bigintArray(asked.flat())]);
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    return asked.map(() => bySeq);
  });

  async function takeSnapshot(query: HistoryQuery): Promise<Snapshot> {
    const row = await runsOf(query);
    const { account } = query;
    if (row === undefined) return { account, runs: [], tail: [] };
    const { data, polls, latestAt } = row;
    const tail =
      data === null ? [] : readRun({ account, seq: null, data, polls, earliestAt: null, latestAt }, damaged);
    const sealed = row.runs.map(([seq, earliestAt, latestAt]) => ({ seq, earliestAt, latestAt }));
    return { account, runs: tail.length === 0 ? sealed : [...sealed, { seq: null, ...spanOf(tail) }], tail };
  }

  /** The polls of these runs. Retention may have deleted some since the snapshot. */
  async function readRuns(
    runs: readonly StoredRun[],
    { account, tail }: Snapshot,
  ): Promise<(run: StoredRun) => readonly PollRecord[]> {
    const sealed = runs.flatMap(({ seq }) => seq ?? []);
    const bySeq = sealed.length === 0 ? undefined : await dataOf(sealed);
    return (run) => {
      if (run.seq === null) return tail;
      const row = bySeq?.get(run.seq);
      return row === undefined ? [] : readRun({ account, ...run, ...row }, damaged);
    };
  }

  async function* chunks(query: HistoryQuery): AsyncGenerator<readonly PollRecord[]> {
    const snapshot = await takeSnapshot(query);
    for (const groups of inPortions(arrangeRuns(snapshot.runs, query))) {
      const pollsOf = await readRuns(groups.flat(), snapshot);
      for (const group of groups) yield mergeRuns(group, query, pollsOf);
    }
  }

  /** The newest reading before the span's end in the runs that touch it. */
  async function newestIn(query: HistoryQuery): Promise<Reading | null> {
    const snapshot = await takeSnapshot(query);
    let newest: Reading | null = null;
    for (const run of snapshot.runs.toSorted((left, right) => right.latestAt - left.latestAt)) {
      if (newest !== null && run.latestAt < newest.at) break;
      newest = newerReading((await readRuns([run], snapshot))(run), query.until, newest);
    }
    return newest;
  }

  return {
    polls: chunks,
    async *readings(query) {
      for await (const polls of chunks(query)) yield readingsOf(polls);
    },
    async readingBefore(account, at) {
      for (const query of spansBefore(account, at)) {
        const found = await newestIn(query);
        // Runs that end before the span hold nothing newer than its beginning.
        if (found !== null && found.at >= query.since) return found;
      }
      return null;
    },
  };
}

/**
 * Asks once for all who ask in the same breath: who shows thousands of accounts, of which it keeps none in mind, would wait for
 * thousands of answers. `askAll` answers in the order of what was asked.
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

/** Groups of runs, so many together that a portion holds about `runsAtOnce` of them. */
function* inPortions<Run>(groups: Iterable<readonly Run[]>): Generator<readonly (readonly Run[])[]> {
  let portion: (readonly Run[])[] = [];
  let runs = 0;
  for (const group of groups) {
    portion.push(group);
    runs += group.length;
    if (runs < runsAtOnce) continue;
    yield portion;
    portion = [];
    runs = 0;
  }
  if (portion.length > 0) yield portion;
}
