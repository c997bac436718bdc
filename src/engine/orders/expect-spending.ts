import * as z from 'zod';
import { formatMicros } from '../../domain/money.ts';
import { type AnnouncedRun, isRefusal, refuse } from '../../domain/operator.ts';
import { dayMs, hourMs, isoText } from '../../domain/time.ts';
import { sayDuration } from '../../wording/moments.ts';
import { keepAnnounced, withItsPast } from '../announced-runs.ts';
import { scheduleAccount } from '../judge.ts';
import { type DoneBefore, instant, isPressedAgain, joinDetails, orderKind } from './kind.ts';
import { findBalance, nameOf, refusals } from './refusals.ts';

/** A later date is a mistake, and so is a longer run. */
const maxAheadMs = 366 * dayMs;
/** A month in which the clock is set back has an hour more, such as October in Europe. */
const maxRunMs = 31 * dayMs + hourMs;

/** A person announces a run: spending beyond the usual, which forecast, pay-by, surge and budget take into account. */
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
    /** The run's id. Default: made of the order's. */
    id: z.string().optional(),
  },
  apply(state, { amountMicros, startsAt, endsAt, comment, by, ...order }, now) {
    const found = findBalance(state, order);
    if (isRefusal(found)) return found;
    const { account, balance } = found;
    if (!(amountMicros > 0)) return refuse('invalid', refusals.noAmount());
    if (!(endsAt > startsAt)) return refuse('invalid', refusals.endsBefore(), 'window');
    if (!(endsAt > now && startsAt <= now + maxAheadMs))
      return refuse('invalid', refusals.runWindow(), 'window');
    if (endsAt - startsAt > maxRunMs) return refuse('invalid', refusals.runTooLong(), 'window');
    const same = account.announced.find(
      (run) =>
        run.balance === balance &&
        run.amountMicros === amountMicros &&
        run.startsAt === startsAt &&
        run.endsAt === endsAt,
    );
    if (same !== undefined) {
      const { announcedBy, announcedAt } = same;
      if (isPressedAgain({ ...order, by }, announcedBy)) return { ...same, doneBy: announcedBy };
      const duration = sayDuration(now - announcedAt);
      return refuse('changed', refusals.announcedBefore({ who: nameOf(announcedBy), duration }));
    }
    const run: AnnouncedRun & DoneBefore = withItsPast(account, {
      ...{
        id: order.id ?? `r-${order.orderId}`,
        account: account.id,
        balance,
        amountMicros,
        startsAt,
        endsAt,
      },
      ...{ announcedAt: now, announcedBy: by, comment, spentMicros: 0, usualMicros: 0 },
    });
    keepAnnounced(state, account.id, [...account.announced, run]);
    scheduleAccount(state, account);
    return run;
  },
  describe: ({ account, amountMicros, startsAt, endsAt, comment }) => ({
    account,
    detail: joinDetails(formatMicros(amountMicros), `${isoText(startsAt)} to ${isoText(endsAt)}`, comment),
  }),
});
