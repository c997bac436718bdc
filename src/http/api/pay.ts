import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { isoDay, isoText } from '../../domain/moment.ts';
import { formatMicros } from '../../domain/money.ts';
import { formatCsvLine } from '../../views/csv.ts';
import type { DuePayment } from '../../views/payment-plan.ts';
import { expectedJson, paymentJson } from '../../views/public-json.ts';
import { planPayments } from '../page/pay.ts';
import { RequestError } from '../refusal.ts';
import { accept, nextCursor, pageOfList, pagingQuery } from './input.ts';
import {
  type Api,
  answers,
  csvAnswer,
  csvFile,
  gives,
  listed,
  operations,
  refused,
  takes,
} from './operation.ts';
import { expectOrderSchema } from './orders.ts';

const { get, post, del } = operations('payments');
const amount = z.string().meta({ description: 'A decimal string without trailing zeros' });

const listPayments = createRoute({
  ...get('pay', 'listPayments', 'What is to be paid within 30 days, by currency, what is due first first'),
  request: { query: z.object(pagingQuery) },
  responses: answers('Payments, and their sums by currency over all pages', {
    payments: z.array(paymentJson.schema),
    totals: z.array(
      z.strictObject({
        currency: z.string(),
        thisWeek: amount.meta({ description: 'Due within 7 days' }),
        next30Days: amount.meta({ description: 'Due within 30 days' }),
      }),
    ),
    unknown: z.array(z.string()).meta({ description: 'Accounts of which too little is known to say' }),
    nextCursor,
  }),
});

const getPaymentsCsv = createRoute({
  ...get('pay.csv', 'getPaymentsCsv', 'What is to be paid within 30 days, as CSV'),
  responses: csvAnswer,
});

const listExpected = createRoute({
  ...get('expected-top-ups', 'listExpectedTopUps', 'Top-ups that people ordered and that have not come yet'),
  request: { query: z.object(pagingQuery) },
  responses: listed('Expected top-ups', 'expected', expectedJson),
});

const expectTopUp = createRoute({
  ...post(
    'expected-top-ups',
    'expectTopUp',
    'Announces a top-up: runway and pay-by know of it, and an alert fires where it does not come',
  ),
  request: takes(expectOrderSchema),
  responses: {
    201: gives('The top-up', z.strictObject({ expected: expectedJson.schema })),
    ...refused,
  },
});

const cancelExpected = createRoute({
  ...del('expected-top-ups/{id}', 'cancelExpectedTopUp', 'Cancels an expected top-up'),
  request: { params: z.object({ id: z.string() }) },
  responses: answers('Its id', { cancelled: z.string() }),
});

export function addPaymentOperations(api: Api): void {
  api.openapi(listExpected, (context) => {
    const page = pageOfList(context.var.views.expected(), context.req.valid('query'), ({ id }) => id);
    return context.json({ expected: page.items.map(expectedJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(expectTopUp, async (context) => {
    const { amount: amountMicros, arrivesBy, by, comment = '', ...order } = context.req.valid('json');
    const orderedBy = context.get('person') ?? by ?? 'api';
    const at = arrivesBy === undefined ? undefined : Date.parse(arrivesBy);
    const { views } = context.var;
    const made = await views.expectTopUp({ ...order, amountMicros, by: at, orderedBy, comment });
    return context.json({ expected: expectedJson(accept(made)) }, 201);
  });

  api.openapi(cancelExpected, async (context) => {
    const { id } = context.req.valid('param');
    const { views } = context.var;
    const account = views.expected().find((topUp) => topUp.id === id)?.account;
    if (account === undefined) throw new RequestError('not_found', 'No top-up of this id is expected.');
    accept(await views.cancelExpected({ account, id }));
    return context.json({ cancelled: id }, 200);
  });

  api.openapi(listPayments, async (context) => {
    const { currencies, unknown } = await planPayments(context.var.views, context.get('now'));
    const all = currencies.flatMap(({ payments }) => payments);
    const page = pageOfList(all, context.req.valid('query'), ({ account, balance }) =>
      JSON.stringify([account.id, balance]),
    );
    const totals = currencies.map(({ currency, thisWeek, next30Days }) => ({
      currency,
      thisWeek: formatMicros(thisWeek),
      next30Days: formatMicros(next30Days),
    }));
    const payments = page.items.map(paymentJson);
    const accounts = unknown.map(({ id }) => id);
    return context.json({ payments, totals, unknown: accounts, nextCursor: page.nextCursor }, 200);
  });

  api.openapi(getPaymentsCsv, async (context) => {
    const now = context.get('now');
    const { currencies, unknown } = await planPayments(context.var.views, now);
    // What an unknown account needs is not known: the amount is empty.
    const all: readonly CsvPayment[] = [
      ...currencies.flatMap(({ payments }) => payments),
      ...unknown.map((account) => ({ account })),
    ];
    const lines = [csvHeader, ...all.map(csvLine)];
    return csvFile(context, `pay-${isoDay(now, 'UTC')}`, lines);
  });
}

const csvHeader = formatCsvLine(['account', 'name', 'balance', 'currency', 'amount', 'by', 'topUpUrl']);

type CsvPayment = Pick<DuePayment, 'account'> & Partial<DuePayment>;

function csvLine({ account, balance = '', micros, dueAt = null }: CsvPayment): string {
  const { id, name, currency, topUpUrl } = account;
  const by = dueAt === null ? '' : isoText(Math.round(dueAt));
  const amount = micros === undefined ? '' : formatMicros(micros);
  return formatCsvLine([id, name, balance, currency ?? '', amount, by, topUpUrl ?? '']);
}
