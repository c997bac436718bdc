import { onStorageError } from '../domain/operator-error.ts';
import { minuteMs } from '../domain/time.ts';
import { obeysOnce } from '../engine/orders.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { DatabaseLink } from './database-link.ts';

/** Longer than a replica lags behind. */
const keptForMs = 10 * minuteMs;
/** Fewer than the audit holds: an order that is left again is found there if it was executed. */
const maxKept = 1000;

interface Dependencies extends Pick<Cluster, 'leaveOrder'> {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  readonly news: () => Pick<DatabaseLink, 'upsets' | 'programs'>;
}

/**
 * Leaves orders in the database for the owner of the accounts, and again after something happened to the database. It may have lost them
 * together with the owner that executed them, though people were told that they are or will be done. An owner ignores an order that it knows.
 */
export function keepOrders({ clock, log, leaveOrder, news }: Dependencies): {
  readonly leave: Cluster['leaveOrder'];
  /** Call it after each look at the database. */
  readonly looked: () => Promise<void>;
} {
  let kept: { order: Parameters<typeof leaveOrder>[0]; at: number; upsets: number }[] = [];
  let isLeaving = false;

  async function leaveAgain(): Promise<void> {
    const { upsets, programs } = news();
    const lost = kept.filter((each) => each.upsets !== upsets);
    if (lost.length === 0 || !programs.every(obeysOnce)) return;
    for (const each of lost) {
      if (!(await leaveOrder(each.order).then(() => true, onStorageError(false)))) return;
      each.upsets = upsets;
    }
    log.warn({ orders: lost.length }, 'the database may have lost orders of people: they are left again');
  }

  return {
    async leave(order) {
      const { upsets } = news();
      await leaveOrder(order);
      kept = [...kept, { order, at: clock.monotonic(), upsets }].slice(-maxKept);
    },
    async looked() {
      if (isLeaving) return;
      isLeaving = true;
      await leaveAgain();
      isLeaving = false;
      const since = clock.monotonic() - keptForMs;
      kept = kept.filter(({ at }) => at > since);
    },
  };
}
