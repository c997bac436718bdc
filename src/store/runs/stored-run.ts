import type { PollRecord } from '../../domain/reading.ts';
import type { ClockSetBack, DamagedRun, HistoryQuery } from '../../ports/store.ts';
import { decodePolls } from './decode-polls.ts';
import { PollCodecError } from './poll-bytes.ts';
import { PollEncoder } from './poll-codec.ts';
import { withoutOvertaken } from './set-back.ts';

/** A stored run of polls, with its number and span. */
export interface StoredRun extends Span {
  /** Null for the tail, which was stored last. */
  readonly seq: number | null;
}

/**
 * The polls of a stored run. Calls `damaged` and returns no polls if the bytes do not hold the number of polls or the span that the row
 * says. A tail has no `earliestAt`.
 */
export function readRun(
  run: Omit<FoundDamage, 'reason'>,
  damaged: (found: FoundDamage) => void,
): readonly PollRecord[] {
  const read = (): readonly PollRecord[] => {
    const polls = decodePolls(run.data);
    if (polls.length !== run.polls)
      throw new PollCodecError(`${polls.length} stored polls where ${run.polls} should be`);
    if (run.earliestAt === null || polls.length === 0) return polls;
    const { earliestAt, latestAt } = spanOf(polls);
    if (earliestAt !== run.earliestAt || latestAt !== run.latestAt)
      throw new PollCodecError('stored polls are of another time than their row says');
    return polls;
  };
  return unlessDamaged(read, ({ message }) => {
    damaged({ ...run, reason: message });
    return [];
  });
}

/** The span of polls, of which there is at least one. */
export function spanOf(polls: readonly PollRecord[]): Span {
  const instants = polls.map(({ at }) => at);
  return { earliestAt: Math.min(...instants), latestAt: Math.max(...instants) };
}

/** Continues a stored tail, which must hold `polls` polls; null for none. Throws `PollCodecError` if the bytes are not such a run. */
export function resumeRun(tail: Uint8Array | null, polls: number, writes: 1 | 2 = 2): PollEncoder {
  const encoder = new PollEncoder(tail, writes);
  if (encoder.polls !== polls)
    throw new PollCodecError(`${encoder.polls} stored polls where ${polls} should be`);
  return encoder;
}

/** The result of `read`, or of `damaged` with the error if the bytes are not a run. */
export function unlessDamaged<T>(read: () => T, damaged: (error: PollCodecError) => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PollCodecError) return damaged(error);
    throw error;
  }
}

/** The time that a run of polls covers, both ends included. */
export interface Span {
  readonly earliestAt: number;
  readonly latestAt: number;
}

/**
 * Oldest first. Runs whose spans overlap come together, in the order given: only their polls have to be sorted. So do runs of a time
 * that came twice because the clock was set back.
 */
export function* groupOverlapping<Run extends Span>(
  runs: readonly Run[],
  setBacks: readonly ClockSetBack[] = [],
): Generator<readonly Run[]> {
  const places = new Map(runs.map((run, place) => [run, place]));
  const byPlace = (left: Run, right: Run): number => (places.get(left) ?? 0) - (places.get(right) ?? 0);
  let group: Run[] = [];
  let latestAt = Number.NEGATIVE_INFINITY;
  for (const run of runs.toSorted((left, right) => left.earliestAt - right.earliestAt)) {
    if (group.length > 0 && run.earliestAt > latestAt) {
      yield group.sort(byPlace);
      group = [];
    }
    group.push(run);
    latestAt = Math.max(latestAt, run.latestAt);
    for (const [to, from] of setBacks) if (to <= latestAt) latestAt = Math.max(latestAt, from);
  }
  if (group.length > 0) yield group.sort(byPlace);
}

/** The polls of overlapping runs, by time, within the span of the query. */
export function mergeRuns<Run extends Span>(
  runs: readonly Run[],
  { since, until }: Pick<HistoryQuery, 'since' | 'until'>,
  pollsOf: (run: Run) => readonly PollRecord[],
  setBacks: readonly ClockSetBack[] = [],
): readonly PollRecord[] {
  const polls = withoutOvertaken(runs.flatMap(pollsOf), setBacks);
  const isWithin = runs.every(({ earliestAt, latestAt }) => earliestAt >= since && latestAt < until);
  const wanted = isWithin ? polls : polls.filter(({ at }) => at >= since && at < until);
  return wanted.toSorted((left, right) => left.at - right.at);
}

/** A run that cannot be read, with its bytes. */
export interface FoundRun extends DamagedRun {
  /** Null for a tail. */
  readonly seq: number | null;
  readonly data: Uint8Array;
  readonly reason: string;
}

/** A run as its reader finds it. */
export type FoundDamage = Omit<FoundRun, 'foundAt'>;

export type DamagedRuns = ReturnType<typeof createDamagedRuns>;

/** Runs found damaged: the next batch that is stored sets them aside. */
export function createDamagedRuns(now: () => number) {
  const found = new Map<string, FoundRun>();
  const untaken: DamagedRun[] = [];
  return {
    now,
    note(run: FoundDamage): void {
      found.set(placeOf(run), { ...storable(run), foundAt: now() });
    },
    /** Runs that a batch has to set aside: sealed runs, and tails of accounts that begin a new tail. */
    of: (beginsAnother: (account: string) => boolean): readonly FoundRun[] =>
      [...found.values()].filter(({ seq, account }) => seq !== null || beginsAnother(account)),
    stored(runs: readonly FoundRun[]): void {
      for (const each of runs) {
        const { seq: _seq, data: _data, reason: _reason, ...run } = each;
        found.delete(placeOf(each));
        untaken.push(run);
      }
    },
    take: (): readonly DamagedRun[] => untaken.splice(0),
  };
}

/** A flipped bit may also have changed the type of a value in the row. */
function storable(run: FoundDamage): FoundDamage {
  const instant = (value: number | null) => (Number.isSafeInteger(value) ? value : null);
  return {
    ...run,
    earliestAt: instant(run.earliestAt),
    latestAt: instant(run.latestAt),
    polls: Number.isSafeInteger(run.polls) ? run.polls : 0,
    data: run.data instanceof Uint8Array ? run.data : Buffer.from(String(run.data ?? '')),
  };
}

function placeOf({ seq, account }: Pick<FoundRun, 'seq' | 'account'>): string {
  return seq === null ? account : `#${seq}`;
}
