import { onStorageError, StorageError } from '../domain/operator-error.ts';
import type { Batch, FencedStore, Store, StoreFile } from '../ports/store.ts';

interface LeaderDependencies {
  readonly store: FencedStore;
  readonly reader: StoreFile;
  /** Called when a change was refused because another seems to own the accounts: finds out who owns them before anybody hears of the refusal. */
  readonly refused: () => Promise<void>;
  readonly monotonic: () => number;
}

/** The store over all incarnations of an owner. Writes and changes of the incarnation happen one after another. */
export class LeaderStore {
  /** The part that the owner's daemon uses. */
  readonly port: Store;
  readonly #dependencies: LeaderDependencies;
  #store: FencedStore;
  /** Whether the stored state could not be read: then nothing is stored over it. */
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

  /** The process does not own the accounts yet: nothing is written before it does. */
  waitForAccounts(): void {
    this.#isChanging = true;
  }

  /** The accounts are free: writes wait until it is known who owns them. */
  pause(): void {
    this.#pause ??= Promise.withResolvers();
  }

  goOn(): void {
    this.#pause?.resolve();
    this.#pause = null;
  }

  /** The number of batches of the present incarnation that are known to be stored. */
  get stored(): number {
    return this.#store.stored;
  }

  /** For how long it has failed, or been unknown, that changes are stored; undefined while they are. */
  get failingForMs(): number | undefined {
    return this.#failingSince === null ? undefined : this.#dependencies.monotonic() - this.#failingSince;
  }

  /**
   * Continues with the store that `change` returns, and first stores what the database lost. `stored` resolves once that is done, or has failed
   * and is left for the next commit. `settles`: finds out before `change` whether a batch with an unknown end was stored. If `change` fails or
   * returns null, nothing is written until a later one returns a store: it is unknown whether this process owns the accounts by then.
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
