import type { Batch, FoundUnstored } from '../../src/ports/store.ts';

/** The polls of a daemon that went on from memory and lost the accounts, in the shared database: whoever has them stores those. */
export class LeftReadings {
  readonly #notes = new Map<string, FoundUnstored>();
  readonly #polls = new WeakSet<object>();

  get notes(): ReadonlyMap<string, FoundUnstored> {
    return new Map(this.#notes);
  }

  /** All of an account before this instant. */
  leave(account: string, at: number): void {
    const polls = [1, 2, 3].map((place) => {
      const poll = { at: at - place * 1001, outcome: 'timeout', reading: null } as const;
      this.#polls.add(poll);
      return { account, poll };
    });
    const write = JSON.stringify;
    this.#notes.set(`unstored:${account} ${at}`, { at, polls, incidents: [], orders: [], write });
  }

  /** Whether no daemon of the story asked for it. */
  has(poll: object): boolean {
    return this.#polls.has(poll);
  }

  stored({ notes }: Batch): void {
    for (const [name, value] of Object.entries(notes)) if (value === null) this.#notes.delete(name);
  }
}
