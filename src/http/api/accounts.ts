import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { inSlices } from '../../daemon/slices.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { accountJson } from '../../views/public-json.ts';
import { outcomeSchema } from '../../views/public-object.ts';
import { addHistoryOperations } from './history.ts';
import { accept, findAccount, pageOfList, pagingQuery } from './input.ts';
import { type Api, answers, listed, operations, streamed, takes, written } from './operation.ts';
import { pushedReadingSchema } from './orders.ts';

const sliceOfAccounts = 50;
const { get, post } = operations('accounts');
const params = z.object({ id: z.string() });

const listAccounts = createRoute({
  ...get('accounts', 'listAccounts', 'All accounts, or a page of them where a limit is given'),
  request: { query: z.object(pagingQuery) },
  responses: listed('Accounts in the order of the configuration', 'accounts', accountJson),
});

const getAccount = createRoute({
  ...get('accounts/{id}', 'getAccount', 'One account'),
  request: { params },
  responses: answers('The account', { account: accountJson.schema }),
});

const pollAccount = createRoute({
  ...post(
    'accounts/{id}/poll',
    'pollAccount',
    'Polls as soon as the guard allows; refused with 409 while backing off',
  ),
  request: { params },
  responses: answers('How it ended', { outcome: outcomeSchema, account: accountJson.schema }),
});

const pushReading = createRoute({
  ...post(
    'accounts/{id}/readings',
    'pushReading',
    'Brings a reading of an account that is not polled; the same one again changes nothing',
  ),
  request: { params, ...takes(pushedReadingSchema) },
  responses: answers('Whether it was new, and the account', {
    stored: z.boolean().meta({ description: 'False where this very reading was there already' }),
    account: accountJson.schema,
  }),
});

export function addAccountOperations(api: Api): void {
  api.openapi(listAccounts, (context) => {
    const page = pageOfList(context.var.views.accountIds(), context.req.valid('query'), (id) => id);
    return written(context, streamed(context, writeAccounts(context.var.views, page.items, page.nextCursor)));
  });

  api.openapi(getAccount, async (context) => {
    const account = await findAccount(context.var.views, context.req.valid('param').id);
    return context.json({ account: accountJson(account) }, 200);
  });

  addHistoryOperations(api);

  api.openapi(pollAccount, async (context) => {
    const { id } = await findAccount(context.var.views, context.req.valid('param').id);
    const { outcome, view } = accept(await context.var.views.pollNow(id));
    return context.json({ outcome, account: accountJson(view) }, 200);
  });

  api.openapi(pushReading, async (context) => {
    const { views } = context.var;
    const { id } = await findAccount(views, context.req.valid('param').id);
    const { at, ...reading } = context.req.valid('json');
    const { isNew } = accept(await views.pushReading({ account: id, at: Date.parse(at), ...reading }));
    const account = await findAccount(views, id);
    return context.json({ stored: isNew, account: accountJson(account) }, 200);
  });
}

async function* writeAccounts(
  views: Pick<LiveViews, 'accounts'>,
  ids: readonly string[],
  next: string | null,
): AsyncGenerator<string> {
  let separator = '';
  yield '{"accounts":[';
  for await (const slice of inSlices(ids, sliceOfAccounts)) {
    let text = '';
    for (const account of await views.accounts(slice)) {
      text += separator + JSON.stringify(accountJson(account));
      separator = ',';
    }
    yield text;
  }
  yield `],"nextCursor":${JSON.stringify(next)}}\n`;
}
