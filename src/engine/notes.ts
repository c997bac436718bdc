import { parseJson } from '../domain/json.ts';
import { Records } from './records.ts';

interface Note {
  readonly name: string;
  readonly value: string;
}

/** Small things to remember, each under a name of its own. */
export class Notes extends Records<Note> {
  write(name: string, value: string): void {
    this.set(name, { name, value });
  }

  /** The notes whose names begin with `prefix`. */
  under(prefix: string): Note[] {
    return [...this.values()].filter(({ name }) => name.startsWith(prefix));
  }
}

/** Announcements of people, a list for each account, kept as notes; an account without any has no note. */
export class NotedLists<Item> extends Map<string, readonly Item[]> {
  readonly #prefix: string;
  readonly #notes: Notes;

  constructor(prefix: string, notes: Notes) {
    super();
    this.#prefix = prefix;
    this.#notes = notes;
  }

  override set(account: string, items: readonly Item[]): this {
    if (items.length > 0) {
      this.#notes.write(this.#prefix + account, JSON.stringify(items));
      return super.set(account, items);
    }
    this.delete(account);
    this.#notes.delete(this.#prefix + account);
    return this;
  }

  /** Only `set` writes these notes. */
  restore(): void {
    for (const { name, value } of this.#notes.under(this.#prefix)) {
      const stored: unknown = parseJson(value);
      if (Array.isArray(stored)) super.set(name.slice(this.#prefix.length), stored);
    }
  }
}
