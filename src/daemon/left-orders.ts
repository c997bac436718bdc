import type { OperatorOrder } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import { applyOrder } from '../engine/operate.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';
import type { Store } from '../ports/store.ts';
import type { DaemonLog } from './daemon-log.ts';

/** The note that says when the command line last left an order. */
const orderNote = 'order-at';
/** Orders are looked for no sooner than this after the last time. */
const lookMs = 500;

interface LeftOrdersDependencies {
  readonly state: MonitorState;
  readonly store: Store;
  readonly daemonLog: DaemonLog;
  /** Gives the store to some work once nothing else has it. */
  readonly alone: (work: () => Promise<void>) => void;
  /** Does something as a turn. */
  readonly act: (work: (now: number) => void) => void;
  /** The accounts are to go to another daemon. */
  readonly handOver: () => void;
}

/** What the command line left in the database for the daemon. */
export class LeftOrders {
  readonly #dependencies: LeftOrdersDependencies;
  #looks = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: LeftOrdersDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes and obeys them; looks again only after the answer, and not at each of many polls a second. */
  look(now: number): void {
    // A clock that was set back asks anew.
    if (this.#looks || Math.abs(now - this.#lookedAt) < lookMs) return;
    this.#looks = true;
    this.#lookedAt = now;
    this.#dependencies.alone(async () => {
      const taken = await this.#take();
      this.#looks = false;
      if (taken instanceof StorageError || taken.length > 0)
        this.#dependencies.act((then) => this.#runDurably(taken, then));
    });
  }

  async #take(): Promise<readonly OperatorOrder[] | StorageError> {
    try {
      return await this.#dependencies.store.takeOrders();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return error;
    }
  }

  #runDurably(taken: readonly OperatorOrder[] | StorageError, now: number): void {
    const { state, daemonLog, handOver } = this.#dependencies;
    // The store forgets orders with the next commit, so there must be one. While the database cannot be used nobody can have left an
    // order in it: that is a failure to store like any other, and the next commit says so.
    writeNote(state, orderNote, String(now));
    if (taken instanceof StorageError) {
      daemonLog.ordersFailed(taken);
      return;
    }
    for (const order of taken) {
      if (order.kind === 'hand-over') handOver();
      else applyOrder(state, order, now);
    }
  }
}
