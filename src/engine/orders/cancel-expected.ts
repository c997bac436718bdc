import * as z from 'zod';
import { refuse } from '../../domain/operator.ts';
import { keepExpected } from '../expected-top-ups.ts';
import { done, orderKind } from './kind.ts';

/** An expected top-up does not come, or it came unnoticed. */
export const cancelExpected = orderKind({
  kind: 'cancel-expected',
  details: { account: z.string(), id: z.string() },
  apply(state, { account, id }) {
    const known = state.expected.get(account) ?? [];
    const others = known.filter((topUp) => topUp.id !== id);
    if (others.length === known.length)
      return refuse('not-found', `account "${account}" expects no top-up with the id "${id}"`);
    keepExpected(state, account, others);
    return done;
  },
  describe: ({ account, id }) => ({ account, detail: id }),
});
