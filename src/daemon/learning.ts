import { StorageError } from '../domain/operator-error.ts';
import type { Reading } from '../domain/reading.ts';
import { LearnFromHistory } from '../engine/learn-spending.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { StoreReader } from '../ports/store.ts';
import type { HistoryLoader } from './history-loader.ts';

/** So many readings are learned at once, which takes a millisecond or two, and then everything else has its turn. */
const readingsAtOnce = 1000;
/** So many accounts read what was stored of them at once, which takes some milliseconds. */
const accountsAtOnce = 20;
const pauseMs = 20;

interface LearningDependencies {
  readonly state: MonitorState;
  readonly reader: StoreReader;
  readonly historyLoader: HistoryLoader;
  readonly clock: Clock;
  readonly log: Log;
  /** Called whenever something is there to be stored. */
  readonly learned: () => void;
}

/** What is being learned, and where it is read from. */
interface Lesson {
  readonly subject: LearnFromHistory;
  readonly dependencies: AsyncIterator<readonly Reading[]>;
}

/**
 * Reads what accounts have yet to remember, then makes what is known of spending from stored history where it was not stored
 * with the account: after an upgrade, or when an account moved to another time zone. In slices, after polling began.
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

  /** Goes on learning until all is known. To be called again when accounts may have been added to what is not. */
  start(now: number): void {
    const { unlearned, unloaded } = this.#dependencies.state;
    if (this.#stopped || this.#working || unlearned.size + unloaded.size === 0) return;
    this.#working = true;
    this.#cancel = this.#dependencies.clock.setTimer(pauseMs, () => void this.#step(now));
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #step(now: number): Promise<void> {
    if (this.#dependencies.state.unloaded.size > 0) await this.#loadSome();
    else await this.#learn(now);
    this.#working = false;
    this.start(now);
  }

  async #learn(now: number): Promise<void> {
    const { state, log } = this.#dependencies;
    try {
      this.#under ??= this.#next(now);
      if (this.#under !== null && !(await takeSome(this.#under))) return;
      this.#under = null;
      this.#dependencies.learned();
      if (state.unlearned.size === 0) log.info({}, 'spending learned from stored history');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // A history that cannot be read is no reason to know nothing from now on.
      log.warn(
        { err: error, accounts: state.unlearned.size },
        'stored history cannot be read; learning spending from now on',
      );
      this.#under = null;
      state.unlearned.clear();
    }
  }

  /** Accounts that nobody has polled or looked at yet: whoever looks at all of them must not wait for all at once. */
  async #loadSome(): Promise<void> {
    const { state, historyLoader } = this.#dependencies;
    const some = [...state.unloaded].slice(0, accountsAtOnce);
    await Promise.all(
      some.map((id) => {
        const account = state.accounts.get(id);
        return account === undefined ? void state.unloaded.delete(id) : historyLoader.of(account);
      }),
    );
  }

  #next(now: number): Lesson | null {
    const { state, reader } = this.#dependencies;
    for (const id of state.unlearned) {
      const account = state.accounts.get(id);
      if (account !== undefined) {
        const subject = new LearnFromHistory(state, account, now);
        return { subject, dependencies: reader.readings(subject.query)[Symbol.asyncIterator]() };
      }
      state.unlearned.delete(id);
    }
    return null;
  }
}

/** True when there is nothing more to learn, or nobody to learn it for. */
async function takeSome({ subject, dependencies }: Lesson): Promise<boolean> {
  for (let taken = 0; taken < readingsAtOnce; ) {
    const part = subject.isOver ? null : await dependencies.next();
    if (part === null || part.done === true) {
      subject.finish();
      return true;
    }
    subject.take(part.value);
    taken += part.value.length;
  }
  return false;
}
