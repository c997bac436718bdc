interface Entry<Key> {
  readonly key: Key;
  at: number;
}

/** A binary heap. A key that is set again gets another entry; the old one is dropped when its time comes. */
export class DueQueue<Key> {
  readonly #heap: Entry<Key>[] = [];
  readonly #current = new Map<Key, Entry<Key>>();

  get nextAt(): number {
    return this.#first()?.at ?? Number.POSITIVE_INFINITY;
  }

  dueAt(key: Key): number | null {
    return this.#current.get(key)?.at ?? null;
  }

  set(key: Key, at: number): void {
    if (this.#current.get(key)?.at === at) return;
    const entry = { key, at };
    this.#current.set(key, entry);
    this.#rise(entry);
  }

  delete(key: Key): void {
    this.#current.delete(key);
  }

  /** Undefined when nothing is due by `now`. */
  takeDue(now: number): Key | undefined {
    const first = this.#first();
    if (first === undefined || first.at > now) return undefined;
    this.#current.delete(first.key);
    this.#dropFirst();
    return first.key;
  }

  shift(byMs: number): void {
    for (const entry of this.#heap) entry.at += byMs;
  }

  #first(): Entry<Key> | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || this.#current.get(first.key) === first) return first;
      this.#dropFirst();
    }
  }

  #rise(entry: Entry<Key>): void {
    let index = this.#heap.length;
    for (;;) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || parent.at <= entry.at) break;
      this.#heap[index] = parent;
      index = above;
    }
    this.#heap[index] = entry;
  }

  #dropFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const sooner =
        (this.#heap[left + 1]?.at ?? Infinity) < (this.#heap[left]?.at ?? Infinity) ? left + 1 : left;
      const child = this.#heap[sooner];
      if (child === undefined || child.at >= last.at) break;
      this.#heap[index] = child;
      index = sooner;
    }
    this.#heap[index] = last;
  }
}
