import { dayMs } from '../../domain/duration.ts';
import type { PollEncoder } from './poll-codec.ts';

/**
 * A tail that is longer than this moves to `segment`. Four rows of this size fill a page of 4096 bytes, and a commit
 * rewrites at most so much per account. Measured by bench/storage.ts.
 */
const sealBytes = 950;

/** A segment spans no more than this, so that retention can drop what is old even of accounts polled once a day. */
const maxSpanMs = 30 * dayMs;

/**
 * Whether a run is to be sealed before a poll at `nextAt`. A poll earlier than the last one (the clock was set back) begins a new
 * run, so that each run is in order and the history can be merged run by run.
 */
export function isFull(encoder: PollEncoder, nextAt: number): boolean {
  if (encoder.polls === 0) return false;
  return encoder.byteLength > sealBytes || nextAt < encoder.lastAt || nextAt - encoder.firstAt > maxSpanMs;
}
