import * as z from 'zod';
import { done, orderKind } from './kind.ts';

/** Gives the accounts to a daemon that stands by. */
export const handOver = orderKind({
  kind: 'hand-over',
  isPassing: true,
  details: { epoch: z.number().optional() },
  apply(_state, order, _now, reach) {
    reach.handOver(order);
    return done;
  },
  describe: () => ({}),
});
