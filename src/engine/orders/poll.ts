import * as z from 'zod';
import { refuse } from '../../domain/operator.ts';
import { entryOf } from '../../domain/provider-entry.ts';
import { orderKind } from './kind.ts';
import { refusals } from './refusals.ts';

/** Polls as soon as the guard allows. */
export const poll = orderKind({
  kind: 'poll',
  isPassing: true,
  since: '0.4',
  details: { account: z.string() },
  apply({ accounts, settings }, { account: id }, _now, reach) {
    const account = accounts.get(id);
    if (account === undefined) return refuse('not-found', refusals.noSuchId({ id }));
    if (!entryOf(settings, account.settings).polled) return refuse('not-now', refusals.isPushed({ id }));
    return reach.poll(id);
  },
  describe: ({ account }) => ({ account }),
});
