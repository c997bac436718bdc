import { StorageError } from '../domain/operator-error.ts';
import type { Batch, FencedStore, Store, StoreFile } from '../ports/store.ts';

/**
 * The store of an owner of the shared database, over the incarnations under which it owns: what writes goes one after the
 * other, and a change of the incarnation waits for its turn among it.
 */
export interface LeaderStore extends Store {
  /**
   * Finds out about a batch whose end is unknown, then writes on with what `change` gives. Nothing is written after one that failed or
   * gave null, until one gives a store: whether it owns as another by then is unknown.
   */
  continueWith(change: () => Promise<FencedStore | null>): Promise<void>;
  /**
   * The database has lost commits: without finding out about anything, writes on with the store that `change` gives, the lost batches first.
   * Null changes nothing but that nothing is written until it gives one.
   */
  restoreLost(
    change: () => Promise<{ readonly store: FencedStore; readonly lost: readonly Batch[] } | null>,
  ): Promise<void>;
  /** How many batches the database is known to have of the present incarnation. */
  readonly stored: number;
  /** For how long changes have not been stored, or may not have been; undefined while they are. */
  readonly failingForMs: number | undefined;
}

/** `refused` is asked, before anybody hears of it, what became of the accounts where a change was refused because another seems to own them. */
export function createLeaderStore(dependencies: {
  readonly store: FencedStore;
  readonly reader: StoreFile;
  readonly refused: () => Promise<void>;
  readonly monotonic: () => number;
}): LeaderStore {
  let { store } = dependencies;
  let failingSince: number | null = null;
  let isChanging = false;
  let lost: readonly Batch[] = [];
  let line: Promise<unknown> = Promise.resolve();

  function inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = line.then(work, work);
    line = result.catch(() => undefined);
    return result;
  }

  async function lookOutForFence<T>(work: () => Promise<T>): Promise<T> {
    if (isChanging)
      throw new StorageError('other', 'the shared database: this daemon is about to own the accounts again');
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'fenced') await dependencies.refused();
      throw error;
    }
  }

  async function storeLost(): Promise<void> {
    for (let [first] = lost; first !== undefined; [first] = lost) {
      const batch = first;
      await lookOutForFence(() => store.commit(batch));
      lost = lost.slice(1);
    }
  }

  async function commit(batch: Batch): Promise<void> {
    try {
      await storeLost();
      await lookOutForFence(() => store.commit(batch));
    } catch (error) {
      failingSince ??= dependencies.monotonic();
      throw error;
    }
    failingSince = null;
  }

  return {
    ...dependencies.reader,
    get failingForMs() {
      return failingSince === null ? undefined : dependencies.monotonic() - failingSince;
    },
    commit: (batch) => inLine(() => commit(batch)),
    takeDamaged: () => store.takeDamaged(),
    takeOrders: () => inLine(() => lookOutForFence(() => store.takeOrders())),
    prune: (olderThan) => inLine(() => lookOutForFence(() => store.prune(olderThan))),
    continueWith: (change) =>
      inLine(async () => {
        if (!isChanging) await lookOutForFence(() => store.settle());
        isChanging = true;
        const next = await change();
        if (next === null) return;
        store = next;
        isChanging = false;
      }),
    restoreLost: (change) =>
      inLine(async () => {
        isChanging = true;
        const next = await change();
        if (next === null) return;
        store = next.store;
        lost = [...next.lost, ...lost];
        isChanging = false;
        await storeLost();
      }),
    get stored() {
      return store.stored;
    },
    close: async () => undefined,
  };
}
