import { StorageError } from '../domain/ports.ts';
import { obeyOrder } from '../engine/operate.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';
import type { DaemonJournal } from './daemon-journal.ts';
import type { Store } from './ports.ts';

/** The note that says when the command line last left an order. */
const orderNote = 'order-at';

/** Obeys what the command line left in the database since it was last looked at. */
export function obeyLeftOrders(
  parts: { readonly state: MonitorState; readonly store: Store; readonly journal: DaemonJournal },
  now: number,
): void {
  const { state, store, journal } = parts;
  try {
    for (const order of store.takeOrders()) {
      obeyOrder(state, order, now);
      // The store forgets orders with the next commit, so there must be one.
      writeNote(state, orderNote, String(now));
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    // While the database cannot be used nobody can have left an order in it. That is a failure to store like any other,
    // and the next commit says so, so there must be one.
    journal.ordersFailed(error);
    writeNote(state, orderNote, String(now));
  }
}
