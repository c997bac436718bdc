/** The values that survive a crash: a change counts once the batch taken after it is committed. Until then a crash of the process loses it. */
export class DurableMap<V> {
  #live = new Map<string, V>();
  #durable = new Map<string, V>();
  readonly #changed = new Set<string>();
  /** The changes in the batch under way, or in the last one that was not stored. */
  #taken: Map<string, V | undefined> | null = null;
  #backup: Map<string, V> | null = null;

  get(key: string): V | undefined {
    return this.#live.get(key);
  }

  stored(key: string): V | undefined {
    return this.#durable.get(key);
  }

  has(key: string): boolean {
    return this.#live.has(key);
  }

  set(key: string, value: V): void {
    this.#live.set(key, value);
    this.#changed.add(key);
  }

  delete(key: string): void {
    if (this.#live.delete(key)) this.#changed.add(key);
  }

  /** The key will not be asked for again. */
  forget(key: string): void {
    this.#live.delete(key);
    this.#durable.delete(key);
  }

  keys(): IterableIterator<string> {
    return this.#live.keys();
  }

  values(): IterableIterator<V> {
    return this.#live.values();
  }

  entries(): IterableIterator<[string, V]> {
    return this.#live.entries();
  }

  /** Takes a batch of the changes, and of an earlier batch that was not stored. */
  take(): void {
    const keys = [...(this.#taken?.keys() ?? []), ...this.#changed];
    this.#taken = new Map(keys.map((key) => [key, this.#live.get(key)]));
    this.#changed.clear();
  }

  /** The batch that was taken is stored. */
  commit(): void {
    if (this.#taken === null) this.take();
    for (const [key, value] of this.#taken ?? []) {
      if (value === undefined) this.#durable.delete(key);
      else this.#durable.set(key, value);
    }
    this.#taken = null;
  }

  crash(): void {
    // In the stored order: an entry whose removal was lost is in its old place again.
    this.#live = new Map(this.#durable);
    this.#taken = null;
    this.#changed.clear();
  }

  backUp(): void {
    this.#backup = new Map(this.#durable);
  }

  restore(): void {
    if (this.#backup === null) return;
    this.#durable = new Map(this.#backup);
    this.#live = new Map(this.#backup);
    this.#taken = null;
    this.#changed.clear();
  }
}
