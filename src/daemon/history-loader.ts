import { StorageError } from '../domain/operator-error.ts';
import { type LoadedHistory, loadHistory, loadSince } from '../engine/spending.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';

/** Accounts that are read together: a shared database answers them at once. */
const maxLoading = 256;

export type HistoryLoader = ReturnType<typeof createHistoryLoader>;

/**
 * Loads stored readings of an account when somebody first needs them. If the database cannot be read, polls
 * and alerts go on and the account begins without history. `act` takes in what was read, as part of a turn if there are turns.
 */
export function createHistoryLoader(
  state: MonitorState,
  reader: Pick<StoreReader, 'readings' | 'readingBefore'>,
  now: () => number,
  act: (takeIn: (now: number) => void) => void = (takeIn) => takeIn(now()),
) {
  const underWay = new Map<string, Promise<void>>();

  async function load(account: WatchedAccount): Promise<void> {
    const stored = await read(account, loadSince(state, account, now()));
    act((at) => {
      // A reload may have replaced or removed it.
      const current = state.unloaded.has(account.id) ? state.accounts.get(account.id) : undefined;
      if (current !== undefined) loadHistory(state, current, { ...stored, now: at });
    });
  }

  async function read(
    { id }: WatchedAccount,
    since: number,
  ): Promise<Pick<LoadedHistory, 'readings' | 'areAll'>> {
    try {
      const before = await reader.readingBefore(id, since);
      const from = before?.at ?? since;
      const query = { account: id, since: from, until: Number.MAX_SAFE_INTEGER, asStored: true };
      return { readings: await collect(reader.readings(query)), areAll: before === null };
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { readings: [], areAll: false };
    }
  }

  /** Resolves when the account is loaded; undefined when it already is. */
  function of(account: WatchedAccount): Promise<void> | undefined {
    const { id } = account;
    if (!state.unloaded.has(id)) return undefined;
    const known = underWay.get(id);
    if (known !== undefined) return known;
    const loading = load(account).finally(() => underWay.delete(id));
    underWay.set(id, loading);
    return loading;
  }

  async function ofAll(ids: Iterable<string>): Promise<void> {
    const loading: Promise<void>[] = [];
    for (const id of ids) {
      if (state.unloaded.size === 0) break;
      const account = state.accounts.get(id);
      const unloaded = account === undefined ? undefined : of(account);
      if (unloaded !== undefined) loading.push(unloaded);
      if (loading.length === maxLoading) await Promise.all(loading.splice(0));
    }
    await Promise.all(loading);
  }

  return { of, ofAll };
}

export async function collect<Row>(chunks: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const chunk of chunks) for (const row of chunk) found.push(row);
  return found;
}
