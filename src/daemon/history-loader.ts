import { onStorageError } from '../domain/operator-error.ts';
import { type LoadedHistory, loadHistory, loadSince, showPace } from '../engine/spending.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';
import { readingsPerPace } from '../spending/usual-interval.ts';

/** Accounts that are read together: a shared database answers them at once. */
const maxLoading = 256;

type HistoryReader = Pick<StoreReader, 'readings' | 'readingBefore'>;

/** If the database cannot be read, polls and alerts go on and the account begins without history. */
export class HistoryLoader {
  readonly #state: MonitorState;
  readonly #reader: HistoryReader;
  readonly #now: () => number;
  readonly #act: (takeIn: () => void) => void;
  readonly #underWay = new Map<string, Promise<void>>();

  /** `act` takes in what was read, as part of a turn if there are turns. */
  constructor(
    state: MonitorState,
    reader: HistoryReader,
    now: () => number,
    act: (takeIn: () => void) => void = (takeIn) => takeIn(),
  ) {
    this.#state = state;
    this.#reader = reader;
    this.#now = now;
    this.#act = act;
  }

  /** Resolves when the account is loaded; undefined when it already is. */
  of(account: WatchedAccount): Promise<void> | undefined {
    const { id } = account;
    if (!this.#state.unloaded.has(id)) return undefined;
    const known = this.#underWay.get(id);
    if (known !== undefined) return known;
    const reading = this.#load(account).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, reading);
    return reading;
  }

  async ofAll(ids: Iterable<string>): Promise<void> {
    const loading: Promise<void>[] = [];
    for (const id of ids) {
      if (this.#state.unloaded.size === 0) break;
      const account = this.#state.accounts.get(id);
      const unloaded = account === undefined ? undefined : this.of(account);
      if (unloaded !== undefined) loading.push(unloaded);
      if (loading.length === maxLoading) await Promise.all(loading.splice(0));
    }
    await Promise.all(loading);
  }

  async #load(account: WatchedAccount): Promise<void> {
    const state = this.#state;
    const read = await this.#read(account).catch(onStorageError({ readings: [], areAll: false }));
    this.#act(() => {
      // A reload may have replaced or removed it.
      const current = state.unloaded.has(account.id) ? state.accounts.get(account.id) : undefined;
      if (current !== undefined) loadHistory(state, current, read);
    });
  }

  async #read(account: WatchedAccount): Promise<LoadedHistory> {
    const now = this.#now();
    const since = loadSince(this.#state, account, now);
    const loaded = await this.#readWith(account, since, 1);
    // Not step by step: stored readings of a clock that was ahead come first, and would be gone back through to their beginning.
    return loaded.areAll || showPace(loaded.readings, account, now)
      ? loaded
      : this.#readWith(account, since, readingsPerPace);
  }

  /** The readings since an instant, with so many from before. */
  async #readWith({ id }: WatchedAccount, from: number, count: number): Promise<LoadedHistory> {
    let since = from;
    let areAll = false;
    for (let found = 0; found < count && !areAll; found++) {
      const before = await this.#reader.readingBefore(id, since);
      areAll = before === null;
      since = before?.at ?? since;
    }
    const query = { account: id, since, until: Number.MAX_SAFE_INTEGER, asStored: true };
    return { readings: await collect(this.#reader.readings(query)), areAll };
  }
}

export async function collect<Row>(chunks: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const chunk of chunks) for (const row of chunk) found.push(row);
  return found;
}
