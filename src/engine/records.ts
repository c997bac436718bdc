import { Unsaved } from './unsaved.ts';

export interface Taken<Row> {
  readonly rows: readonly Row[];
  readonly removed: readonly string[];
}

/**
 * Records by key that note what was set or removed; a batch is what its tables noted. Records are values: a
 * change sets another one.
 */
export class Records<Row> {
  readonly unsaved = new Unsaved();
  readonly #rows = new Map<string, Row>();

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  keys(): IterableIterator<string> {
    return this.#rows.keys();
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  set(key: string, row: Row): void {
    this.#rows.set(key, row);
    this.unsaved.add(key);
  }

  /** Keeps a record that needs no write. */
  hold(key: string, row: Row): void {
    this.#rows.set(key, row);
  }

  delete(key: string): void {
    this.#rows.delete(key);
    this.unsaved.add(key);
  }

  /** Drops a record from memory once it is stored. */
  forget(key: string): void {
    if (!this.unsaved.has(key)) this.#rows.delete(key);
  }

  take(most?: number): Taken<Row> {
    const rows: Row[] = [];
    const removed: string[] = [];
    for (const key of this.unsaved.take(most)) {
      const row = this.#rows.get(key);
      if (row === undefined) removed.push(key);
      else rows.push(row);
    }
    return { rows, removed };
  }
}
