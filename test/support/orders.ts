import {
  type Answered,
  applyOrder,
  type GivenOrder,
  makeOrder,
  type OperatorOrder,
  type OrderBody,
  type Wanted,
  writeOrder,
} from '../../src/engine/orders.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { seededRandom } from './seeded-random.ts';
import type { World } from './world.ts';

const random = seededRandom(4711);

/** An order of the page. */
export function orderOf<Order extends Wanted>(
  wanted: Order,
  given: Partial<GivenOrder> = {},
): OperatorOrder & Pick<Order, 'kind'> {
  const from = { door: 'page', address: '127.0.0.1' } as const;
  return makeOrder(wanted, { by: 'ana', from, at: 0, random, ...given });
}

/** As the command line leaves it in the database. */
export function leftOrderOf(wanted: Wanted, given: Partial<GivenOrder> = {}): OrderBody {
  const from = { door: 'command line', address: null } as const;
  return writeOrder(orderOf(wanted, { from, ...given }));
}

/** Gives an order to a daemon, or one that stands by. */
export async function give<Order extends Wanted>(
  views: Pick<LiveViews, 'orders'>,
  wanted: Order,
  by?: string,
): Promise<Answered<Order>> {
  const [answer] = await views.orders([orderOf(wanted, by === undefined ? {} : { by })]);
  if (answer === undefined) throw new Error('an order without an answer');
  return answer as Answered<Order>;
}

/** As `give`, at once, and not waiting for the disk. */
export function giveAtOnce<Order extends Wanted>(
  { daemon }: Pick<World, 'daemon'>,
  wanted: Order,
  by?: string,
): Answered<Order> {
  const order = orderOf(wanted, by === undefined ? {} : { by });
  return daemon.act((now) => applyOrder(daemon.state, order, now, daemon.reach)) as Answered<Order>;
}
