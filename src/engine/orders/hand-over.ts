import { done, orderKind } from './kind.ts';

/** Gives the accounts to a daemon that stands by. */
export const handOver = orderKind({
  kind: 'hand-over',
  details: {},
  apply(_state, _order, _now, reach) {
    reach.handOver();
    return done;
  },
  describe: () => ({}),
});
