interface Entry {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  live: boolean;
}

/** What will happen, soonest first; what happens at the same instant, in the order in which it was put in. */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #order = 0;
  #now = 0;

  get now(): number {
    return this.#now;
  }

  get nextAt(): number {
    this.#dropDead();
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Gives the end of it. */
  at(instant: number, run: () => void): () => void {
    const entry: Entry = { at: Math.max(instant, this.#now), order: this.#order++, run, live: true };
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return () => {
      entry.live = false;
    };
  }

  /** Lets the next thing happen, if there is one by `until`. */
  step(until: number): boolean {
    this.#dropDead();
    const first = this.#heap[0];
    if (first === undefined || first.at > until) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    this.#takeFirst();
    this.#now = first.at;
    first.run();
    return true;
  }

  #dropDead(): void {
    while (this.#heap[0]?.live === false) this.#takeFirst();
  }

  #takeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const entry = heap[from];
    if (entry === undefined) return;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(entry, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = entry;
  }

  #sink(): void {
    const heap = this.#heap;
    const entry = heap[0];
    if (entry === undefined) return;
    let place = 0;
    for (;;) {
      const left = heap[2 * place + 1];
      const right = heap[2 * place + 2];
      if (left === undefined) break;
      const child = right !== undefined && before(right, left) ? 2 * place + 2 : 2 * place + 1;
      const below = heap[child];
      if (below === undefined || !before(below, entry)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = entry;
  }
}

function before(left: Entry, right: Entry): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}
