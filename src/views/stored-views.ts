import { createHistoryLoader } from '../daemon/history-loader.ts';
import { refuse } from '../domain/operator.ts';
import { refusals } from '../engine/orders/refusals.ts';
import { type OperatorOrder, takeLeftOrder } from '../engine/orders.ts';
import { type MonitorStart, startMonitor } from '../engine/restore.ts';
import type { Clock } from '../ports/clock.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { LeftOrder, StoredState, StoreFile, StoreReader } from '../ports/store.ts';
import { createViews } from './create-views.ts';
import { type Leaving, leaveOrders, leaveTest } from './leave-orders.ts';
import type { ViewDependencies } from './views.ts';

export interface StoredDependencies
  extends Pick<MonitorStart, 'settings' | 'random' | 'calendar' | 'isOfPart'> {
  readonly reader: StoreReader;
  readonly clock: Clock;
}

export type StoredViews = Awaited<ReturnType<typeof openStoredViews>>;

/** The reach of a process that only reads a database: it polls nothing. */
const noReach: OrderReach = {
  poll: () => refuse('not-now', refusals.noDaemon()),
  testAlert: leaveTest,
  handOver() {},
};

/** The views of a process that only reads the database: what is stored now, with the orders that wait for a daemon carried out. */
export async function openStoredViews(parts: StoredDependencies & { readonly reader: StoreFile }) {
  const { reader, clock } = parts;
  // Orders are read first: what a daemon carries out meanwhile is in what is loaded after them.
  const orders = await reader.leftOrders();
  const known = await restoreStored(parts, await reader.load());
  carryOut(known, orders);
  const { accounts, polled } = known.state;
  return {
    ...createViews(() => known),
    /** Accounts of the database that the settings do not name. */
    unnamed: [...polled.keys()].filter((id) => !accounts.has(id)),
    /** Leaves an order for the daemon, unless it does not fit what is stored, or was done before. */
    async order(order: OperatorOrder, leaving: Omit<Leaving, 'reach'>) {
      const given = { ...leaving, reach: noReach };
      const [answer] = await leaveOrders(known.state, [order], clock.now(), given);
      if (answer === undefined) throw new TypeError('an order without an answer');
      return answer;
    },
  };
}

/** Carries out orders that wait for a daemon, as far as they change what is known of the stored state. */
export function carryOut({ state, now }: ViewDependencies, orders: readonly LeftOrder[]): void {
  for (const order of orders) takeLeftOrder(state, order, now(), noReach);
}

/** The stored state, as a daemon would know it that does not go on. */
export async function restoreStored(
  { settings, reader, clock, random, calendar, isOfPart = false }: StoredDependencies,
  stored: StoredState,
): Promise<ViewDependencies> {
  const now = () => clock.now();
  const state = startMonitor({ settings, stored, calendar, random, now: now(), isOfPart });
  const historyLoader = createHistoryLoader(state, reader, now);
  // Firing alerts are ordered by the spending of their accounts.
  const open = [...state.alerts.values()].filter((alert) => alert.state !== 'inactive');
  await historyLoader.ofAll(open.map(({ account }) => account));
  return { state, reader, historyLoader, now, nextPollAt: () => null };
}
