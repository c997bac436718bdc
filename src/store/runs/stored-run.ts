import { dayMs } from '../../domain/duration.ts';
import type { PollRecord } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import type { Span } from './overlap.ts';
import { PollCodecError } from './poll-bytes.ts';
import { decodePolls } from './poll-codec.ts';

/** A stored run of polls by its place and span. */
export interface StoredRun extends Span {
  /** Null for the tail, which was stored last. */
  readonly seq: number | null;
}

/** Where the reading before an instant is looked for first: years of runs are listed only when there is none nearer. */
export const likelySpansMs = [dayMs, 60 * dayMs] as const;

/** The polls of a run within the span that is asked for. */
export function cut(
  polls: readonly PollRecord[],
  run: StoredRun,
  query: HistoryQuery,
): readonly PollRecord[] {
  if (run.earliestAt >= query.since && run.latestAt < query.until) return polls;
  return polls.filter(({ at }) => at >= query.since && at < query.until);
}

export function byStorage(left: StoredRun, right: StoredRun): number {
  return (left.seq ?? Number.MAX_SAFE_INTEGER) - (right.seq ?? Number.MAX_SAFE_INTEGER);
}

/** The span of polls, of which there is at least one. */
export function spanOf(polls: readonly PollRecord[]): Span {
  const instants = polls.map(({ at }) => at);
  return { earliestAt: Math.min(...instants), latestAt: Math.max(...instants) };
}

/** Throws `PollCodecError` where the bytes are not the run of so many polls that the row says. */
export function decodeRun(row: { readonly data: Uint8Array; readonly polls: number }): readonly PollRecord[] {
  const polls = decodePolls(row.data);
  if (polls.length !== row.polls)
    throw new PollCodecError(`${polls.length} stored polls where ${row.polls} should be`);
  return polls;
}
