import type { PollRecord, Reading } from '../../domain/reading.ts';
import { dayMs } from '../../domain/time.ts';
import type { ClockSetBack, HistoryQuery } from '../../ports/store.ts';
import type { Asking } from '../asking.ts';
import { setBacksIn, withWhole } from './set-back.ts';
import {
  type FoundDamage,
  groupOverlapping,
  mergeRuns,
  readRun,
  type StoredRun,
  spanOf,
} from './stored-run.ts';

/** The runs of an account in a span, at one moment: its tail, and the sealed runs that touch the span as [seq, earliest, latest]. */
export interface RunsRow {
  readonly data: Uint8Array | null;
  readonly polls: number;
  readonly latestAt: number | null;
  readonly runs: readonly (readonly [seq: number, earliestAt: number, latestAt: number])[];
  /** The value of `setBackNote`. */
  readonly setBack: string | null;
}

export interface RunData {
  readonly seq: number;
  readonly data: Uint8Array;
  readonly polls: number;
}

/** A question to the database: the runs of a span, answered by a `RunsRow` or nothing, or the runs of these numbers, as `RunData` by number. */
export type HistoryQuestion = HistoryQuery | readonly number[];
export type HistoryAsking<Result> = Asking<Result, HistoryQuestion>;

/** The runs of a span at one moment, and a function that reads the polls of some of them: retention may have deleted those meanwhile. */
interface Snapshot {
  /** In the order of storage. */
  readonly runs: readonly StoredRun[];
  readonly setBacks: readonly ClockSetBack[];
  read(wanted: readonly StoredRun[]): HistoryAsking<(run: StoredRun) => readonly PollRecord[]>;
}

/** The spans in which the reading before an instant is looked for first: years of runs are listed only when there is none nearer. */
const likelySpansMs = [dayMs, 60 * dayMs];

/** `damaged` is called for each run that is left out because it cannot be read. About `runsAtOnce` runs are read together. */
export function createHistory(damaged: (run: FoundDamage) => void, runsAtOnce: number) {
  function* snapshotOf(query: HistoryQuery): HistoryAsking<Snapshot> {
    const { account } = query;
    let row = (yield query) as RunsRow | undefined;
    const setBacks = query.timesOnce === true ? setBacksIn(row?.setBack ?? null, query) : [];
    if (setBacks.length > 0) row = (yield withWhole(query, setBacks)) as RunsRow | undefined;
    const { data = null, polls = 0, latestAt = null, runs = [] } = row ?? {};
    const tail =
      data === null ? [] : readRun({ account, seq: null, data, polls, earliestAt: null, latestAt }, damaged);
    const sealed = runs
      .map(([seq, earliestAt, latestAt]) => ({ seq, earliestAt, latestAt }))
      .sort((left, right) => left.seq - right.seq);
    const read: Snapshot['read'] = function* (wanted) {
      const seqs = wanted.flatMap(({ seq }) => seq ?? []);
      const bySeq = seqs.length === 0 ? new Map() : ((yield seqs) as ReadonlyMap<number | null, RunData>);
      return (run) => {
        if (run.seq === null) return tail;
        const found = bySeq.get(run.seq);
        return found === undefined ? [] : readRun({ account, ...run, ...found }, damaged);
      };
    };
    return { runs: tail.length === 0 ? sealed : [...sealed, { seq: null, ...spanOf(tail) }], setBacks, read };
  }

  function* newestIn(query: HistoryQuery): HistoryAsking<Reading | null> {
    const { runs, setBacks, read } = yield* snapshotOf(query);
    const { until } = query;
    for (const group of [...groupOverlapping(runs, setBacks)].reverse()) {
      const pollsOf = yield* read(group);
      const polls = mergeRuns(group, { since: Number.MIN_SAFE_INTEGER, until }, pollsOf, setBacks);
      const newest = polls.findLast(({ reading }) => reading !== null);
      if (newest !== undefined) return newest.reading;
    }
    return null;
  }

  return {
    /** The polls of a span, oldest first or as they were stored, in portions. Nothing stays open in the database between two portions. */
    *portions(query: HistoryQuery): HistoryAsking<Iterable<HistoryAsking<Iterable<readonly PollRecord[]>>>> {
      const { runs, setBacks, read } = yield* snapshotOf(query);
      const groups = query.asStored === true ? runs.map((run) => [run]) : groupOverlapping(runs, setBacks);
      return inPortions(groups, runsAtOnce).map(function* (portion) {
        const pollsOf = yield* read(portion.flat());
        return portion.values().map((group) => mergeRuns(group, query, pollsOf, setBacks));
      });
    },
    /** The newest reading before an instant: the first one found that lies within the span that was searched. */
    *readingBefore(account: string, at: number): HistoryAsking<Reading | null> {
      const likely = likelySpansMs.map((spanMs) => at - spanMs);
      for (const since of [...likely, Number.MIN_SAFE_INTEGER]) {
        const found = yield* newestIn({ account, since, until: at, timesOnce: true });
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
