import type { Clock, Log, StoreReader } from '../domain/ports.ts';
import { StorageError } from '../domain/ports.ts';
import { LearnFromHistory } from '../engine/learn-spending.ts';
import type { MonitorState } from '../engine/state.ts';

/** So many readings are learned at once, which takes a millisecond or two, and then everything else has its turn. */
const readingsAtOnce = 1000;
/** So many accounts read what was stored of them at once, which takes some milliseconds. */
const accountsAtOnce = 20;
const pauseMs = 20;

/**
 * Reads what accounts have yet to remember, then makes what is known of spending from stored history where it was not stored with the account: after an upgrade, or when an
 * account moved to another time zone. In slices, after polling began.
 */
export class Learning {
  readonly #parts: {
    readonly state: MonitorState;
    readonly reader: StoreReader;
    readonly clock: Clock;
    readonly log: Log;
  };
  readonly #learned: () => void;
  #under: LearnFromHistory | null = null;
  #cancel: (() => void) | null = null;

  /** `learned` is called whenever something is there to be stored. */
  constructor(
    parts: {
      readonly state: MonitorState;
      readonly reader: StoreReader;
      readonly clock: Clock;
      readonly log: Log;
    },
    learned: () => void,
  ) {
    this.#parts = parts;
    this.#learned = learned;
  }

  /** Goes on learning until all is known. To be called again when accounts may have been added to what is not. */
  start(now: number): void {
    const { unlearned, asleep } = this.#parts.state;
    if (this.#cancel !== null || unlearned.size + asleep.size === 0) return;
    this.#cancel = this.#parts.clock.setTimer(pauseMs, () => {
      this.#cancel = null;
      this.#step(now);
      this.start(now);
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #step(now: number): void {
    const { state, log } = this.#parts;
    if (state.asleep.size > 0) {
      this.#remember();
      return;
    }
    try {
      this.#under ??= this.#next(now);
      if (this.#under?.step(readingsAtOnce) === false) return;
      this.#under = null;
      this.#learned();
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
  #remember(): void {
    const { accounts, asleep } = this.#parts.state;
    let left = accountsAtOnce;
    for (const id of asleep) {
      if (left === 0) return;
      left -= 1;
      asleep.delete(id);
      accounts.get(id)?.remember();
    }
  }

  #next(now: number): LearnFromHistory | null {
    const { state, reader } = this.#parts;
    for (const id of state.unlearned) {
      const account = state.accounts.get(id);
      if (account !== undefined) return new LearnFromHistory(state, { account, reader, now });
      state.unlearned.delete(id);
    }
    return null;
  }
}
