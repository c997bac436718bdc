import type { OperatorOrder } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import { applyOrder } from '../engine/operate.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';
import type { Store } from '../ports/store.ts';
import type { DaemonLog } from './daemon-log.ts';

const orderNote = 'order-at';
/** Orders are looked for at most this often. */
const lookMs = 500;

interface LeftOrdersDependencies {
  readonly state: MonitorState;
  readonly store: Store;
  readonly daemonLog: DaemonLog;
  /** Gives the work exclusive use of the store. */
  readonly alone: (work: () => Promise<void>) => void;
  /** Runs the work as a turn. */
  readonly act: (work: (now: number) => void) => void;
  /** Hands the accounts to another daemon. */
  readonly handOver: () => void;
}

/** Orders that the command line left in the database. */
export class LeftOrders {
  readonly #dependencies: LeftOrdersDependencies;
  #looks = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: LeftOrdersDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes and executes them. One look at a time, and not at every poll. */
  look(now: number): void {
    // After the clock was set back, look again.
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
    // The store deletes orders with the next commit, so there must be one. A failure to read them is a
    // storage failure, which that commit reports.
    writeNote(state, orderNote, String(now));
    if (taken instanceof StorageError) {
      daemonLog.ordersFailed(taken);
      return;
    }
    for (const order of taken) {
      if (order.kind === 'hand-over') {
        handOver();
        continue;
      }
      const refusal = applyOrder(state, order, now);
      if (refusal !== null) daemonLog.orderRefused(order.kind, refusal.why);
    }
  }
}
