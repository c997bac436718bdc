import { onStorageError, StorageError } from '../domain/operator-error.ts';
import type { Batch, FencedStore, Store, StoreFile } from '../ports/store.ts';

interface LeaderDependencies {
  readonly store: FencedStore;
  readonly reader: StoreFile;
  /** Asked, before anybody hears of it, what became of the accounts where a change was refused because another seems to own them. */
  readonly refused: () => Promise<void>;
  readonly monotonic: () => number;
}

/** Over the incarnations of an owner: what writes, and a change of the incarnation, goes one after the other. */
export class LeaderStore {
  /** The part that the owner's work knows. */
  readonly port: Store;
  readonly #dependencies: LeaderDependencies;
  #store: FencedStore;
  /** The stored state could not be read: nothing is stored over it. */
  isBlind = false;
  #failingSince: number | null = null;
  #isChanging = false;
  #lost: readonly Batch[] = [];
  #line: Promise<unknown> = Promise.resolve();
  #pause: PromiseWithResolvers<void> | null = null;

  constructor(dependencies: LeaderDependencies) {
    this.#dependencies = dependencies;
    this.#store = dependencies.store;
    const inLine = async <T>(work: () => Promise<T>): Promise<T> => {
      await this.#pause?.promise;
      return this.#inLine(work);
    };
    this.port = {
      ...dependencies.reader,
      commit: (batch) => inLine(() => this.#commit(batch)),
      takeDamaged: () => this.#store.takeDamaged(),
      takeOrders: () => inLine(() => this.#write(() => this.#store.takeOrders())),
      takeUnstored: () => inLine(() => this.#write(() => this.#store.takeUnstored())),
      prune: (olderThan) => inLine(() => this.#write(() => this.#store.prune(olderThan))),
      close: async () => undefined,
    };
  }

  /** The accounts are not its own yet: nothing is written before they are. */
  waitForAccounts(): void {
    this.#isChanging = true;
  }

  /** The accounts are free: who writes waits until it is known whose they are. */
  pause(): void {
    this.#pause ??= Promise.withResolvers();
  }

  goOn(): void {
    this.#pause?.resolve();
    this.#pause = null;
  }

  /** The number of batches that the database is known to have of the present incarnation. */
  get stored(): number {
    return this.#store.stored;
  }

  /** For how long changes have not been stored, or may not have been; undefined while they are. */
  get failingForMs(): number | undefined {
    return this.#failingSince === null ? undefined : this.#dependencies.monotonic() - this.#failingSince;
  }

  /**
   * Writes on with the store that `change` gives, first what the database lost, if anything: `stored` resolves after that, or once it failed
   * and is left for the next commit. `settles`: finds out before that about a batch whose end is unknown. Nothing is written after one that
   * failed or gave null, until one gives a store: whether it owns as another by then is unknown.
   */
  async continueWith(
    settles: boolean,
    change: () => Promise<{ readonly store: FencedStore; readonly lost: readonly Batch[] } | null>,
  ): Promise<{ readonly stored: Promise<void> }> {
    await this.#inLine(async () => {
      if (settles && !this.isBlind) await this.#unlessRefused(() => this.#store.settle());
      this.#isChanging = true;
      const next = await change();
      if (next === null) return;
      this.#store = next.store;
      this.#lost = [...next.lost, ...this.#lost];
      this.#isChanging = false;
    });
    return { stored: this.#inLine(() => this.#storeLost()).catch(onStorageError(undefined)) };
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#line.then(work, work);
    this.#line = result.catch(() => undefined);
    return result;
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    if (this.isBlind)
      throw new StorageError(
        'other',
        'the shared database: what is stored cannot be read, and nothing is stored over it',
      );
    if (this.#isChanging)
      throw new StorageError('other', 'the shared database: this daemon is about to own the accounts again');
    return this.#unlessRefused(work);
  }

  async #unlessRefused<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'fenced') await this.#dependencies.refused();
      throw error;
    }
  }

  async #commit(batch: Batch): Promise<void> {
    try {
      await this.#storeLost();
      await this.#write(() => this.#store.commit(batch));
    } catch (error) {
      this.#failingSince ??= this.#dependencies.monotonic();
      throw error;
    }
    this.#failingSince = null;
  }

  async #storeLost(): Promise<void> {
    for (const batch of this.#lost) {
      await this.#write(() => this.#store.commit(batch));
      this.#lost = this.#lost.slice(1);
    }
  }
}
