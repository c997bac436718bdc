import { isRefusal, refuse } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import { minuteMs } from '../domain/time.ts';
import { refusals } from '../engine/orders/refusals.ts';
import {
  type Answered,
  applyOrders,
  isKnownTo,
  type OperatorOrder,
  wasDoneBefore,
  writeDone,
} from '../engine/orders.ts';
import type { MonitorState } from '../engine/state.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { LeftOrder } from '../ports/store.ts';

/** The means to leave orders that this process cannot carry out for good. */
export interface Leaving {
  /** The program of the owner; null when it is not known. */
  readonly ownerProgram: string | null;
  /** The programs of all daemons that share the database, as far as they are known: any of them may own the accounts when the order is taken. */
  readonly programs: readonly string[];
  readonly reach: OrderReach;
  readonly leave: (order: LeftOrder) => Promise<void>;
}

/** The owner sends the test, and nobody here hears what its receivers say. */
export const leaveTest: OrderReach['testAlert'] = (incident) => ({
  incident,
  resolvesAt: incident.firedAt + minuteMs,
  told: Promise.resolve(null),
});

/**
 * Applies orders to what is known here, so that the person sees the result or a refusal at once, and leaves them for the owner. Rejects with
 * `StorageError`, which says so if some may have been left.
 */
export async function leaveOrders<Order extends OperatorOrder>(
  state: MonitorState,
  orders: readonly Order[],
  now: number,
  { ownerProgram, programs, reach, leave }: Leaving,
): Promise<readonly Answered<Order>[]> {
  const isUnknownTo = (program: string) => !orders.every((order) => isKnownTo(program, order));
  if (ownerProgram !== null && isUnknownTo(ownerProgram))
    return orders.map(() => refuse('not-now', refusals.olderOwner({ program: ownerProgram })));
  const older = programs.find(isUnknownTo);
  if (older !== undefined)
    return orders.map(() => refuse('not-now', refusals.olderMember({ program: older })));
  const answers = applyOrders(state, orders, now, reach);
  let isUnsure = false;
  for (const [index, order] of orders.entries()) {
    const answer = answers[index] ?? {};
    if (isRefusal(answer) || wasDoneBefore(answer)) continue;
    await leave(writeDone(state, order)).catch((error: unknown) => {
      isUnsure ||= error instanceof StorageError && error.kind === 'unknown';
      throw isUnsure ? new StorageError('fenced', refusals.unsure(), { cause: error }) : error;
    });
    isUnsure = true;
  }
  return answers;
}
