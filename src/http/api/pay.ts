import * as z from 'zod';
import { formatMicros } from '../../domain/money.ts';
import { isoDay } from '../../domain/time.ts';
import { formatCsvLine } from '../../views/csv.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { announcedJson, expectedJson, paymentJson } from '../../views/payment-json.ts';
import { type DuePayment, planPayments } from '../../views/payment-plan.ts';
import { money as amount, isoOrNull } from '../../views/public-object.ts';
import { known, RequestError } from '../refusal.ts';
import { nextCursor, pageOfList, pagingQuery } from './input.ts';
import { answers, csv, csvFile, listed, type Operation, operations } from './operation.ts';
import { byQuery, expectOrderSchema, expectSpendingSchema } from './orders.ts';
import { oneSum, oneSumJson } from './sums.ts';

const { get, post, del } = operations('payments');
export const paymentOperations: readonly Operation[] = [
  get('expected-top-ups', 'listExpectedTopUps', {
    summary: 'Top-ups that people ordered and that have not come yet',
    query: pagingQuery,
    answers: listed('Expected top-ups', 'expected', expectedJson),
    answer: ({ views, query }) => pageOfList(known(views).expected(), query, ({ id }) => id),
  }),
  post('expected-top-ups', 'expectTopUp', {
    summary:
      'Announces a top-up: runway and pay-by know of it, the alerts that it ends are acknowledged, and an alert fires where it does not come',
    body: expectOrderSchema,
    answers: answers('The top-up', { expected: expectedJson.schema }, 201),
    answer: async ({
      door,
      body: { amount: amountMicros, arrivesBy, by, comment = '', seen = [], ...order },
    }) => {
      const until = arrivesBy === undefined ? {} : { arrivesBy: Date.parse(arrivesBy) };
      const wanted = { kind: 'expect-top-up', ...order, amountMicros, ...until, comment } as const;
      return { expected: expectedJson(await door.give({ ...wanted, seen: { expected: seen } }, by)) };
    },
  }),
  cancels('expected-top-ups/{id}', 'cancelExpectedTopUp', {
    summary: 'Cancels an expected top-up',
    none: 'No top-up of this id is expected.',
    list: (views) => views.expected(),
  }),
  get('expected-spending', 'listExpectedSpending', {
    summary: 'Runs that people announced, until a day after their end',
    query: pagingQuery,
    answers: listed('Announced runs', 'announced', announcedJson),
    answer: ({ views, query }) => pageOfList(known(views).announced(), query, ({ id }) => id),
  }),
  post('expected-spending', 'expectSpending', {
    summary:
      'Announces a run: spending beyond the usual that forecast, pay-by, surge and budget know of, and an alert fires where it does not come',
    body: expectSpendingSchema,
    answers: answers('The run', { announced: announcedJson.schema }, 201),
    answer: async ({
      door,
      body: { amount: amountMicros, startsAt, endsAt, by, comment = '', ...order },
    }) => {
      const window = { startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt) };
      const wanted = { kind: 'expect-spending', ...order, ...window, amountMicros, comment } as const;
      return { announced: announcedJson(await door.give(wanted, by)) };
    },
  }),
  cancels('expected-spending/{id}', 'cancelExpectedSpending', {
    summary: 'Cancels an announced run',
    none: 'No run of this id is announced.',
    list: (views) => views.announced(),
  }),
  get('pay', 'listPayments', {
    summary: 'What is to be paid, the most urgent first',
    query: pagingQuery,
    answers: answers('Payments, and their sums by currency over all pages', {
      payments: z.array(paymentJson.schema),
      totals: z.array(
        z.strictObject({
          currency: z.string(),
          thisWeek: amount.describe('Due within 7 days'),
          next30Days: amount.describe('All that is listed'),
        }),
      ),
      total: oneSum.nullable().describe('Over all currencies; null without `money`'),
      runs: z
        .array(
          z.strictObject({
            at: z.string().nullable().describe('Null: what cannot wait for a run'),
            totals: z.array(z.strictObject({ currency: z.string(), amount })),
            total: oneSum.nullable(),
          }),
        )
        .describe('By pay run, over all pages; empty without `payDays`'),
      unknown: z.array(z.string()).describe('Accounts of which too little is known to say'),
      nextCursor,
    }),
    answer: async ({ views, now, query }) => {
      const { payments: all, currencies, runs, total, unknown } = await planPayments(known(views), now);
      const page = pageOfList(all, query, ({ account, balance }) => JSON.stringify([account.id, balance]));
      const totals = currencies.map(({ currency, thisWeek, next30Days }) => ({
        currency,
        thisWeek: formatMicros(thisWeek),
        next30Days: formatMicros(next30Days),
      }));
      const payments = page.items.map(paymentJson);
      return {
        payments,
        totals,
        total: oneSumJson(total),
        runs: runs.map(({ at, sums, total: ofRun }) => ({
          at: isoOrNull(at),
          totals: sums.map(({ currency, micros }) => ({ currency, amount: formatMicros(micros) })),
          total: oneSumJson(ofRun),
        })),
        unknown: unknown.map(({ id }) => id),
        nextCursor: page.nextCursor,
      };
    },
  }),
  get('pay.csv', 'getPaymentsCsv', {
    summary: 'What is to be paid, as CSV',
    answers: csv,
    answer: async ({ views, now, context }) => {
      const { payments, unknown } = await planPayments(known(views), now);
      // The amount of an account that needs an unknown sum is left empty.
      const all: readonly CsvPayment[] = [...payments, ...unknown.map((account) => ({ account }))];
      // Without pay days the file has the same columns as always.
      const hasRuns = payments.some(({ runAt }) => runAt !== undefined);
      const columns = hasRuns ? csvHeader.length : csvHeader.indexOf('run');
      const lines = [csvHeader, ...all.map(csvCells)].map((cells) => formatCsvLine(cells.slice(0, columns)));
      return csvFile(context, `pay-${isoDay(now, 'UTC')}`, lines);
    },
  }),
];

interface Cancelling {
  readonly summary: string;
  readonly none: string;
  readonly list: (views: LiveViews) => readonly { readonly id: string; readonly account: string }[];
}

function cancels(path: string, operationId: string, { summary, none, list }: Cancelling): Operation {
  return del(path, operationId, {
    summary,
    params: { id: z.string() },
    query: byQuery,
    answers: answers('Its id', { cancelled: z.string() }),
    answer: async ({ views, door, params: { id }, query: { by } }) => {
      const account = list(known(views)).find((each) => each.id === id)?.account;
      if (account === undefined) throw new RequestError('not_found', none);
      await door.give({ kind: 'cancel-expected', account, id }, by);
      return { cancelled: id };
    },
  });
}

const csvHeader = ['account', 'name', 'balance', 'currency', 'amount', 'by', 'topUpUrl', 'due', 'run'];

type CsvPayment = Pick<DuePayment, 'account'> & Partial<DuePayment>;

function csvCells(payment: CsvPayment): readonly string[] {
  const { account, balance = '', micros, dueAt = null, due = '', runAt = null } = payment;
  const { id, name, topUpUrl } = account;
  const { currency = account.currency } = payment;
  const amount = micros === undefined ? '' : formatMicros(micros);
  const [by, run] = [isoOrNull(dueAt) ?? '', isoOrNull(runAt) ?? ''];
  return [id, name, balance, currency ?? '', amount, by, topUpUrl ?? '', due, run];
}
