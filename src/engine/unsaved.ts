/**
 * The keys of what has changed and is not known to be stored. Taking them begins a new list: what changes while a
 * batch is written goes out with the next one, and a batch that failed, or whose end is unknown, is put back.
 */
export class Unsaved {
  #changed = new Set<string>();
  /** What the batch under way consists of. */
  #taken: ReadonlySet<string> = nothing;

  /** How much the next batch would hold. */
  get size(): number {
    return this.#changed.size;
  }

  /** Keys that the next batch would hold, in the order in which they changed first. */
  keys(): Iterable<string> {
    return this.#changed;
  }

  /** Whether everything is known to be stored. */
  get allStored(): boolean {
    return this.#changed.size === 0 && this.#taken.size === 0;
  }

  add(key: string): void {
    this.#changed.add(key);
  }

  /** Whether the present value may differ from what is stored. */
  has(key: string): boolean {
    return this.#changed.has(key) || this.#taken.has(key);
  }

  /** What changed since the last call, `most` of it where it is more. One batch at a time: its end comes before the next is taken. */
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

  /** The batch that was taken is safe on disk. */
  stored(): void {
    this.#taken = nothing;
  }

  /** The batch that was taken was not stored, or nobody knows: it goes into the next one, as it is then. */
  putBack(): void {
    if (this.#taken.size === 0) return;
    this.#changed = new Set([...this.#taken, ...this.#changed]);
    this.#taken = nothing;
  }
}

const nothing: ReadonlySet<string> = new Set();
