import type { PollRecord } from '../../domain/reading.ts';
import type { FoundDamage } from './damaged-runs.ts';
import { decodePolls } from './decode-polls.ts';
import type { Span } from './overlap.ts';
import { PollCodecError } from './poll-bytes.ts';
import { PollEncoder } from './poll-codec.ts';

/** A stored run of polls by its place and span. */
export interface StoredRun extends Span {
  /** Null for the tail, which was stored last. */
  readonly seq: number | null;
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
