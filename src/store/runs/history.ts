import type { PollRecord, Reading } from '../../domain/reading.ts';
import { dayMs } from '../../domain/time.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import type { Asking } from '../asking.ts';
import {
  type FoundDamage,
  groupOverlapping,
  mergeRuns,
  readRun,
  type StoredRun,
  spanOf,
} from './stored-run.ts';

/** Which runs an account has in a span: its tail and the sealed ones that touch it, as [seq, earliest, latest]; of one moment. */
export interface RunsRow {
  readonly data: Uint8Array | null;
  readonly polls: number;
  readonly latestAt: number | null;
  readonly runs: readonly (readonly [seq: number, earliestAt: number, latestAt: number])[];
}

export interface RunData {
  readonly seq: number;
  readonly data: Uint8Array;
  readonly polls: number;
}

/** Asked of a database: the runs of a span, as a `RunsRow` or nothing, or those of these numbers, as `RunData` by number. */
export type HistoryQuestion = HistoryQuery | readonly number[];
export type HistoryAsking<Result> = Asking<Result, HistoryQuestion>;

/** The runs of a span at one moment, and what reads the polls of some of them: retention may have deleted those meanwhile. */
interface Snapshot {
  readonly runs: readonly StoredRun[];
  read(wanted: readonly StoredRun[]): HistoryAsking<(run: StoredRun) => readonly PollRecord[]>;
}

/** The spans in which the reading before an instant is looked for first: years of runs are listed only when there is none nearer. */
const likelySpansMs = [dayMs, 60 * dayMs];

/** `damaged` hears of each run that is left out because it cannot be read. About `runsAtOnce` are read together. */
export function createHistory(damaged: (run: FoundDamage) => void, runsAtOnce: number) {
  function* snapshotOf(query: HistoryQuery): HistoryAsking<Snapshot> {
    const row = (yield query) as RunsRow | undefined;
    const { account } = query;
    const { data = null, polls = 0, latestAt = null, runs = [] } = row ?? {};
    const tail =
      data === null ? [] : readRun({ account, seq: null, data, polls, earliestAt: null, latestAt }, damaged);
    const sealed = runs.map(([seq, earliestAt, latestAt]) => ({ seq, earliestAt, latestAt }));
    const read: Snapshot['read'] = function* (wanted) {
      const seqs = wanted.flatMap(({ seq }) => seq ?? []);
      const bySeq = seqs.length === 0 ? new Map() : ((yield seqs) as ReadonlyMap<number | null, RunData>);
      return (run) => {
        if (run.seq === null) return tail;
        const found = bySeq.get(run.seq);
        return found === undefined ? [] : readRun({ account, ...run, ...found }, damaged);
      };
    };
    return { runs: tail.length === 0 ? sealed : [...sealed, { seq: null, ...spanOf(tail) }], read };
  }

  function* newestIn(query: HistoryQuery): HistoryAsking<Reading | null> {
    const { runs, read } = yield* snapshotOf(query);
    let newest: Reading | null = null;
    for (const run of runs.toSorted((left, right) => right.latestAt - left.latestAt)) {
      if (newest !== null && run.latestAt < newest.at) break;
      const pollsOf = yield* read([run]);
      for (const { reading } of pollsOf(run))
        if (reading !== null && reading.at < query.until && (newest === null || reading.at > newest.at))
          newest = reading;
    }
    return newest;
  }

  return {
    /** The polls of a span, oldest first or as they were stored, portion by portion. Nothing stays open in the database between two. */
    *portions(query: HistoryQuery): HistoryAsking<Iterable<HistoryAsking<Iterable<readonly PollRecord[]>>>> {
      const { runs, read } = yield* snapshotOf(query);
      const stored = runs.toSorted(
        (left, right) => (left.seq ?? Number.MAX_SAFE_INTEGER) - (right.seq ?? Number.MAX_SAFE_INTEGER),
      );
      const groups = query.asStored === true ? stored.map((run) => [run]) : groupOverlapping(stored);
      return inPortions(groups, runsAtOnce).map(function* (portion) {
        const pollsOf = yield* read(portion.flat());
        return portion.values().map((group) => mergeRuns(group, query, pollsOf));
      });
    },
    /** The newest reading before an instant: the first that lies in the span in which it is looked for. */
    *readingBefore(account: string, at: number): HistoryAsking<Reading | null> {
      const likely = likelySpansMs.map((spanMs) => at - spanMs);
      for (const since of [...likely, Number.MIN_SAFE_INTEGER]) {
        const found = yield* newestIn({ account, since, until: at });
        // Runs that end before the span hold nothing newer than its beginning.
        if (found !== null && found.at >= since) return found;
      }
      return null;
    },
  };
}

export function readingsOf(polls: readonly PollRecord[]): readonly Reading[] {
  return polls.flatMap(({ reading }) => reading ?? []);
}

function* inPortions<Run>(
  groups: Iterable<readonly Run[]>,
  runsAtOnce: number,
): Generator<readonly (readonly Run[])[]> {
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
