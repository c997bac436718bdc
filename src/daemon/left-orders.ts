import { type OperatorOrder, StorageError } from '../domain/ports.ts';
import { obeyOrder } from '../engine/operate.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';
import type { DaemonJournal } from './daemon-journal.ts';
import type { Store } from './ports.ts';

/** The note that says when the command line last left an order. */
const orderNote = 'order-at';

/** Takes what the command line left in the database since it was last looked at. What it gives is a failure as well. */
export async function takeLeftOrders(store: Store): Promise<readonly OperatorOrder[] | StorageError> {
  try {
    return await store.takeOrders();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return error;
  }
}

/** Obeys what was taken, as part of a turn. */
export function obeyLeftOrders(
  parts: {
    readonly state: MonitorState;
    readonly journal: DaemonJournal;
    /** The accounts are to go to another daemon. */
    readonly handOver: () => void;
  },
  taken: readonly OperatorOrder[] | StorageError,
  now: number,
): void {
  const { state, journal } = parts;
  if (taken instanceof StorageError) {
    // While the database cannot be used nobody can have left an order in it. That is a failure to store like any other,
    // and the next commit says so, so there must be one.
    journal.ordersFailed(taken);
    writeNote(state, orderNote, String(now));
    return;
  }
  for (const order of taken) {
    if (order.kind === 'hand-over') parts.handOver();
    else obeyOrder(state, order, now);
    // The store forgets orders with the next commit, so there must be one.
    writeNote(state, orderNote, String(now));
  }
}
