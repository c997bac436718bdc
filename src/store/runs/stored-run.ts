import { dayMs } from '../../domain/duration.ts';
import type { PollRecord } from '../../domain/reading.ts';
import type { HistoryQuery } from '../../ports/store.ts';
import { decodePolls } from './decode-polls.ts';
import type { Span } from './overlap.ts';
import { PollCodecError } from './poll-bytes.ts';
import { PollEncoder } from './poll-codec.ts';

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

/** Throws `PollCodecError` where the bytes are not the run of so many polls, of that time, that the row says. */
export function decodeRun(
  row: { readonly data: Uint8Array; readonly polls: number },
  span: Span | null = null,
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
