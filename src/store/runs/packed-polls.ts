import type { PollRecord } from '../../domain/reading.ts';
import { decodePolls } from './decode-polls.ts';
import { PollEncoder } from './poll-codec.ts';
import { groupOverlapping, mergeRuns, type Span } from './stored-run.ts';

const maxRun = 256;

/**
 * Polls of one account in memory, in a few bytes each. They may be appended in any order and are read in order of time; those of one instant
 * in the order in which they were appended. While most come in order, or all in reverse, reading unpacks one run at a time.
 */
export class PackedPolls {
  readonly #runs: (Span & { readonly data: Uint8Array })[] = [];
  #open = new PollEncoder();
  #ascends = true;
  #lastAt = Number.NEGATIVE_INFINITY;

  get ascends(): boolean {
    return this.#ascends;
  }

  append(poll: PollRecord): void {
    if (poll.at <= this.#lastAt) this.#ascends = false;
    this.#lastAt = poll.at;
    if (this.#open.polls === maxRun) this.#seal();
    this.#open.append(poll);
  }

  /** The polls from `since` (included) to `until` (excluded), oldest first, many at a time. */
  *polls(since: number, until: number): Generator<readonly PollRecord[]> {
    if (this.#open.polls > 0) this.#seal();
    const touched = this.#runs.filter((run) => run.latestAt >= since && run.earliestAt < until);
    for (const group of groupOverlapping(touched))
      yield mergeRuns(group, { since, until }, ({ data }) => decodePolls(data));
  }

  #seal(): void {
    const { earliestAt, latestAt } = this.#open;
    this.#runs.push({ earliestAt, latestAt, data: this.#open.bytes().slice() });
    this.#open = new PollEncoder();
  }
}
