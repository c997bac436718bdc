import type { Feed } from './feed.ts';

/**
 * The feeds of all accounts as one, soonest first and at one instant in the order given: a binary heap of which the
 * top is replaced, because the account that was just read is read again soon.
 */
export class MergedFeeds {
  readonly #heap: { readonly feed: Feed; readonly place: number }[];

  constructor(feeds: readonly Feed[]) {
    this.#heap = feeds.map((feed, place) => ({ feed, place }));
    for (let index = (this.#heap.length >> 1) - 1; index >= 0; index--) this.#sink(index);
  }

  /** The feed that has the next step; null when all have ended. */
  get first(): Feed | null {
    return this.#heap[0]?.feed ?? null;
  }

  /** After the first feed's step moved in time. */
  moved(): void {
    this.#sink(0);
  }

  /** Takes the step of the first feed away. */
  advance(): void {
    const first = this.#heap[0];
    if (first === undefined) return;
    if (!first.feed.advance()) {
      const last = this.#heap.pop();
      if (last === undefined || last === first) return;
      this.#heap[0] = last;
    }
    this.#sink(0);
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const moved = heap[from];
    if (moved === undefined) return;
    let index = from;
    for (;;) {
      let below = 2 * index + 1;
      let child = heap[below];
      const right = heap[below + 1];
      if (child === undefined) break;
      if (right !== undefined && isSooner(right, child)) {
        child = right;
        below++;
      }
      if (!isSooner(child, moved)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = moved;
  }
}

type Entry = { readonly feed: Feed; readonly place: number };

function isSooner(left: Entry, right: Entry): boolean {
  return left.feed.at < right.feed.at || (left.feed.at === right.feed.at && left.place < right.place);
}
