import type { PollRecord } from '../../domain/reading.ts';
import { decodePolls } from './decode-polls.ts';
import { groupOverlapping, type Span } from './overlap.ts';
import { PollEncoder } from './poll-codec.ts';

const maxRun = 256;

interface PackedRun extends Span {
  readonly data: Uint8Array;
}

/**
 * Polls of one account in memory, in a few bytes each. They may be appended in any order and come out in that of time,
 * those of one instant as they were appended. As long as most are in order, or all in reverse, reading unpacks one run
 * at a time.
 */
export class PackedPolls {
  readonly #runs: PackedRun[] = [];
  #open = new PollEncoder();

  append(poll: PollRecord): void {
    if (this.#open.polls === maxRun) this.#seal();
    this.#open.append(poll);
  }

  /** From `since` (included) to `until` (excluded), oldest first. */
  *polls(since: number, until: number): Generator<PollRecord> {
    if (this.#open.polls > 0) this.#seal();
    const touched = this.#runs.filter((run) => run.latestAt >= since && run.earliestAt < until);
    for (const group of groupOverlapping(touched)) {
      const found = group.flatMap((run) => decodePolls(run.data)).sort((left, right) => left.at - right.at);
      for (const poll of found) if (poll.at >= since && poll.at < until) yield poll;
    }
  }

  #seal(): void {
    const { earliestAt, latestAt } = this.#open;
    this.#runs.push({ earliestAt, latestAt, data: this.#open.bytes().slice() });
    this.#open = new PollEncoder();
  }
}
