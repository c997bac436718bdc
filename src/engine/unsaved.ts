/**
 * Keys that changed and are not known to be stored. What changes while a batch is written goes into the next;
 * a batch that failed, or whose outcome is unknown, is put back.
 */
export class Unsaved {
  #changed = new Set<string>();
  #taken: ReadonlySet<string> = nothing;

  get size(): number {
    return this.#changed.size;
  }

  /** In the order in which they changed first. */
  keys(): Iterable<string> {
    return this.#changed;
  }

  get allStored(): boolean {
    return this.#changed.size === 0 && this.#taken.size === 0;
  }

  add(key: string): void {
    this.#changed.add(key);
  }

  has(key: string): boolean {
    return this.#changed.has(key) || this.#taken.has(key);
  }

  /** The changed keys, at most `most`. The end of one batch comes before the next is taken. */
  take(most = Number.POSITIVE_INFINITY): ReadonlySet<string> {
    if (this.#taken.size > 0) throw new Error('a batch was taken before the last one ended');
    if (this.#changed.size === 0) return nothing;
    if (this.#changed.size <= most) {
      this.#taken = this.#changed;
      this.#changed = new Set();
      return this.#taken;
    }
    this.#taken = new Set([...this.#changed].slice(0, most));
    for (const key of this.#taken) this.#changed.delete(key);
    return this.#taken;
  }

  stored(): void {
    this.#taken = nothing;
  }

  putBack(): void {
    if (this.#taken.size === 0) return;
    this.#changed = new Set([...this.#taken, ...this.#changed]);
    this.#taken = nothing;
  }
}

const nothing: ReadonlySet<string> = new Set();
