import { StorageError } from '../domain/operator-error.ts';
import { takeLeftOrder } from '../engine/orders.ts';
import { writeNote } from '../engine/state.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import { openUnstoredTaker } from './unstored-taker.ts';

const orderNote = 'order-at';
/** Orders are looked for at most this often, however often something is written next to the database. */
const lookMs = 500;

/** What takes and executes the orders that the command line left in the database. One look at a time, and not at every poll. */
export function openLeftOrders(parts: DaemonParts, reach: OrderReach) {
  const { state, store, log, committer, act } = parts;
  const takeUnstored = openUnstoredTaker(parts);
  let looks = false;
  let isFailing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function take(): Promise<void> {
    try {
      const orders = await store.takeOrders();
      await takeUnstored();
      isFailing = false;
      if (orders.length > 0)
        act((now) => {
          // The store deletes orders with the next commit, so there must be one.
          writeNote(state, orderNote, String(now));
          for (const order of orders) {
            const refused = takeLeftOrder(state, order, now, reach);
            // Nobody waits for what becomes of an order that was left in the database.
            if (refused !== null)
              log.warn(
                { order: refused.kind, why: refused.why },
                'an order that was left in the database was refused',
              );
          }
        });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (!isFailing) log.warn({ err: error }, 'orders that were left in the database cannot be read');
      isFailing = true;
      // A failure to read them is a storage failure, which the next commit reports: so there must be one.
      act((now) => writeNote(state, orderNote, String(now)));
    } finally {
      looks = false;
    }
  }

  return {
    take(now: number): void {
      // After the clock was set back, look again.
      if (looks || Math.abs(now - lookedAt) < lookMs) return;
      looks = true;
      lookedAt = now;
      committer.alone(take);
    },
    nextAt: () => lookedAt + lookMs,
  };
}
