import { StorageError } from '../domain/operator-error.ts';
import { learnFromHistory } from '../engine/spending.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** Readings learned in one slice, in a millisecond or two, before other work has its turn. */
const readingsAtOnce = 1000;
/** Accounts that load together, in a few milliseconds. */
const accountsAtOnce = 20;
const pauseMs = 20;

/** Learns spending where none is stored, after an upgrade or a change of time zone: in slices, after polling began. */
export class Learning {
  readonly #dependencies: DaemonParts;
  #lessons: AsyncGenerator<void> | null = null;
  #cancel: (() => void) | null = null;
  #working = false;
  #stopped = false;

  constructor(dependencies: DaemonParts) {
    this.#dependencies = dependencies;
  }

  /** Continues until everything is learned; called again when accounts were added. */
  start(now: number): void {
    const { unlearned, unloaded } = this.#dependencies.state;
    if (this.#stopped || this.#working || unlearned.size + unloaded.size === 0) return;
    this.#working = true;
    this.#cancel = this.#dependencies.clock.setTimer(pauseMs, async () => {
      if (unloaded.size > 0) await this.#loadSome();
      else await this.#learn(now);
      this.#working = false;
      this.start(now);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #learn(now: number): Promise<void> {
    const { state, log, committer } = this.#dependencies;
    try {
      this.#lessons ??= this.#learnAll(now);
      if ((await this.#lessons.next()).done !== true) return;
      this.#lessons = null;
      committer.schedule();
      if (state.unlearned.size === 0) log.info({}, 'spending learned from stored history');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // A history that cannot be read must not stop learning from new readings.
      log.warn(
        { err: error, accounts: state.unlearned.size },
        'stored history cannot be read; learning spending from now on',
      );
      this.#lessons = null;
      state.unlearned.clear();
    }
  }

  /** Loads a few accounts, so that nothing waits until all are loaded. */
  async #loadSome(): Promise<void> {
    const { state, historyLoader } = this.#dependencies;
    const some = [...state.unloaded.values().take(accountsAtOnce)];
    for (const id of some) if (!state.accounts.has(id)) state.unloaded.delete(id);
    await historyLoader.ofAll(some);
  }

  /** Yields after each slice. */
  async *#learnAll(now: number): AsyncGenerator<void> {
    const { state, store, committer } = this.#dependencies;
    for (const id of state.unlearned) {
      const account = state.accounts.get(id);
      if (account === undefined) {
        state.unlearned.delete(id);
        continue;
      }
      const subject = learnFromHistory(state, account, now);
      let taken = 0;
      for await (const chunk of store.readings(subject.query)) {
        if (subject.isOver()) break;
        subject.take(chunk);
        taken += chunk.length;
        if (taken < readingsAtOnce) continue;
        taken = 0;
        yield;
      }
      subject.finish();
      committer.schedule();
      yield;
    }
  }
}
