import * as z from 'zod';
import { dayMs } from '../../domain/duration.ts';
import { isoText } from '../../domain/moment.ts';
import { formatMicros } from '../../domain/money.ts';
import { refuse } from '../../domain/operator.ts';
import { listWords } from '../../wording/lists.ts';
import { keepAnnounced } from '../announced-runs.ts';
import { scheduleAccount } from '../judge.ts';
import { instant, joinDetails, orderKind } from './kind.ts';

/** A later date is a mistake, and so is a longer run. */
const maxAheadMs = 366 * dayMs;
const maxRunMs = 31 * dayMs;

/** A person announces a run: spending beyond the usual, known to forecast, pay-by, surge and budget. */
export const expectSpending = orderKind({
  kind: 'expect-spending',
  since: '0.4',
  details: {
    account: z.string(),
    amountMicros: z.int(),
    /** Default: the account's first. */
    balance: z.string().optional(),
    startsAt: instant,
    endsAt: instant,
    comment: z.string(),
    /** Of the run. Default: made of the order's. */
    id: z.string().optional(),
  },
  apply(state, { amountMicros, startsAt, endsAt, comment, by, ...order }, now) {
    const account = state.accounts.get(order.account);
    if (account === undefined)
      return refuse('not-found', `there is no account "${order.account}"`, 'account');
    const { balances } = account.settings;
    const balance = order.balance ?? balances[0]?.id ?? '';
    if (!balances.some(({ id }) => id === balance))
      return refuse(
        'invalid',
        `account "${account.id}" has no balance "${balance}": ${listWords(balances.map(({ id }) => id))}`,
      );
    if (!(amountMicros > 0)) return refuse('invalid', 'the amount must be above 0');
    if (!(endsAt > startsAt)) return refuse('invalid', 'it must end after it begins', 'window');
    if (!(endsAt > now && startsAt <= now + maxAheadMs))
      return refuse('invalid', 'it must end in the future and begin within 366 days', 'window');
    if (endsAt - startsAt > maxRunMs)
      return refuse('invalid', 'it must not last longer than 31 days', 'window');
    const run = {
      ...{
        id: order.id ?? `r-${order.orderId}`,
        account: account.id,
        balance,
        amountMicros,
        startsAt,
        endsAt,
      },
      ...{ announcedAt: now, announcedBy: by, comment, spentMicros: 0, usualMicros: 0 },
    };
    keepAnnounced(state, account.id, [...account.announced, run]);
    scheduleAccount(state, account);
    return run;
  },
  describe: ({ account, amountMicros, startsAt, endsAt, comment }) => ({
    account,
    detail: joinDetails(formatMicros(amountMicros), `${isoText(startsAt)} to ${isoText(endsAt)}`, comment),
  }),
});
