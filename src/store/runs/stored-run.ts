import { dayMs } from '../../domain/duration.ts';
import type { PollRecord, Reading } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import type { FoundDamage } from './damaged-runs.ts';
import { decodePolls } from './decode-polls.ts';
import { groupOverlapping, type Span } from './overlap.ts';
import { PollCodecError } from './poll-bytes.ts';
import { PollEncoder } from './poll-codec.ts';

/** A stored run of polls by its place and span. */
export interface StoredRun extends Span {
  /** Null for the tail, which was stored last. */
  readonly seq: number | null;
}

/** Where the reading before an instant is looked for first: years of runs are listed only when there is none nearer. */
const likelySpansMs = [dayMs, 60 * dayMs];

/** Where the reading before an instant is looked for, one after the other: the first that is in its span is the one. */
export function spansBefore(account: string, at: number): readonly HistoryQuery[] {
  const likely = likelySpansMs.map((spanMs) => ({ account, since: at - spanMs, until: at }));
  return [...likely, { account, since: Number.MIN_SAFE_INTEGER, until: at }];
}

/** The newest reading that was taken before an instant, among those of `polls` and the one that is known. */
export function newerReading(
  polls: readonly PollRecord[],
  until: number,
  known: Reading | null,
): Reading | null {
  let newest = known;
  for (const { reading } of polls)
    if (reading !== null && reading.at < until && (newest === null || reading.at > newest.at))
      newest = reading;
  return newest;
}

/** The runs that an answer is made of, in its order: those that come together are read together. */
export function arrangeRuns(
  runs: readonly StoredRun[],
  { asStored }: HistoryQuery,
): Iterable<readonly StoredRun[]> {
  const stored = runs.toSorted(
    (left, right) => (left.seq ?? Number.MAX_SAFE_INTEGER) - (right.seq ?? Number.MAX_SAFE_INTEGER),
  );
  return asStored === true ? stored.map((run) => [run]) : groupOverlapping(stored);
}

/** The polls of runs that come together, within the span that is asked for. */
export function mergeRuns(
  runs: readonly StoredRun[],
  { since, until }: HistoryQuery,
  pollsOf: (run: StoredRun) => readonly PollRecord[],
): readonly PollRecord[] {
  const merged = runs.flatMap((run) => {
    const polls = pollsOf(run);
    const isWithin = run.earliestAt >= since && run.latestAt < until;
    return isWithin ? polls : polls.filter(({ at }) => at >= since && at < until);
  });
  // Within a run polls are in order; runs overlap only where the clock was set back.
  return runs.length === 1 ? merged : merged.sort((left, right) => left.at - right.at);
}

/** The readings of polls that come in chunks. */
export function readingsOf(polls: readonly PollRecord[]): readonly Reading[] {
  return polls.flatMap(({ reading }) => reading ?? []);
}

/** The polls of a stored run; none, and `damaged` hears of it, where they cannot be read. A tail has no `earliestAt`. */
export function readRun(
  run: Omit<FoundDamage, 'reason'>,
  damaged: (found: FoundDamage) => void,
): readonly PollRecord[] {
  const { earliestAt, latestAt } = run;
  return unlessDamaged(
    () => decodeRun(run, earliestAt === null || latestAt === null ? null : { earliestAt, latestAt }),
    ({ message }) => {
      damaged({ ...run, reason: message });
      return [];
    },
  );
}

/** The span of polls, of which there is at least one. */
export function spanOf(polls: readonly PollRecord[]): Span {
  const instants = polls.map(({ at }) => at);
  return { earliestAt: Math.min(...instants), latestAt: Math.max(...instants) };
}

/** Throws `PollCodecError` where the bytes are not the run of so many polls, of that time, that the row says. */
function decodeRun(
  row: { readonly data: Uint8Array; readonly polls: number },
  span: Span | null,
): readonly PollRecord[] {
  const polls = decodePolls(row.data);
  if (polls.length !== row.polls)
    throw new PollCodecError(`${polls.length} stored polls where ${row.polls} should be`);
  if (span === null || polls.length === 0) return polls;
  const { earliestAt, latestAt } = spanOf(polls);
  if (earliestAt !== span.earliestAt || latestAt !== span.latestAt)
    throw new PollCodecError('stored polls are of another time than their row says');
  return polls;
}

/** Goes on with a stored tail of so many polls; null for none. Throws `PollCodecError` as `decodeRun` does. */
export function resumeRun(tail: Uint8Array | null, polls: number, writes: 1 | 2 = 2): PollEncoder {
  const encoder = new PollEncoder(tail, writes);
  if (encoder.polls !== polls)
    throw new PollCodecError(`${encoder.polls} stored polls where ${polls} should be`);
  return encoder;
}

/** What `read` gives; `damaged` instead, with the reason, where the bytes are no run. */
export function unlessDamaged<T>(read: () => T, damaged: (error: PollCodecError) => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PollCodecError) return damaged(error);
    throw error;
  }
}
