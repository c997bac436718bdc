import { StorageError } from '../domain/operator-error.ts';
import type { Batch, FencedStore, Store, StoreFile } from '../ports/store.ts';

interface LeaderDependencies {
  readonly store: FencedStore;
  readonly reader: StoreFile;
  /** Asked, before anybody hears of it, what became of the accounts where a change was refused because another seems to own them. */
  readonly refused: () => Promise<void>;
  readonly monotonic: () => number;
}

export type LeaderStore = ReturnType<typeof createLeaderStore>;

/**
 * The store of an owner of the shared database, over the incarnations under which it owns: what writes goes one after the
 * other, and a change of the incarnation waits for its turn among it.
 */
export function createLeaderStore({ store: first, reader, refused, monotonic }: LeaderDependencies) {
  let store = first;
  let failingSince: number | null = null;
  let isChanging = false;
  let lost: readonly Batch[] = [];
  let line: Promise<unknown> = Promise.resolve();

  function inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = line.then(work, work);
    line = result.catch(() => undefined);
    return result;
  }

  async function write<T>(work: () => Promise<T>): Promise<T> {
    if (isChanging)
      throw new StorageError('other', 'the shared database: this daemon is about to own the accounts again');
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'fenced') await refused();
      throw error;
    }
  }

  async function commit(batch: Batch): Promise<void> {
    try {
      await storeLost();
      await write(() => store.commit(batch));
    } catch (error) {
      failingSince ??= monotonic();
      throw error;
    }
    failingSince = null;
  }

  async function storeLost(): Promise<void> {
    for (const batch of lost) {
      await write(() => store.commit(batch));
      lost = lost.slice(1);
    }
  }

  const port: Store = {
    ...reader,
    commit: (batch) => inLine(() => commit(batch)),
    takeDamaged: () => store.takeDamaged(),
    takeOrders: () => inLine(() => write(() => store.takeOrders())),
    prune: (olderThan) => inLine(() => write(() => store.prune(olderThan))),
    close: async () => undefined,
  };

  return {
    /** What the owner's work knows of it. */
    port,
    /** How many batches the database is known to have of the present incarnation. */
    get stored(): number {
      return store.stored;
    },
    /** For how long changes have not been stored, or may not have been; undefined while they are. */
    get failingForMs(): number | undefined {
      return failingSince === null ? undefined : monotonic() - failingSince;
    },
    /**
     * Writes on with the store that `change` gives, first what the database lost, if anything. `settles`: finds out before that about a batch
     * whose end is unknown. Nothing is written after one that failed or gave null, until one gives a store: whether it owns as another by
     * then is unknown.
     */
    continueWith(
      settles: boolean,
      change: () => Promise<{ readonly store: FencedStore; readonly lost: readonly Batch[] } | null>,
    ): Promise<void> {
      return inLine(async () => {
        if (settles && !isChanging) await write(() => store.settle());
        isChanging = true;
        const next = await change();
        if (next === null) return;
        store = next.store;
        lost = [...next.lost, ...lost];
        isChanging = false;
        await storeLost();
      });
    },
  };
}
