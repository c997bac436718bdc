import type { OutcomeKind } from '../domain/reading.ts';
import { type Answered, type GivenOrder, makeOrder } from '../engine/orders.ts';
import { actsForAccounts } from '../ports/cluster.ts';
import type { StartedPoll } from '../ports/orders.ts';
import type { LiveViews } from '../views/live-views.ts';
import { addressOf } from './access.ts';
import { accept } from './api/input.ts';
import { RequestError, refusals } from './refusal.ts';
import type { Door, WebContext } from './web-env.ts';

/** Set on the answer to an order that is only in memory. */
const storedHeader = 'lowwater-stored';
/** Set if the daemon that answers has left the order for the owner of the accounts. */
const leftHeader = 'lowwater-order';

export function openDoor(context: WebContext, views: Pick<LiveViews, 'orders' | 'stores' | 'status'>): Door {
  const { site, now: at } = context.var;
  const giveAll: Door['giveAll'] = async (wanted, typed = '') => {
    const door = doorOf(context.req.path);
    const by = context.get('person') ?? (typed.trim() || door);
    const from = { door, address: addressOf(site, context.env.incoming) };
    const orders = wanted.map((order) => makeOrder(order, { by, from, at, random: site.random }));
    const answers = await views.orders(orders);
    if (!views.stores()) context.header(storedHeader, 'false');
    const role = views.status().cluster?.role;
    if (role !== undefined && !actsForAccounts(role)) context.header(leftHeader, 'left');
    // The kind of each order determines the type of its answer.
    return answers as readonly Answered<never>[];
  };
  return {
    giveAll,
    async give(wanted, typed) {
      const [answer] = await giveAll([wanted], typed);
      if (answer === undefined) throw new TypeError('an order without an answer');
      return accept(answer);
    },
  };
}

function doorOf(path: string): GivenOrder['from']['door'] {
  if (path.startsWith('/api/')) return 'api';
  return path === '/ack' ? 'link' : 'page';
}

export async function endOf({ ended }: StartedPoll): Promise<OutcomeKind> {
  const outcome = await ended;
  if (outcome === null) throw new RequestError('not_now', refusals.notPolling());
  return outcome;
}
