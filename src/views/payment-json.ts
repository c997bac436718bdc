import * as z from 'zod';
import { formatMicros } from '../domain/money.ts';
import type { AnnouncedRun, ExpectedTopUp } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import { isoText } from '../domain/time.ts';
import type { DuePayment } from './payment-plan.ts';
import {
  at,
  balanceSchema,
  instant,
  isoOrNull,
  money,
  moneyOrNull,
  publicObject,
  runway,
  same,
  secondsOrNull,
  text,
  texts,
} from './public-object.ts';

export const paymentJson = publicObject<DuePayment>()('Payment', {
  account: [text, ({ account }) => account.id],
  name: [text, ({ account }) => account.name],
  labels: [texts, ({ account }) => account.labels],
  balance: same(text),
  currency: same(text),
  amount: [
    money.describe(
      'For another 30 days, and at least what clears the alerts of the balance: no more than that where `runwaySeconds` is null',
    ),
    ({ micros }) => formatMicros(micros),
  ],
  by: [at('By when to pay; null where no forecast says: at once')[0], ({ dueAt }) => isoOrNull(dueAt)],
  due: [
    z.enum(['now', 'this week', 'later']).describe('By the clock that it was worked out by'),
    ({ due }) => due,
  ],
  run: [
    at(
      'The last pay run that is in time for it; null where it cannot wait for one, or there are no `payDays`',
    )[0],
    ({ runAt = null }) => isoOrNull(runAt),
  ],
  left: [money.nullable(), ({ account, balance }) => moneyOrNull(ownOf(account.reading?.balances, balance))],
  readAt: [
    at('When `left` was read: long ago while the account cannot be read')[0],
    ({ account }) => isoOrNull(account.readAt),
  ],
  runwaySeconds: [runway, ({ account, balance }) => secondsOrNull(ownOf(account.runways, balance)?.runwayMs)],
  topUpUrl: [text.nullable(), ({ account }) => account.topUpUrl],
});

export const expectedJson = publicObject<ExpectedTopUp>()('ExpectedTopUp', {
  id: same(text),
  account: same(text),
  balance: same(balanceSchema),
  amount: [money, ({ amountMicros }) => formatMicros(amountMicros)],
  received: [
    money.describe('By how much the balance rose since'),
    ({ receivedMicros }) => formatMicros(receivedMicros),
  ],
  arrivesBy: [instant, ({ by }) => isoText(by)],
  orderedAt: [instant, ({ orderedAt }) => isoText(orderedAt)],
  orderedBy: same(text),
  comment: same(text),
});

export const announcedJson = publicObject<AnnouncedRun>()('AnnouncedRun', {
  id: same(text),
  account: same(text),
  balance: same(balanceSchema),
  amount: [money, ({ amountMicros }) => formatMicros(amountMicros)],
  startsAt: [instant, ({ startsAt }) => isoText(startsAt)],
  endsAt: [instant, ({ endsAt }) => isoText(endsAt)],
  spent: [
    money.describe('In it so far, with what is usual in that time'),
    ({ spentMicros }) => formatMicros(spentMicros),
  ],
  announcedAt: [instant, ({ announcedAt }) => isoText(announcedAt)],
  announcedBy: same(text),
  comment: same(text),
});
