/** What would be known after a crash: changes count once they are committed, and are lost with the process before. */
export class DurableMap<V> {
  #live = new Map<string, V>();
  #durable = new Map<string, V>();
  readonly #changed = new Set<string>();
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

  keys(): IterableIterator<string> {
    return this.#live.keys();
  }

  values(): IterableIterator<V> {
    return this.#live.values();
  }

  entries(): IterableIterator<[string, V]> {
    return this.#live.entries();
  }

  commit(): void {
    for (const key of this.#changed) {
      const value = this.#live.get(key);
      if (value === undefined) this.#durable.delete(key);
      else this.#durable.set(key, value);
    }
    this.#changed.clear();
  }

  crash(): void {
    for (const key of this.#changed) {
      const value = this.#durable.get(key);
      if (value === undefined) this.#live.delete(key);
      else this.#live.set(key, value);
    }
    this.#changed.clear();
  }

  backUp(): void {
    this.#backup = new Map(this.#durable);
  }

  restore(): void {
    if (this.#backup === null) return;
    this.#durable = new Map(this.#backup);
    this.#live = new Map(this.#backup);
    this.#changed.clear();
  }
}
