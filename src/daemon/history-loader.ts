import { StorageError } from '../domain/operator-error.ts';
import { type LoadedHistory, loadHistory, loadSince } from '../engine/load-history.ts';
import type { MonitorState } from '../engine/state.ts';
import type { WatchedAccount } from '../engine/watched-account.ts';
import type { StoreReader } from '../ports/store.ts';

/** So many accounts are read at once where many are asked for: a shared database answers them together. */
const maxLoading = 256;

interface HistoryLoaderDependencies {
  readonly state: MonitorState;
  readonly reader: Pick<StoreReader, 'readings' | 'readingBefore'>;
  readonly now: () => number;
  /** Takes in what was read, as part of a turn where there are turns. */
  readonly act: (takeIn: (now: number) => void) => void;
}

/**
 * Gives accounts that are asleep what was stored of them, each once, when somebody needs it. Polls and alerts go on while the
 * database cannot be read: the account begins anew then.
 */
export class HistoryLoader {
  readonly #dependencies: HistoryLoaderDependencies;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(dependencies: HistoryLoaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves when the account is awake; at once, without a promise, when it is already. */
  of(account: WatchedAccount): Promise<void> | undefined {
    const { id } = account;
    if (!this.#dependencies.state.unloaded.has(id)) return undefined;
    const known = this.#underWay.get(id);
    if (known !== undefined) return known;
    const reading = this.#load(account).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, reading);
    return reading;
  }

  /** Resolves when all of these are awake. */
  async ofAll(ids: Iterable<string>): Promise<void> {
    const { state } = this.#dependencies;
    const loading: Promise<void>[] = [];
    for (const id of ids) {
      if (state.unloaded.size === 0) break;
      const account = state.accounts.get(id);
      const unloaded = account === undefined ? undefined : this.of(account);
      if (unloaded !== undefined) loading.push(unloaded);
      if (loading.length === maxLoading) await Promise.all(loading.splice(0));
    }
    await Promise.all(loading);
  }

  async #load(account: WatchedAccount): Promise<void> {
    const { state, now, act } = this.#dependencies;
    const read = await this.#read(account, loadSince(state, account, now()));
    act((at) => {
      // A reload may have made it anew meanwhile, or removed it.
      const current = state.unloaded.has(account.id) ? state.accounts.get(account.id) : undefined;
      if (current !== undefined) loadHistory(state, current, { ...read, now: at });
    });
  }

  async #read({ id }: WatchedAccount, since: number): Promise<Pick<LoadedHistory, 'readings' | 'areAll'>> {
    const { reader } = this.#dependencies;
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
}

/** For who has no turns: a state that only this process looks at. */
export function historyLoaderOf(
  state: MonitorState,
  reader: HistoryLoaderDependencies['reader'],
  now: () => number,
): HistoryLoader {
  return new HistoryLoader({ state, reader, now, act: (takeIn) => takeIn(now()) });
}

/** All that comes in parts. */
export async function collect<Row>(dependencies: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const part of dependencies) for (const row of part) found.push(row);
  return found;
}
