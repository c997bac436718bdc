import { getOrMake } from '../domain/get-or-make.ts';
import { onStorageError } from '../domain/operator-error.ts';
import { type LoadedHistory, loadHistory, loadSince, showPace } from '../engine/spending.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';
import { readingsPerPace } from '../spending/usual-interval.ts';

/** Accounts that are loaded together: a shared database answers them at once. */
const maxLoading = 256;

export type HistoryLoader = ReturnType<typeof createHistoryLoader>;

/**
 * If the database cannot be read, polls and alerts go on and the account begins without history. `act` applies what was read,
 * as part of a turn if there are turns.
 */
export function createHistoryLoader(
  state: MonitorState,
  reader: Pick<StoreReader, 'readings' | 'readingBefore'>,
  steadyNow: () => number,
  act: (takeIn: () => void) => void = (takeIn) => takeIn(),
) {
  const underWay = new Map<string, Promise<void>>();

  /** Resolves when the account is loaded; undefined when it already is. */
  function loadOne(account: WatchedAccount): Promise<void> | undefined {
    const { id } = account;
    if (!state.unloaded.has(id)) return undefined;
    return getOrMake(underWay, id, () => load(account).finally(() => underWay.delete(id)));
  }

  async function load(account: WatchedAccount): Promise<void> {
    const loaded = await read(account).catch(onStorageError({ readings: [], areAll: false }));
    act(() => {
      // A reload may have replaced or removed it.
      const current = state.unloaded.has(account.id) ? state.accounts.get(account.id) : undefined;
      if (current !== undefined) loadHistory(state, current, loaded);
    });
  }

  async function read(account: WatchedAccount): Promise<LoadedHistory> {
    const now = steadyNow();
    const since = loadSince(state, account, now);
    const loaded = await readWith(account, since, 1);
    // Not step by step: readings of a clock that was ahead come first, and the steps would go back through all of them.
    return loaded.areAll || showPace(loaded.readings, account, now)
      ? loaded
      : readWith(account, since, readingsPerPace);
  }

  /** The readings since an instant, and the `count` readings before it. */
  async function readWith({ id }: WatchedAccount, from: number, count: number): Promise<LoadedHistory> {
    let since = from;
    let areAll = false;
    for (let found = 0; found < count && !areAll; found++) {
      const before = await reader.readingBefore(id, since);
      areAll = before === null;
      since = before?.at ?? since;
    }
    const query = { account: id, since, until: Number.MAX_SAFE_INTEGER, asStored: true };
    return { readings: await collect(reader.readings(query)), areAll };
  }

  return {
    of: loadOne,
    async ofAll(ids: Iterable<string>): Promise<void> {
      const loading: Promise<void>[] = [];
      for (const id of ids) {
        if (state.unloaded.size === 0) break;
        const account = state.accounts.get(id);
        const unloaded = account === undefined ? undefined : loadOne(account);
        if (unloaded !== undefined) loading.push(unloaded);
        if (loading.length === maxLoading) await Promise.all(loading.splice(0));
      }
      await Promise.all(loading);
    },
  };
}

export async function collect<Row>(chunks: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const chunk of chunks) for (const row of chunk) found.push(row);
  return found;
}
