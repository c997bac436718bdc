interface Entry<Key> {
  readonly key: Key;
  at: number;
  place: number;
}

/** Keys by due time: a binary heap that knows the place of each key. Setting a key again moves it. */
export class DueQueue<Key> {
  readonly #heap: Entry<Key>[] = [];
  readonly #entries = new Map<Key, Entry<Key>>();

  get size(): number {
    return this.#heap.length;
  }

  /** Infinity when empty. */
  get nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  dueAt(key: Key): number | null {
    return this.#entries.get(key)?.at ?? null;
  }

  set(key: Key, at: number): void {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.at = at;
      this.#settle(known);
      return;
    }
    const entry = { key, at, place: this.#heap.length };
    this.#heap.push(entry);
    this.#entries.set(key, entry);
    this.#rise(entry);
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    this.#put(entry.place, last);
    this.#settle(last);
  }

  /** Undefined when nothing is due by `now`. */
  takeDue(now: number): Key | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    this.delete(first.key);
    return first.key;
  }

  /** After a change of the clock. */
  shift(byMs: number): void {
    for (const entry of this.#heap) entry.at += byMs;
  }

  #settle(entry: Entry<Key>): void {
    this.#rise(entry);
    this.#sink(entry);
  }

  #rise(entry: Entry<Key>): void {
    let { place } = entry;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#entry(above);
      if (parent.at <= entry.at) break;
      this.#put(place, parent);
      place = above;
    }
    this.#put(place, entry);
  }

  #sink(entry: Entry<Key>): void {
    let { place } = entry;
    for (let child = this.#soonerChild(place); child !== null; child = this.#soonerChild(place)) {
      if (child.at >= entry.at) break;
      const below = child.place;
      this.#put(place, child);
      place = below;
    }
    this.#put(place, entry);
  }

  #soonerChild(place: number): Entry<Key> | null {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    if (left === undefined) return null;
    return right !== undefined && right.at < left.at ? right : left;
  }

  #put(place: number, entry: Entry<Key>): void {
    this.#heap[place] = entry;
    entry.place = place;
  }

  #entry(place: number): Entry<Key> {
    const entry = this.#heap[place];
    if (entry === undefined) throw new Error('the due queue was read outside its bounds');
    return entry;
  }
}
