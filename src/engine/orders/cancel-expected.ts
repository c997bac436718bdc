import * as z from 'zod';
import { refuse } from '../../domain/operator.ts';
import { keepAnnounced } from '../announced-runs.ts';
import { keepExpected } from '../expected-top-ups.ts';
import { done, orderKind } from './kind.ts';
import { refusals } from './refusals.ts';

/** An expected top-up or an announced run does not come, or it came unnoticed. */
export const cancelExpected = orderKind({
  kind: 'cancel-expected',
  details: { account: z.string(), id: z.string() },
  apply(state, { account, id }) {
    const topUps = state.expected.get(account) ?? [];
    const runs = state.announced.get(account) ?? [];
    if (topUps.some((topUp) => topUp.id === id))
      keepExpected(
        state,
        account,
        topUps.filter((topUp) => topUp.id !== id),
      );
    else if (runs.some((run) => run.id === id))
      keepAnnounced(
        state,
        account,
        runs.filter((run) => run.id !== id),
      );
    else return refuse('not-found', refusals.notExpected({ account, id }));
    return done;
  },
  describe: ({ account, id }) => ({ account, detail: id }),
});
