import { StorageError } from '../domain/operator-error.ts';
import { applyOrder } from '../engine/operate.ts';
import { writeNote } from '../engine/state.ts';
import type { DaemonDependencies, DaemonParts } from './daemon-dependencies.ts';

const orderNote = 'order-at';
/** Orders are looked for at most this often. */
const lookMs = 500;

type LeftOrdersDependencies = Pick<DaemonDependencies, 'handOver'> &
  Pick<DaemonParts, 'state' | 'store' | 'daemonLog' | 'committer' | 'act'>;

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
    this.#dependencies.committer.alone(() => this.#take());
  }

  async #take(): Promise<void> {
    const { state, store, daemonLog, act, handOver } = this.#dependencies;
    try {
      const orders = await store.takeOrders();
      if (orders.length > 0)
        act((now) => {
          // The store deletes orders with the next commit, so there must be one.
          writeNote(state, orderNote, String(now));
          for (const order of orders) {
            if (order.kind === 'hand-over') {
              handOver?.();
              continue;
            }
            const refusal = applyOrder(state, order, now);
            if (refusal !== null) daemonLog.orderRefused(order.kind, refusal.why);
          }
        });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      daemonLog.ordersFailed(error);
      // A failure to read them is a storage failure, which the next commit reports: so there must be one.
      act((now) => writeNote(state, orderNote, String(now)));
    } finally {
      this.#looks = false;
    }
  }
}
