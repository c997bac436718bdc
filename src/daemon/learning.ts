import { StorageError } from '../domain/operator-error.ts';
import type { Reading } from '../domain/reading.ts';
import { LearnFromHistory } from '../engine/spending.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { HistoryLoader } from './history-loader.ts';

/** Learned per slice, in a millisecond or two, before others have their turn. */
const readingsAtOnce = 1000;
/** Accounts that load together, in some milliseconds. */
const accountsAtOnce = 20;
const pauseMs = 20;

interface LearningDependencies extends Pick<DaemonParts, 'state' | 'store' | 'clock' | 'log' | 'committer'> {
  readonly historyLoader: HistoryLoader;
}

interface Lesson {
  readonly subject: LearnFromHistory;
  readonly chunks: AsyncIterator<readonly Reading[]>;
}

/**
 * Loads accounts that nobody has needed yet, then learns spending from stored history where none is stored:
 * after an upgrade or a change of the time zone. In slices, after polling began.
 */
export class Learning {
  readonly #dependencies: LearningDependencies;
  #under: Lesson | null = null;
  #cancel: (() => void) | null = null;
  #working = false;
  #stopped = false;

  constructor(dependencies: LearningDependencies) {
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
      this.#under ??= this.#next(now);
      if (this.#under !== null && !(await takeSome(this.#under))) return;
      this.#under = null;
      committer.schedule();
      if (state.unlearned.size === 0) log.info({}, 'spending learned from stored history');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // Unreadable history must not stop learning from new readings.
      log.warn(
        { err: error, accounts: state.unlearned.size },
        'stored history cannot be read; learning spending from now on',
      );
      this.#under = null;
      state.unlearned.clear();
    }
  }

  /** So that who needs all accounts does not wait for all at once. */
  async #loadSome(): Promise<void> {
    const { state, historyLoader } = this.#dependencies;
    const some = [...state.unloaded.values().take(accountsAtOnce)];
    for (const id of some) if (!state.accounts.has(id)) state.unloaded.delete(id);
    await historyLoader.ofAll(some);
  }

  #next(now: number): Lesson | null {
    const { state, store } = this.#dependencies;
    for (const id of state.unlearned) {
      const account = state.accounts.get(id);
      if (account !== undefined) {
        const subject = new LearnFromHistory(state, account, now);
        return { subject, chunks: store.readings(subject.query)[Symbol.asyncIterator]() };
      }
      state.unlearned.delete(id);
    }
    return null;
  }
}

/** True when there is nothing more to learn. */
async function takeSome({ subject, chunks }: Lesson): Promise<boolean> {
  for (let taken = 0; taken < readingsAtOnce; ) {
    const part = subject.isOver ? null : await chunks.next();
    if (part === null || part.done === true) {
      subject.finish();
      return true;
    }
    subject.take(part.value);
    taken += part.value.length;
  }
  return false;
}
