/**
 * Keys with the instant at which each is due, soonest first: a binary heap that knows where each key stands. A key is
 * there at most once; setting it again moves it.
 */
export class DueQueue<Key> {
  readonly #heap: { key: Key; at: number }[] = [];
  readonly #places = new Map<Key, number>();

  get size(): number {
    return this.#heap.length;
  }

  /** When the soonest key is due; Infinity when there is none. */
  get nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  dueAt(key: Key): number | null {
    const place = this.#places.get(key);
    return place === undefined ? null : (this.#heap[place]?.at ?? null);
  }

  set(key: Key, at: number): void {
    const place = this.#places.get(key);
    if (place === undefined) {
      this.#heap.push({ key, at });
      this.#rise(this.#heap.length - 1);
      return;
    }
    this.#entry(place).at = at;
    this.#rise(place);
    this.#sink(this.#place(key));
  }

  delete(key: Key): void {
    const place = this.#places.get(key);
    const last = this.#heap.pop();
    if (place === undefined || last === undefined) {
      if (last !== undefined) this.#heap.push(last);
      return;
    }
    this.#places.delete(key);
    if (place === this.#heap.length) return;
    this.#put(place, last);
    this.#rise(place);
    this.#sink(this.#place(last.key));
  }

  /** Takes the soonest key when it is due by `now`; undefined otherwise. */
  takeDue(now: number): Key | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    this.delete(first.key);
    return first.key;
  }

  /** Moves every instant by the same time, after a jump of the clock they are measured on. */
  shift(byMs: number): void {
    for (const entry of this.#heap) entry.at += byMs;
  }

  #rise(from: number): void {
    const entry = this.#entry(from);
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#entry(parent).at <= entry.at) break;
      this.#put(place, this.#entry(parent));
      place = parent;
    }
    this.#put(place, entry);
  }

  #sink(from: number): void {
    const entry = this.#entry(from);
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.#heap.length) break;
      const right = left + 1;
      const child = right < this.#heap.length && this.#entry(right).at < this.#entry(left).at ? right : left;
      if (this.#entry(child).at >= entry.at) break;
      this.#put(place, this.#entry(child));
      place = child;
    }
    this.#put(place, entry);
  }

  #put(place: number, entry: { key: Key; at: number }): void {
    this.#heap[place] = entry;
    this.#places.set(entry.key, place);
  }

  #place(key: Key): number {
    const place = this.#places.get(key);
    if (place === undefined) throw new Error('a key left the due queue while it was being moved');
    return place;
  }

  #entry(place: number): { key: Key; at: number } {
    const entry = this.#heap[place];
    if (entry === undefined) throw new Error('the due queue was read outside its bounds');
    return entry;
  }
}
