import { dayMs } from '../../domain/duration.ts';
import type { PollRecord, Reading } from '../../domain/reading.ts';
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

interface Snapshot {
  readonly query: HistoryQuery;
  readonly runs: readonly StoredRun[];
  readonly tail: readonly PollRecord[];
}

/** Where the reading before an instant is looked for first: years of runs are listed only when there is none nearer. */
const likelySpansMs = [dayMs, 60 * dayMs];

/**
 * What can be asked of stored polls. `damaged` hears of each run that is left out because it cannot be read. About `runsAtOnce` runs are
 * read together.
 */
export class History {
  readonly #damaged: (run: FoundDamage) => void;
  readonly #runsAtOnce: number;

  constructor(damaged: (run: FoundDamage) => void, runsAtOnce: number) {
    this.#damaged = damaged;
    this.#runsAtOnce = runsAtOnce;
  }

  /** The polls of a span, oldest first or as they were stored, portion by portion. Nothing stays open in the database between two. */
  *portions(query: HistoryQuery): HistoryAsking<Iterable<HistoryAsking<Iterable<readonly PollRecord[]>>>> {
    const snapshot = yield* this.#snapshot(query);
    const stored = snapshot.runs.toSorted(
      (left, right) => (left.seq ?? Number.MAX_SAFE_INTEGER) - (right.seq ?? Number.MAX_SAFE_INTEGER),
    );
    const groups = query.asStored === true ? stored.map((run) => [run]) : groupOverlapping(stored);
    return inPortions(groups, this.#runsAtOnce).map((portion) => this.#readPortion(portion, snapshot));
  }

  /** The newest reading before an instant: the first that lies in the span in which it is looked for. */
  *readingBefore(account: string, at: number): HistoryAsking<Reading | null> {
    const likely = likelySpansMs.map((spanMs) => at - spanMs);
    for (const since of [...likely, Number.MIN_SAFE_INTEGER]) {
      const found = yield* this.#newestIn({ account, since, until: at });
      // Runs that end before the span hold nothing newer than its beginning.
      if (found !== null && found.at >= since) return found;
    }
    return null;
  }

  *#snapshot(query: HistoryQuery): HistoryAsking<Snapshot> {
    const row = (yield query) as RunsRow | undefined;
    if (row === undefined) return { query, runs: [], tail: [] };
    const { data, polls, latestAt } = row;
    const { account } = query;
    const tail =
      data === null
        ? []
        : readRun({ account, seq: null, data, polls, earliestAt: null, latestAt }, this.#damaged);
    const sealed = row.runs.map(([seq, earliestAt, latestAt]) => ({ seq, earliestAt, latestAt }));
    return { query, runs: tail.length === 0 ? sealed : [...sealed, { seq: null, ...spanOf(tail) }], tail };
  }

  *#newestIn(query: HistoryQuery): HistoryAsking<Reading | null> {
    const snapshot = yield* this.#snapshot(query);
    let newest: Reading | null = null;
    for (const run of snapshot.runs.toSorted((left, right) => right.latestAt - left.latestAt)) {
      if (newest !== null && run.latestAt < newest.at) break;
      const pollsOf = yield* this.#read([run], snapshot);
      for (const { reading } of pollsOf(run))
        if (reading !== null && reading.at < query.until && (newest === null || reading.at > newest.at))
          newest = reading;
    }
    return newest;
  }

  *#readPortion(
    groups: readonly (readonly StoredRun[])[],
    snapshot: Snapshot,
  ): HistoryAsking<Iterable<readonly PollRecord[]>> {
    const pollsOf = yield* this.#read(groups.flat(), snapshot);
    return groups.values().map((group) => mergeRuns(group, snapshot.query, pollsOf));
  }

  /** The polls of these runs. Retention may have deleted some since the snapshot. */
  *#read(
    runs: readonly StoredRun[],
    { query: { account }, tail }: Snapshot,
  ): HistoryAsking<(run: StoredRun) => readonly PollRecord[]> {
    const sealed = runs.flatMap(({ seq }) => seq ?? []);
    const bySeq = sealed.length === 0 ? new Map() : ((yield sealed) as ReadonlyMap<number | null, RunData>);
    return (run) => {
      if (run.seq === null) return tail;
      const row = bySeq.get(run.seq);
      return row === undefined ? [] : readRun({ account, ...run, ...row }, this.#damaged);
    };
  }
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
