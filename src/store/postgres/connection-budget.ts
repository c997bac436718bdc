import { StorageError } from '../../domain/operator-error.ts';

/**
 * So many connections and no more, over all pools that come and go. One whose statement was given up counts until the server has ended it:
 * a server that answers nobody would be left without connections otherwise.
 */
export class ConnectionBudget {
  readonly #max: number;
  #used = 0;
  #stuck = 0;
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: StorageError) => void }[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Waits until one is free. Rejects with `StorageError` where all are stuck. */
  async take(): Promise<void> {
    if (this.#stuck === this.#max) throw allStuck();
    if (this.#used < this.#max) this.#used += 1;
    else await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#used -= 1;
    else next.resolve();
  }

  giveAfter(ended: Promise<void>): void {
    this.#stuck += 1;
    if (this.#stuck === this.#max) for (const { reject } of this.#waiting.splice(0)) reject(allStuck());
    void ended.finally(() => {
      this.#stuck -= 1;
      this.give();
    });
  }
}

function allStuck(): StorageError {
  return new StorageError(
    'busy',
    'the PostgreSQL database: the server has not ended what was asked before on any connection',
  );
}
