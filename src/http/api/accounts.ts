import * as z from 'zod';
import { accountJson } from '../../views/account-json.ts';
import { everyAccount } from '../../views/every-account.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { outcomeSchema } from '../../views/public-object.ts';
import { endOf } from '../orders.ts';
import { historyOperations } from './history.ts';
import { accept, findAccount, pageOfList, pagingQuery } from './input.ts';
import { answers, listed, type Operation, operations, writeList, written } from './operation.ts';
import { byQuery, pushedReadingSchema } from './orders.ts';

const { get, post } = operations('accounts');
const params = { id: z.string() };

export const accountOperations: readonly Operation[] = [
  get('accounts', 'listAccounts', {
    summary: 'All accounts, or a page of them where a limit is given',
    query: pagingQuery,
    answers: listed('Accounts in the order of the configuration', 'accounts', accountJson),
    answer: ({ views, query, context }) => {
      const { items, nextCursor } = pageOfList(views.accountIds(), query, (id) => id);
      const tail = `,"nextCursor":${JSON.stringify(nextCursor)}`;
      return written(context, writeList('accounts', describeAccounts(views, items), tail));
    },
  }),
  get('accounts/{id}', 'getAccount', {
    summary: 'One account',
    params,
    answers: answers('The account', { account: accountJson.schema }),
    answer: async ({ views, params: { id } }) => ({ account: accountJson(await findAccount(views, id)) }),
  }),
  ...historyOperations,
  post('accounts/{id}/poll', 'pollAccount', {
    summary: 'Polls as soon as the guard allows; refused with 409 while backing off',
    params,
    query: byQuery,
    answers: answers('How it ended', { outcome: outcomeSchema, account: accountJson.schema }),
    answer: async ({ views, params, door, query: { by } }) => {
      const { id } = await findAccount(views, params.id);
      const outcome = await endOf(await door.give({ kind: 'poll', account: id }, by));
      return { outcome, account: accountJson(await findAccount(views, id)) };
    },
  }),
  post('accounts/{id}/readings', 'pushReading', {
    summary: 'Brings a reading of an account that is not polled; the same one again changes nothing',
    params,
    body: pushedReadingSchema,
    answers: answers('Whether it was new, and the account', {
      stored: z
        .boolean()
        .describe(
          'False where this very reading was there already. While the database cannot be written, as `/readyz` says, it is in memory alone',
        ),
      account: accountJson.schema,
    }),
    answer: async ({ views, params, body: { at, ...reading } }) => {
      const { id } = await findAccount(views, params.id);
      const { isNew } = accept(await views.pushReading({ account: id, at: Date.parse(at), ...reading }));
      return { stored: isNew, account: accountJson(await findAccount(views, id)) };
    },
  }),
];

async function* describeAccounts(views: LiveViews, ids: readonly string[]) {
  for await (const accounts of everyAccount(views, ids)) yield* accounts.map(accountJson);
}
